"""Networks and subnetworks.

Ranges: https://docs.cloud.google.com/vpc/docs/subnets; changes to secondary ranges, in Compute's words:
hashicorp/terraform-provider-google#2570.
"""

import ipaddress
from collections.abc import Iterator

from tpuplane.spec.cluster.network_checks import SMALLEST_PROXIES

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import IAM_POLICY, Call, Handler
from tpuplane_twin.gcp.identity import Policies, policy_methods
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView, PoolView

AUTO_BLOCK = ipaddress.IPv4Network("10.128.0.0/9")
"""Where the subnetworks of networks in auto mode are: https://docs.cloud.google.com/vpc/docs/subnets#ip-ranges."""

SUBNETWORK = "compute.subnetworks"
CONNECTION = "servicenetworking.connections"
"""The kind of a network's connection for private services access."""
SERVICES = "servicenetworking.googleapis.com"
PEERING = SERVICES.replace(".", "-")
"""The peering of that connection."""
_PROXIES = "REGIONAL_MANAGED_PROXY"
_SMALLEST_RANGE = 29


class Networks(Collection):
    """VPC networks."""

    collection, singular, scope = "networks", "network", "global"

    def complete(self, key: str, asked: Json) -> Json:
        """A network with the modes of its routes."""
        routing = {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY", **asked.get("routingConfig", {})}
        return {**asked, "routingConfig": routing}

    def make(self, key: str, asked: Json) -> Json:
        """Create a network; in auto mode with a subnetwork in every region."""
        made = super().make(key, asked)
        if asked.get("autoCreateSubnetworks"):
            subnets, name = Subnetworks(self.store), asked["name"]
            for region, block in data("locations")["auto_subnetworks"].items():
                subnet = {"name": name, "network": f"global/networks/{name}", "ipCidrRange": block}
                subnets.make(f"projects/{key.split('/')[1]}/regions/{region}/subnetworks/{name}", subnet)
        return made

    def view(self, key: str, stored: Json) -> Json:
        """A network with the links of its subnetworks, and the states of its peerings."""
        links = [subnet["selfLink"] for _, subnet in of_network(self.store, "subnetworks", key)]
        peerings = [{**peering, **self._state(key, peering)} for peering in stored.get("peerings", ())]
        return stored | ({"subnetworks": links} if links else {}) | ({"peerings": peerings} if peerings else {})

    def _state(self, key: str, peering: Json) -> Json:
        """A peering is active once the other network has one too. Google's services accept each one."""
        peer = self.store.get(self.kind, resources.key_of(peering["network"], "")) or {}
        back = any(other["network"] == resources.BASE + key for other in peer.get("peerings", ()))
        if back or peering["name"] == PEERING:
            return {"state": "ACTIVE", "stateDetails": "Connected."}
        return {"state": "INACTIVE", "stateDetails": "Waiting for peer network to connect."}

    def users(self, key: str, stored: Json) -> list[str]:
        """The resources that name the network. Automatic subnetworks count only if a cluster uses them."""
        kinds = ("firewalls", "globalAddresses", "routers", "routes")
        found = [name for kind in kinds for name, _ in of_network(self.store, kind, key)]
        for name, subnet in of_network(self.store, "subnetworks", key):
            if stored.get("autoCreateSubnetworks"):
                found += Subnetworks(self.store).users(name, subnet)
            else:
                found.append(name)
        return found

    def delete(self, call: Call) -> Json:
        """Delete a network, in auto mode with its subnetworks."""
        operation = super().delete(call)
        for name, _ in of_network(self.store, "subnetworks", self.key(call)):
            self.store.delete("compute.subnetworks", name)
            self.store.delete(IAM_POLICY, name)
        self.store.delete(CONNECTION, self.key(call))
        return operation


class Subnetworks(Collection):
    """Subnetworks with their secondary ranges."""

    collection, singular, fingerprinted = "subnetworks", "subnetwork", True
    verbs = "insert patch delete expandIpCidrRange listUsable setPrivateIpGoogleAccess"

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id, with those of IAM policies."""
        return {**super().handlers(), **policy_methods(self.kind, Policies(self.store), self._existing)}

    def complete(self, key: str, asked: Json) -> Json:
        """A subnetwork whose ranges are valid and do not overlap with others of its network."""
        network = self.reference("networks", "network", asked.get("network"), key)
        if not asked.get("ipCidrRange"):
            raise resources.required("ipCidrRange")
        subnet = {**asked, "network": network}
        subnet["gatewayAddress"] = str(_cidr("ipCidrRange", subnet["ipCidrRange"])[1])
        self._check_overlap(key, subnet)
        if subnet.get("purpose") == _PROXIES:
            self._check_proxies(key, subnet)
        return subnet

    def users(self, key: str, stored: Json) -> list[str]:
        """Clusters, node pools and internal addresses in the subnetwork."""
        clusters = [name for name, cluster in self.store.items("cluster") if ClusterView(cluster).subnetwork == key]
        pools = [name for name, pool in self.store.items("nodePool") if PoolView(pool).subnetwork == key]
        addresses = self.store.items("compute.addresses")
        return clusters + pools + [name for name, stored in addresses if stored.get("subnetwork", "").endswith(key)]

    def check_change(self, before: Json, after: Json) -> None:
        """Ranges can be added and removed, not changed (expandIpCidrRange changes ipCidrRange)."""
        if after["ipCidrRange"] != before["ipCidrRange"]:
            why = "The primary range of a subnetwork can only be expanded, by expandIpCidrRange."
            raise resources.bad_value("ipCidrRange", after["ipCidrRange"], why)
        former, wanted = _secondary(before), _secondary(after)
        for name, block in wanted.items():
            if former.get(name, block) != block:
                raise resources.bad_value("secondaryIpRanges", name, "Existing secondary range cannot be modified.")
        uses, key = range_uses(self.store), resources.key_of(before["selfLink"], "")
        if used := sorted(name for name in former.keys() - wanted.keys() if (key, name) in uses):
            what = f"The secondary range '{used[0]}' of the subnetwork '{key}' is already being used by a cluster."
            raise invalid(what, reason="resourceInUseByAnotherResource")
        if wanted.keys() - former.keys() and former.keys() - wanted.keys():
            names = ", ".join(wanted)
            why = "Cannot add and remove secondary IP ranges in the same request."
            raise resources.bad_value("secondaryIpRanges", names, why)

    def expand_ip_cidr_range(self, call: Call) -> Json:
        """Replace the primary range by a larger one that contains it."""
        key = self.key(call)
        subnet, wanted = self.find(key), call.body.get("ipCidrRange")
        if not wanted:
            raise resources.required("ipCidrRange")
        if subnet.get("purpose") == _PROXIES:
            raise resources.bad_value("ipCidrRange", wanted, "The range of a proxy-only subnetwork cannot change.")
        former, block = _cidr("ipCidrRange", subnet["ipCidrRange"]), _cidr("ipCidrRange", wanted)
        if block == former or not block.supernet_of(former):
            raise resources.bad_value("ipCidrRange", wanted, f"The new range must contain {former} and be larger.")
        self.put(key, self.complete(key, {**subnet, "ipCidrRange": wanted}))
        return resources.done(self.store, "expandIpCidrRange", key, subnet["id"])

    def list_usable(self, call: Call) -> Json:
        """The project's subnetworks. Permissions are not checked, so all are usable."""
        found = self.items(call.params["project"], "", "")
        return {"items": [{**stored, "subnetwork": stored["selfLink"]} for stored in found]}

    def set_private_ip_google_access(self, call: Call) -> Json:
        """Turn private Google access on or off; an empty body turns it off."""
        key = self.key(call)
        subnet = self.find(key)
        enabled = bool(call.body.get("privateIpGoogleAccess", False))
        self.put(key, {**subnet, "privateIpGoogleAccess": enabled})
        return resources.done(self.store, "setPrivateIpGoogleAccess", key, subnet["id"])

    def _existing(self, call: Call) -> str:
        """Resource name of the subnetwork whose policy a request reads or replaces."""
        key = f"{self._parent(call)}/{call.params['resource']}"
        self.find(key)
        return key

    def _check_proxies(self, key: str, subnet: Json) -> None:
        """A region of a network has one active subnetwork for its proxies, with at least 64 addresses."""
        if _cidr("ipCidrRange", subnet["ipCidrRange"]).prefixlen > SMALLEST_PROXIES:
            why = f"The range of a proxy-only subnetwork must be a /{SMALLEST_PROXIES} or larger."
            raise resources.bad_value("ipCidrRange", subnet["ipCidrRange"], why)
        if subnet.get("role") not in ("ACTIVE", "BACKUP"):
            raise resources.required("role")
        network = resources.key_of(subnet["network"], key.split("/")[1])
        for name, other in of_network(self.store, "subnetworks", network):
            same = name != key and name.split("/")[3] == key.split("/")[3] and other.get("purpose") == _PROXIES
            if same and other["role"] == subnet["role"] == "ACTIVE":
                why = f"The region already has the active proxy-only subnetwork '{other['name']}'."
                raise resources.bad_value("role", "ACTIVE", why)

    def _check_overlap(self, key: str, subnet: Json) -> None:
        mine = list(ranges(subnet))
        for at, (field, block) in enumerate(mine):
            for other_field, other in mine[:at]:
                if block.overlaps(other):
                    raise resources.bad_value(field, block, f"It overlaps with {other_field} {other}.")
        network = resources.key_of(subnet["network"], key.split("/")[1])
        for name, neighbour in of_network(self.store, "subnetworks", network):
            if name == key:
                continue
            for field, block in mine:
                if any(block.overlaps(other) for _, other in ranges(neighbour)):
                    where = f"existing subnetwork '{neighbour['name']}' in region '{name.split('/')[3]}'"
                    raise resources.bad_value(field, block, f"Invalid IPCidrRange: {block} conflicts with {where}.")
        for _, found in of_network(self.store, "globalAddresses", network):
            for field, block in mine:
                if block.overlaps(_allocated(found)):
                    where = f"the allocated range '{found['name']}'"
                    raise resources.bad_value(field, block, f"Invalid IPCidrRange: {block} conflicts with {where}.")


def of_network(store: Store, kind: str, network: str) -> Iterator[tuple[str, Json]]:
    """The resources of a kind that name the network, by key."""
    project = network.split("/")[1]
    for key, found in store.items(f"compute.{kind}", f"projects/{project}"):
        if found.get("network", "").endswith(network):
            yield key, found


def blocks_of(store: Store, network: str) -> Iterator[ipaddress.IPv4Network]:
    """The blocks of every range of a network's subnetworks, and of its allocated ranges."""
    for _, subnet in of_network(store, "subnetworks", network):
        yield from (block for _, block in ranges(subnet))
    yield from (_allocated(found) for _, found in of_network(store, "globalAddresses", network))


def _allocated(address: Json) -> ipaddress.IPv4Network:
    """A range for private services access."""
    return ipaddress.IPv4Network(f"{address['address']}/{address['prefixLength']}")


def ranges(subnet: Json) -> Iterator[tuple[str, ipaddress.IPv4Network]]:
    """Field name and block of every range of a subnetwork."""
    yield "ipCidrRange", _cidr("ipCidrRange", subnet["ipCidrRange"])
    names: set[str] = set()
    for at, extra in enumerate(subnet.get("secondaryIpRanges", [])):
        field = f"secondaryIpRanges[{at}]"
        if not extra.get("rangeName"):
            raise resources.required(f"{field}.rangeName")
        if extra["rangeName"] in names:
            raise resources.bad_value(f"{field}.rangeName", extra["rangeName"], "The name is already used.")
        names.add(extra["rangeName"])
        yield f"{field}.ipCidrRange", _cidr(f"{field}.ipCidrRange", extra.get("ipCidrRange", ""))


def _secondary(subnet: Json) -> dict[str, str]:
    return {extra.get("rangeName", ""): extra.get("ipCidrRange", "") for extra in subnet.get("secondaryIpRanges", [])}


def range_uses(store: Store) -> dict[tuple[str, str], str]:
    """How clusters use secondary ranges, by subnetwork and range."""
    uses: dict[tuple[str, str], str] = {}
    for key, cluster in store.items("cluster"):
        view = ClusterView(cluster)
        pods = [(view.subnetwork, view.pod_range)]
        for pool in map(PoolView, store.values("nodePool", f"{key}/nodePools")):
            pods.append((pool.subnetwork or view.subnetwork, pool.pod_range))
        uses |= {use: "IN_USE_SHAREABLE_POD" for use in pods if use[1]}
        if view.service_range:
            uses[view.subnetwork, view.service_range] = "IN_USE_SERVICE"
    return uses


def parse_range(text: str) -> ipaddress.IPv4Network:
    """A block that is large enough for a subnetwork, or for a secondary range of one. Raises ValueError."""
    block = ipaddress.IPv4Network(text)
    if block.prefixlen > _SMALLEST_RANGE:
        raise ValueError(f"{block} is too small; the smallest range is a /{_SMALLEST_RANGE}")
    return block


def _cidr(field: str, text: str) -> ipaddress.IPv4Network:
    try:
        return parse_range(text)
    except ValueError as error:
        raise resources.bad_value(field, text, f"Must be a CIDR address range: {error}.") from error
