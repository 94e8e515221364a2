"""Address ranges that are in use until the end of an update.

Pulumi creates new resources before it deletes old ones. A renamed cluster is a new one, whose subnetwork cannot have
ranges of the old one. A region has one subnetwork for proxies. Google rejects both in the middle of the update.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Any

from tpuplane.diff.rejections import Rejection
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.network_checks import FreeRanges, ranges_in, ranges_of
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.names import cluster_name, proxies_name

_SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
_CLUSTER = "gcp:container/cluster:Cluster"
_ADDRESS = "gcp:compute/globalAddress:GlobalAddress"
_SERVICES = "private services access"
_PROXIES = "proxiesCidr"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a platform's VPC has."""

    ranges: dict[str, list[IPv4Network]] = field(default_factory=dict)
    """By the name of their subnetwork or cluster in Google Cloud; one of Google for its services has no such name."""
    proxies: dict[str, str] = field(default_factory=dict)
    """The names of the subnetworks for proxies, by their region."""

    def add(self, owner: str, *ranges: IPv4Network) -> None:
        """Add ranges of an owner."""
        self.ranges.setdefault(owner, []).extend(ranges)


def described(spec: PlatformSpec) -> Standing:
    """The ranges of a description."""
    found = Standing()
    for path, network in _ranges(spec).items():
        owner = _owners(spec, path)[0]
        found.add(owner, network)
        if path[-1] == _PROXIES:
            found.proxies[_region(spec, path)] = owner
    return found


def _ranges(spec: PlatformSpec) -> dict[Path, IPv4Network]:
    own = {key: cluster for key, cluster in spec.clusters.items() if cluster.network.existing is None}
    return ranges_in(ranges_of(own))


def _owners(spec: PlatformSpec, path: Path) -> tuple[str, ...]:
    """The names of the subnetwork and cluster that may have the range at this path."""
    key = str(path[1])
    name = cluster_name(spec.name, key)
    return (proxies_name(name),) if path[-1] == _PROXIES else (name, spec.clusters[key].gke_name(spec.name, key))


def _region(spec: PlatformSpec, path: Path) -> str:
    return region_of(spec.clusters[str(path[1])].location)


class UnreadableState(Exception):
    """A resource whose addresses the state of a stack does not have."""


def in_state(resources: Iterable[Mapping[str, Any]], spec: PlatformSpec) -> Standing:
    """What a stack has created in the platform's VPC, from Pulumi's state. Raises `UnreadableState`."""
    found = Standing()
    for resource in resources:
        if resource["type"] in (_SUBNETWORK, _CLUSTER, _ADDRESS):
            try:
                _read(found, resource["type"], resource.get("outputs") or {}, spec.name)
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                cause, name = f"{type(error).__name__}: {error}", resource["urn"].rpartition("::")[2]
                raise UnreadableState(f"the state lacks addresses of {name} ({cause})") from None
    return found


def _read(found: Standing, kind: str, values: Mapping[str, Any], network: str) -> None:
    """Add a resource of the state, if it is in this VPC."""
    name = values["name"]
    if kind == _ADDRESS and values.get("purpose") != "VPC_PEERING":
        return  # not a range of a VPC
    if values["network"].rpartition("/")[2] != network:
        return
    if kind == _ADDRESS:
        found.add(_SERVICES, IPv4Network(f"{values['address']}/{values['prefixLength']}"))
        return
    if kind == _SUBNETWORK:
        further = [secondary["ipCidrRange"] for secondary in values.get("secondaryIpRanges") or ()]
        ranges = [values["ipCidrRange"], *further]
        if values.get("role") == "ACTIVE":
            found.proxies[values["region"]] = name
    else:
        ranges = [(values.get("privateClusterConfig") or {}).get("masterIpv4CidrBlock")]
    found.add(name, *(IPv4Network(text) for text in ranges if text))


def conflicts(standing: Standing, after: PlatformSpec) -> Iterator[Rejection]:
    """The clusters with a range that another one has until the update ends, or with a second subnetwork for proxies."""
    ranges = _ranges(after)
    unused = FreeRanges([*ranges.values(), *(network for those in standing.ranges.values() for network in those)])
    for key in after.clusters:
        clashes: dict[Path, str] = {}
        for path, network in ranges.items():
            if path[1] != key:
                continue
            own = _owners(after, path)
            former = standing.proxies.get(_region(after, path), own[0]) if path[-1] == _PROXIES else own[0]
            if former not in own:
                yield _second(path, former, _region(after, path))
                continue
            taken = ((name, networks) for name, networks in standing.ranges.items() if name not in own)
            owners = (name for name, networks in taken if any(map(network.overlaps, networks)))
            if owner := next(owners, None):
                clashes[path] = owner
        if clashes:
            yield _taken(clashes, ranges, unused)


def _second(path: Path, former: str, region: str) -> Rejection:
    why = f"Google rejects this: {region} has the proxy-only subnetwork {former} until the update ends"
    return Rejection(path, why, f"Remove {dotted(path)}, run `pulumi up`, add it again and repeat `pulumi up`.")


def _taken(clashes: Mapping[Path, str], ranges: Mapping[Path, IPv4Network], unused: FreeRanges) -> Rejection:
    """The ranges of a cluster that others have, each with its owner."""
    found = ((path, unused.take(ranges[path].prefixlen)) for path in clashes)
    free = [f"{dotted(path)}: {network}" for path, network in found if network is not None]
    used = ", ".join(f"{ranges[path]} ({path[-1]})" for path in clashes)
    others = ", ".join(dict.fromkeys(clashes.values()))
    path = next(iter(clashes))
    why = f"Google rejects this: {used} overlaps ranges of {others}, which exist until the update ends"
    remedies = [f"set {', '.join(free)}"] if free else []
    if _SERVICES not in clashes.values():  # that one stays
        part = path if [*clashes] == [path] and path[-1] == _PROXIES else path[:2]
        remedies.append(f"remove {dotted(part)}, run `pulumi up`, add it again and repeat `pulumi up`")
    remedy = "; or ".join(remedies) or "remove ranges that nothing uses"
    return Rejection(path, why, f"{remedy[0].upper()}{remedy[1:]}.")
