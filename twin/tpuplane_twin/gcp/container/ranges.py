"""Secondary ranges of subnetworks: those that GKE creates for a cluster and deletes with it, and the use of all.

A cluster that names no range for its pods gets a new one. Services have Google's range, unless the cluster names a
block: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/alias-ips.
"""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from itertools import dropwhile

from tpuplane_twin.gcp.compute.networks import AUTO_BLOCK, SUBNETWORK, Subnetworks, blocks_of, parse_range, range_uses
from tpuplane_twin.gcp.compute.resources import key_of
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.links import COMPUTE
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PODS, SERVICES, ClusterView

POD_RANGE = "/14"
"""The default size of a range for pods."""

_ADDITIONAL = "additionalIpRangesConfigs"
# The address space from which GKE takes new ranges.
_PRIVATE = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))


def ranges_of(store: Store, subnetwork: str) -> dict[str, str]:
    """The blocks of a subnetwork's secondary ranges, by name."""
    found: Json = store.get(SUBNETWORK, subnetwork) or {}
    return {secondary["rangeName"]: secondary["ipCidrRange"] for secondary in found.get("secondaryIpRanges", [])}


def find_range(store: Store, network: str, subnetwork: str, use: str, name: str) -> str:
    """The block of a range that a request names; GKE's error if it does not exist."""
    block = ranges_of(store, subnetwork).get(name)
    if block is None:
        where = f'network "{COMPUTE}{network}", subnetwork "{subnetwork.rpartition("/")[2]}"'
        raise invalid(f'{use} secondary range "{name}" not found in {where}.')
    return block


def parse(asked: str) -> IPv4Network:
    """The block in a request: "10.8.0.0/20", or "/20" for any block of that size."""
    try:
        return parse_range(f"10.0.0.0{asked}" if asked.startswith("/") else asked)
    except ValueError as error:
        raise invalid(f'Invalid CIDR block "{asked}": {error}.') from error


def free_block(store: Store, network: str, asked: str, taken: Iterable[IPv4Network] = ()) -> IPv4Network:
    """A free block of a network, as `parse` reads it."""
    wanted = parse(asked)
    used = [*blocks_of(store, network), *taken]
    if (store.get("compute.networks", network) or {}).get("autoCreateSubnetworks"):
        used.append(AUTO_BLOCK)
    for block in _sized(wanted.prefixlen) if asked.startswith("/") else (wanted,):
        if not any(block.overlaps(other) for other in used):
            return block
    raise invalid(f'Requested CIDR {asked} is not available in network "{network.rpartition("/")[2]}".')


def take(store: Store, cluster: Json) -> None:
    """Create the ranges that a new cluster does not name in its subnetwork, and name them in the cluster."""
    policy, subnetwork = cluster["ipAllocationPolicy"], ClusterView(cluster).subnetwork
    own = {}
    for use, field, block in (
        ("pods", "clusterSecondaryRangeName", policy["clusterIpv4CidrBlock"]),
        ("services", "servicesSecondaryRangeName", policy["servicesIpv4CidrBlock"]),
    ):
        if not policy.get(field) and block != SERVICES:
            policy[field] = _name(cluster, use)
            own[policy[field]] = block
    if own:
        _set(store, subnetwork, ranges_of(store, subnetwork) | own)


def pool_range(store: Store, cluster: Json, pool: Json) -> None:
    """Set the subnetwork of a new pool, and the range of its pods, which GKE creates on request."""
    network, view = pool["networkConfig"], ClusterView(cluster)
    subnetwork, ranges = view.subnetwork, [view.pod_range]
    if asked := network.get("subnetwork"):
        network["subnetwork"] = subnetwork = _path(view, asked)
    if subnetwork != view.subnetwork:
        more = {found["subnetwork"]: found for found in cluster["ipAllocationPolicy"].get(_ADDITIONAL, ())}
        if subnetwork not in more:
            raise invalid(f'Subnetwork "{subnetwork}" is not among the additional subnetworks of the cluster.')
        ranges = more[subnetwork].get("podIpv4RangeNames", [])
    if network.get("createPodRange"):
        block = free_block(store, view.network, network.get("podIpv4CidrBlock") or POD_RANGE)
        network.setdefault("podRange", f"gke-{cluster['name']}-{pool['name']}-pods-{cluster['id'][:8]}")
        network["podIpv4CidrBlock"] = str(block)
        _set(store, subnetwork, ranges_of(store, subnetwork) | {network["podRange"]: str(block)})
    else:
        network["podRange"] = name = network.get("podRange") or next(iter(ranges), "")
        network["podIpv4CidrBlock"] = find_range(store, view.network, subnetwork, "Pod", name)


