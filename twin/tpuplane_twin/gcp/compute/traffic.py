"""What goes through a network, and where: firewall rules and routes, and the network `default` with Google's rules.

https://docs.cloud.google.com/vpc/docs/routes. The twin does not filter packets, and does not route them.
"""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.compute.networks import Networks, of_network, ranges
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_GATEWAY = "global/gateways/default-internet-gateway"
_HOPS = ("nextHopGateway", "nextHopIp")
_CLOSED = "withoutDefaultRoute"
"""The field of a stored network whose default route is deleted."""


class Firewalls(Collection):
    """Firewall rules."""

    collection, singular, scope = "firewalls", "firewall", "global"
    verbs = "insert patch update delete"

    def complete(self, key: str, asked: Json) -> Json:
        """A rule of an existing network that allows or denies something."""
        network = self.reference("networks", "network", asked.get("network") or "global/networks/default", key)
        if bool(asked.get("allowed")) == bool(asked.get("denied")):
            raise resources.bad_value("allowed", asked.get("allowed", ""), "Set exactly one of allowed and denied.")
        rule = {**asked, "network": network}
        if rule["direction"] == "INGRESS" and not any(
            field in rule for field in ("sourceRanges", "sourceTags", "sourceServiceAccounts")
        ):
            rule["sourceRanges"] = ["0.0.0.0/0"]
        return rule


def give_default_network(store: Store, project: str) -> None:
    """Create the network `default` with Google's firewall rules in a project that is new to the twin.

    https://docs.cloud.google.com/firewall/docs/firewalls#more_rules_default_vpc. Once deleted it stays deleted.
    """
    key = f"projects/{project}"
    networks, firewalls = Networks(store), Firewalls(store)
    if store.get(networks.kind, f"{key}/global/networks/default") is not None:
        return
    networks.make(f"{key}/global/networks/default", {"name": "default", "autoCreateSubnetworks": True})
    for name, given in data("defaults")["firewalls"].items():
        rule = {"name": f"default-allow-{name}", "priority": 65534, **given}
        firewalls.make(f"{key}/global/firewalls/{rule['name']}", rule)


class Routes(Collection):
    """Static routes, which are stored, and Google's own: to the internet, and to each range of the subnetworks."""

    collection, singular, scope, verbs = "routes", "route", "global", "insert delete"

    def items(self, project: str, scope: str, name: str) -> Iterator[Json]:
        """The routes of a project."""
        yield from super().items(project, scope, name)
        for key, network in self.store.items("compute.networks", f"projects/{project}"):
            yield from self._of_google(key, network)

    def complete(self, key: str, asked: Json) -> Json:
        """A static route of an existing network, to the internet or to an address."""
        if any(resources.BASE + key == route["selfLink"] for route in self.items(key.split("/")[1], "", "")):
            raise ApiError("ALREADY_EXISTS", f"The resource '{key}' already exists")
        hops = [field for field in _HOPS if asked.get(field)]
        if len(hops) != 1:
            why = f"Set exactly one of {' and '.join(_HOPS)}; the twin serves no other next hop."
            raise resources.bad_value("nextHop", ", ".join(hops), why)
        route = {**asked, "network": self.reference("networks", "network", asked.get("network"), key)}
        try:
            field = "destRange"
            ip_network(asked.get(field, ""))
            field = hops[0]
            if field == "nextHopIp":
                ip_address(asked[field])
        except ValueError as error:
            raise resources.bad_value(field, asked.get(field, ""), f"{error}.") from error
        if field == "nextHopGateway":
            if not asked[field].endswith(_GATEWAY):
                raise resources.bad_value(field, asked[field], f"The only gateway is {_GATEWAY}.")
            route[field] = resources.BASE + resources.key_of(asked[field], key.split("/")[1])
        return route

    def delete(self, call: Call) -> Json:
        """Delete a static route, or that of a network to the internet."""
        key, networks = self.key(call), Networks(self.store)
        for name, network in self.store.items(networks.kind, f"projects/{call.params['project']}"):
            for route in self._of_google(name, network):
                if route["selfLink"] != resources.BASE + key:
                    continue
                if "nextHopNetwork" in route:
                    raise invalid(f"The route '{key}' exists as long as the range of its subnetwork.")
                networks.put(name, {**network, _CLOSED: True})
                return resources.done(self.store, "delete", key, route["id"])
        return super().delete(call)

    def _of_google(self, key: str, network: Json) -> Iterator[Json]:
        hop = {"nextHopGateway": f"{resources.BASE}{key.partition('/global/')[0]}/{_GATEWAY}", "priority": 1000}
        if not network.get(_CLOSED):
            yield _route("default-route", network, "0.0.0.0/0", "Default route to the Internet.", hop)
        hop = {"nextHopNetwork": network["selfLink"], "priority": 0}
        for _, subnet in of_network(self.store, "subnetworks", key):
            for block in (str(block) for _, block in ranges(subnet)):
                yield _route("default-route-r", network, block, f"Default local route to the subnetwork {block}.", hop)


def _route(start: str, network: Json, block: str, description: str, hop: Json) -> Json:
    number = resources.constant_id(f"{network['id']} {block}")
    name = f"{start}-{int(number):016x}"
    link = network["selfLink"].partition("/networks/")[0] + f"/routes/{name}"
    made = {"id": number, "name": name, "selfLink": link, "creationTimestamp": network["creationTimestamp"]}
    return {**made, "network": network["selfLink"], "destRange": block, "description": description, **hop}
