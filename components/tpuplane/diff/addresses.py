"""Address ranges that are in use until the end of an update.

Pulumi creates new resources before it deletes old ones. A renamed cluster is a new one, whose subnetwork cannot have
ranges of the old one. Google rejects it in the middle of the update.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from tpuplane.diff.rejections import Rejection
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.network_checks import FreeRanges, ranges_in, ranges_of
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.names import cluster_name

_SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
_CLUSTER = "gcp:container/cluster:Cluster"

Standing = Mapping[str, Iterable[IPv4Network]]
"""Ranges in a platform's VPC, by the name of their subnetwork or cluster in Google Cloud."""


def described(spec: PlatformSpec) -> dict[str, list[IPv4Network]]:
    """The ranges of a description."""
    found: dict[str, list[IPv4Network]] = {}
    for path, network in _ranges(spec).items():
        found.setdefault(cluster_name(spec.name, str(path[1])), []).append(network)
    return found


def _ranges(spec: PlatformSpec) -> dict[Path, IPv4Network]:
    """The ranges in the platform's VPC."""
    own = {key: cluster for key, cluster in spec.clusters.items() if cluster.network.existing is None}
    return ranges_in(ranges_of(own))


class UnreadableState(Exception):
    """A subnetwork or cluster whose addresses the state of a stack does not have."""


def in_state(resources: Iterable[Mapping[str, Any]], spec: PlatformSpec) -> dict[str, list[IPv4Network]]:
    """The ranges that a stack has created in the platform's VPC, from Pulumi's state. Raises `UnreadableState`."""
    found: dict[str, list[IPv4Network]] = {}
    for resource in resources:
        if resource["type"] not in (_SUBNETWORK, _CLUSTER):
            continue
        values = resource.get("outputs") or {}
        try:
            if values["network"].rpartition("/")[2] != spec.name:
                continue
            if resource["type"] == _SUBNETWORK:
                further = [secondary["ipCidrRange"] for secondary in values.get("secondaryIpRanges") or ()]
                ranges = [values["ipCidrRange"], *further]
            else:
                ranges = [(values.get("privateClusterConfig") or {}).get("masterIpv4CidrBlock")]
            found.setdefault(values["name"], []).extend(IPv4Network(text) for text in ranges if text)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            cause, name = f"{type(error).__name__}: {error}", resource["urn"].rpartition("::")[2]
            raise UnreadableState(f"the state lacks addresses of {name} ({cause})") from None
    return found


def conflicts(standing: Standing, after: PlatformSpec) -> Iterator[Rejection]:
    """The clusters with a range that another one has until the update ends."""
    ranges = _ranges(after)
    unused = FreeRanges([*ranges.values(), *(network for those in standing.values() for network in those)])
    for key, cluster in after.clusters.items():
        own = {cluster_name(after.name, key), cluster.gke_name(after.name, key)}
        clashes: dict[Path, str] = {}
        for path, network in ranges.items():
            if path[1] == key:
                taken = ((name, networks) for name, networks in standing.items() if name not in own)
                owners = (name for name, networks in taken if any(map(network.overlaps, networks)))
                if owner := next(owners, None):
                    clashes[path] = owner
        if not clashes:
            continue
        found = ((path, unused.take(ranges[path].prefixlen)) for path in clashes)
        free = [f"{dotted(path)}: {network}" for path, network in found if network is not None]
        used = ", ".join(f"{ranges[path]} ({path[-1]})" for path in clashes)
        others = ", ".join(dict.fromkeys(clashes.values()))
        why = f"Google rejects this: {used} overlaps ranges of {others}, which exist until the update ends"
        again = f"remove clusters.{key}, run `pulumi up`, add it again and repeat `pulumi up`."
        yield Rejection(next(iter(clashes)), why, f"Set {', '.join(free)}; or {again}")