def give_back(store: Store, cluster: Json) -> None:
    """Delete the ranges of `take`."""
    _remove(store, ClusterView(cluster).subnetwork, {_name(cluster, use) for use in ("pods", "services")})


def give_back_pool(store: Store, cluster: Json, pool: Json) -> None:
    """Delete the range of `pool_range`."""
    network = pool["networkConfig"]
    if network.get("createPodRange"):
        _remove(store, network.get("subnetwork") or ClusterView(cluster).subnetwork, {network["podRange"]})


def _remove(store: Store, subnetwork: str, own: set[str]) -> None:
    found = ranges_of(store, subnetwork)
    if own & found.keys():
        _set(store, subnetwork, {name: block for name, block in found.items() if name not in own})


def change_pod_ranges(store: Store, cluster: Json, added: Json, removed: Json) -> None:
    """Change the additional ranges for the pods of pools; each is a range of the cluster's subnetwork."""
    view, policy = ClusterView(cluster), cluster["ipAllocationPolicy"]
    names: list[str] = policy.get("additionalPodRangesConfig", {}).get("podRangeNames", [])
    for name in added.get("podRangeNames", ()):
        find_range(store, view.network, view.subnetwork, "Pod", name)
        names = [*(other for other in names if other != name), name]
    for name in removed.get("podRangeNames", ()):
        if name not in names:
            # https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters/update
            raise invalid(f'Pod range "{name}" is not among the additional pod ranges of the cluster.')
        names = [other for other in names if other != name]
    shown = [{"rangeName": name, "utilization": 0.0} for name in names]
    policy["additionalPodRangesConfig"] = {"podRangeNames": names, "podRangeInfo": shown} if names else {}


def check_additional_ranges(store: Store, cluster: Json) -> None:
    """Complete the additional subnetworks of a cluster; they and their ranges for pods must exist."""
    view = ClusterView(cluster)
    for found in cluster["ipAllocationPolicy"].get(_ADDITIONAL, ()):
        found["subnetwork"] = subnetwork = _path(view, found.get("subnetwork", ""))
        stored: Json = store.get(SUBNETWORK, subnetwork) or {"network": ""}
        if not stored["network"].endswith(view.network):
            raise invalid(f'Subnetwork "{subnetwork}" is not valid for Network "{cluster["network"]}".')
        for pods in found.get("podIpv4RangeNames", ()):
            find_range(store, view.network, subnetwork, "Pod", pods)


def usable_subnetworks(store: Store, call: Call) -> Json:
    """projects.aggregated.usableSubnetworks.list: those of the project, or of the one that the filter names."""
    uses = range_uses(store)
    parent = f"projects/{call.params['projectsId']}"
    found = store.items(SUBNETWORK, "" if call.query.get("filter") else parent)
    return {"subnetworks": [_shown(key, subnet, uses) for key, subnet in found]}


def _shown(key: str, subnet: Json, uses: dict[tuple[str, str], str]) -> Json:
    return {
        # Not shown: what the filter reads.
        "networkProjectId": key.split("/")[1],
        "subnetwork": key,
        "network": subnet["network"].removeprefix(COMPUTE),
        "ipCidrRange": subnet["ipCidrRange"],
        "secondaryIpRanges": [
            {**found, "status": uses.get((key, found["rangeName"]), "UNUSED")}
            for found in subnet.get("secondaryIpRanges", [])
        ],
    }


def _path(cluster: ClusterView, subnetwork: str) -> str:
    """The resource name of a subnetwork that a request gives as a link or by its short name."""
    own = cluster.subnetwork.rpartition("/")[0]
    return key_of(subnetwork, own.split("/")[1]) if "/" in subnetwork else f"{own}/{subnetwork}"


def _name(cluster: Json, use: str) -> str:
    return f"gke-{cluster['name']}-{use}-{cluster['id'][:8]}"


def _set(store: Store, subnetwork: str, ranges: dict[str, str]) -> None:
    found: Json = store.get(SUBNETWORK, subnetwork) or {}
    secondary = [{"rangeName": name, "ipCidrRange": block} for name, block in ranges.items()]
    Subnetworks(store).put(subnetwork, {**found, "secondaryIpRanges": secondary})


def _sized(prefix: int) -> Iterator[IPv4Network]:
    """Blocks of a size, starting with that of GKE's first cluster."""
    first = IPv4Network(PODS).network_address
    for space in _PRIVATE:
        if space.prefixlen <= prefix:
            yield from dropwhile(lambda block: block.network_address < first, space.subnets(new_prefix=prefix))
