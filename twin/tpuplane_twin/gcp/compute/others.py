"""Routers with their NATs, resource policies, addresses, ranges for private services access."""

from collections.abc import Iterator
from copy import deepcopy
from ipaddress import IPv4Network
from itertools import islice

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.compute.networks import blocks_of
from tpuplane_twin.gcp.container.names import POOL, group_urls
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.merge import etag_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView

_EXTERNAL = "198.18.0.0/15"
RANGE = "compute.globalAddresses"
_PRIVATE = IPv4Network("10.0.0.0/8")
_ADDRESSES = ("natIps", "drainNatIps", "sourceNatActiveIps", "sourceNatDrainIps")  # of a NAT, and of its rules


class Routers(Collection):
    """Cloud Routers. A Cloud NAT is an entry of its router."""

    collection, singular = "routers", "router"
    verbs = "insert patch update delete"

    def complete(self, key: str, asked: Json) -> Json:
        """A router of an existing network, its NATs complete."""
        router = {**asked, "network": self.reference("networks", "network", asked.get("network"), key)}
        if "nats" in asked:
            router["nats"] = [self._nat(at, nat, key) for at, nat in enumerate(asked["nats"])]
            names = [nat["name"] for nat in router["nats"]]
            for name in names:
                if names.count(name) > 1:
                    raise resources.bad_value("nats", name, "The NAT name is already used in this router.")
        return router

    def _nat(self, at: int, nat: Json, router: str) -> Json:
        where = f"nats[{at}]"
        addressed = () if nat.get("type") == "PRIVATE" else ("natIpAllocateOption",)
        for field in ("name", *addressed, "sourceSubnetworkIpRangesToNat"):
            if not nat.get(field):
                raise resources.required(f"{where}.{field}")
        complete: Json = {**data("defaults")["compute"]["nats"], **self._linked(nat, where, router)}
        if "rules" in nat:
            complete["rules"] = deepcopy(nat["rules"])
            for number, rule in enumerate(complete["rules"]):
                if "action" in rule:
                    rule["action"] = self._linked(rule["action"], f"{where}.rules[{number}].action", router)
        if "subnetworks" in nat:
            complete["subnetworks"] = [
                {**entry, "name": self.reference("subnetworks", f"{where}.subnetworks", entry.get("name"), router)}
                for entry in nat["subnetworks"]
            ]
        return complete

    def _linked(self, holder: Json, where: str, router: str) -> Json:
        """A NAT, or the action of one of its rules, with full links of its addresses."""
        given = {field: holder[field] for field in _ADDRESSES if field in holder}
        return holder | {
            field: [self.reference("addresses", f"{where}.{field}", link, router) for link in links]
            for field, links in given.items()
        }


def _addresses_of(nat: Json) -> Iterator[str]:
    """The links of the addresses that a NAT has, or drains."""
    for holder in (nat, *(rule.get("action", {}) for rule in nat.get("rules", ()))):
        for field in _ADDRESSES:
            yield from holder.get(field, ())


def _from_the_top(length: int) -> Iterator[IPv4Network]:
    """The blocks of this length, beginning with the last one."""
    last = int(_PRIVATE.broadcast_address) + 1
    size = 1 << (_PRIVATE.max_prefixlen - length)
    for address in range(last - size, int(_PRIVATE.network_address) - 1, -size):
        yield IPv4Network((address, length))


def _block(text: str) -> IPv4Network:
    """An address, or the block of addresses around it. Raises `ApiError`."""
    try:
        return IPv4Network(text, strict=False)
    except ValueError as error:
        raise resources.bad_value("address", text, f"Must be an IPv4 address: {error}.") from error


class Addresses(Collection):
    """Static addresses of a region. Nothing answers at the external ones, which are of RFC 2544's range for tests."""

    collection, singular = "addresses", "address"
    verbs = "insert delete setLabels"

    def complete(self, key: str, asked: Json) -> Json:
        """An address of the subnetwork, or an external one: the requested one, else the first free one.

        An internal one that names neither a subnetwork nor a network is of the network `default`.
        """
        block, address = _EXTERNAL, {"networkTier": "PREMIUM", **asked}
        taken = {stored["address"] for stored in self.store.values(self.kind) if "subnetwork" not in stored}
        if asked["addressType"] == "INTERNAL":
            region = key.split("/")[3]
            default = None if "network" in asked else f"regions/{region}/subnetworks/default"
            link = self.reference("subnetworks", "subnetwork", asked.get("subnetwork", default), key)
            block = (self.store.get("compute.subnetworks", link.removeprefix(resources.BASE)) or {})["ipCidrRange"]
            address = {"purpose": "GCE_ENDPOINT", **asked, "subnetwork": link}
            taken = {stored["address"] for stored in self.store.values(self.kind) if stored.get("subnetwork") == link}
        # The first address of a subnetwork is its gateway's.
        free = (str(address) for address in islice(IPv4Network(block).hosts(), 1, None))
        found = asked.get("address") or next((address for address in free if address not in taken), "")
        if not found:
            raise ApiError("RESOURCE_EXHAUSTED", f"The range {block} has no free address.")
        if found in taken or not _block(found).subnet_of(IPv4Network(block)):
            raise resources.bad_value("address", found, f"It must be a free address of {block}.")
        return {**address, "address": found}

    def view(self, key: str, stored: Json) -> Json:
        """The address with its use."""
        users = [resources.BASE + user for user in self.users(key, stored)]
        use = {"status": "IN_USE", "users": users} if users else {"status": "RESERVED"}
        return {**stored, **use, "labelFingerprint": etag_of(stored.get("labels", {}))}

    def users(self, key: str, stored: Json) -> list[str]:
        """Routers whose NATs have the address, or drain it."""
        routers = self.store.items("compute.routers", key.partition("/addresses/")[0])
        link = resources.BASE + key
        return [
            router for router, stored in routers if any(link in _addresses_of(nat) for nat in stored.get("nats", ()))
        ]

    def set_labels(self, call: Call) -> Json:
        """Replace the labels; the fingerprint must be that of the current ones."""
        key = f"{self._parent(call)}/{call.params['resource']}"
        stored = self.find(key)
        if call.body.get("labelFingerprint") != etag_of(stored.get("labels", {})):
            message = "Labels fingerprint either invalid or resource labels have changed"
            raise ApiError("FAILED_PRECONDITION", message, reason="conditionNotMet", http_code=412)
        self.put(key, {**stored, "labels": call.body.get("labels", {})})
        return resources.done(self.store, "setLabels", key, stored["id"])


class GlobalAddresses(Addresses):
    """Ranges of a network for private services access. Other global addresses are not served."""

    collection, scope = "globalAddresses", "global"

    def complete(self, key: str, asked: Json) -> Json:
        """A range of the network: the requested one, else the last free one.

        Google may choose any. The first one would be in the way of subnetworks that the same program declares.
        """
        if asked.get("purpose") != "VPC_PEERING" or asked["addressType"] != "INTERNAL":
            raise resources.bad_value(
                "purpose", asked.get("purpose", ""), "The twin serves only VPC_PEERING with addressType INTERNAL."
            )
        link, length = self.reference("networks", "network", asked.get("network"), key), asked.get("prefixLength")
        if not length:
            raise resources.required("prefixLength")
        if not _PRIVATE.prefixlen <= int(length) <= _PRIVATE.max_prefixlen:
            why = f"Must be from {_PRIVATE.prefixlen} to {_PRIVATE.max_prefixlen}."
            raise resources.bad_value("prefixLength", length, why)
        network = link.removeprefix(resources.BASE)
        taken = list(blocks_of(self.store, network))
        wanted = (_block(f"{asked['address']}/{length}"),) if asked.get("address") else None
        blocks = wanted or _from_the_top(int(length))
        found = next((block for block in blocks if not any(map(block.overlaps, taken))), None)
        if found is None:
            raise resources.bad_value(
                "address", asked.get("address", ""), f"The network has no such free range of /{length}."
            )
        return {**asked, "network": link, "address": str(found.network_address)}

    def users(self, key: str, stored: Json) -> list[str]:
        """None. A range can be deleted while its connection exists, which keeps it from new allocations."""
        return []

    def _parent(self, call: Call) -> str:
        return f"projects/{call.params['project']}/global/addresses"


class ResourcePolicies(Collection):
    """Resource policies. Workload policies place tpu7x slices."""

    collection, singular = "resourcePolicies", "resourcePolicy"

    def complete(self, key: str, asked: Json) -> Json:
        """A policy of exactly one kind."""
        known = data("kinds")["resource_policies"]
        kinds = [field for field in known if field in asked]
        if len(kinds) != 1:
            raise resources.bad_value("policy", ", ".join(kinds), f"Set exactly one of {', '.join(known)}.")
        return {**asked, "status": "READY"}

    def users(self, key: str, stored: Json) -> list[str]:
        """Managed instance groups of the pools that the policy places."""
        _, project, _, region, _, name = key.split("/")
        found: list[str] = []
        for pool_key, pool in self.store.items(POOL, f"projects/{project}"):
            view = PoolView(pool)
            if view.placement.get("policyName") == name and region_of(view.zones[0]) == region:
                found += [url.removeprefix(resources.BASE) for url in group_urls(pool_key, pool).values()]
        return found
