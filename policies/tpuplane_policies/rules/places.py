"""The clusters and the zones of node pools."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tpuplane.spec.core.locations import is_zone

from tpuplane_policies.core.resources import CLUSTER, DEFAULT_POOL, POOL, Resource, Stack
from tpuplane_policies.core.values import UNKNOWN, UndecidedError, Value
from tpuplane_policies.rules import kinds

DEFAULT_ZONES = 3
"""The zones in which GKE creates a regional cluster: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/
types-of-clusters#regional_clusters."""

IDENTIFIED = "set clusterIdentifier of each Kubernetes provider to the id of its cluster"


def zones(pool: Resource) -> Value:
    """The zones of a pool, or its location if it sets none."""
    return pool["location"] if pool["nodeLocations"].raw is None else pool["nodeLocations"]


def zone_count(pool: Resource) -> int:
    """The number of zones by which GKE multiplies the node counts of a pool; 1 without a location. See `placed`."""
    at = pool["nodeLocations"]
    if at.is_unknown:
        raise UndecidedError(at)
    if own := len(tuple(at.each())):
        return own
    place = str(pool["location"].get(""))
    return DEFAULT_ZONES if place and not is_zone(place) else 1


def placed(stack: Stack) -> Iterator[Resource]:
    """The pools of a stack, also default pools, with their locations. A pool that sets no zones has its cluster's."""
    clusters = list(stack.of(CLUSTER))
    return (replace(pool, load=partial(_with_zones, pool, clusters)) for pool in stack.of(POOL, DEFAULT_POOL))


def _with_zones(pool: Resource, clusters: list[Resource]) -> Any:
    """The properties of a pool with the zones of its cluster. They are unknown if clusters differ that can be its."""
    if pool["nodeLocations"].raw not in (None, []):
        return pool.props.raw
    place, own, sure = pool["location"].raw, [cluster for cluster in clusters if cluster.urn == pool.urn], True
    if not own:
        try:
            own, (_, place, _) = clusters_of(pool, clusters), home(pool)
            sure = own and UNKNOWN not in (*home(pool), *(part for cluster in own for part in cluster_home(cluster)))
        except UndecidedError:
            own, sure, place = clusters, False, UNKNOWN if place is None else place
    where = [location_and_zones(cluster, place) for cluster in own] + ([] if sure else [(place, None)])
    place, zones = where[0] if all(one == where[0] for one in where) else (UNKNOWN, UNKNOWN)
    return {**pool.props.raw, "location": place, "nodeLocations": zones}


def location_and_zones(cluster: Resource, place: object) -> tuple[object, object]:
    """Those of a pool at `place` that sets no zones. A zonal cluster omits its own zone from the list."""
    zones = cluster["nodeLocations"].raw
    own = cluster["location"].raw if place in (None, UNKNOWN) else place
    if own is UNKNOWN or not zones or not isinstance(zones, list):
        return own, UNKNOWN if zones else None
    return own, [own, *zones] if is_zone(str(own)) else zones


Home = tuple[str, object, object]
"""The name, the location and the project of a cluster."""


def home(pool: Resource) -> Home:
    """The name, the location and the project of a pool's cluster, also if the property is a path."""
    return _home(str(pool["cluster"].get("")), pool["location"].raw, pool["project"].raw)


def _home(name: str, location: object = None, project: object = None) -> Home:
    words = name.split("/")
    named = dict(zip(words[::2], words[1::2], strict=False))  # projects/…/locations/…/clusters/…
    return words[-1], named.get("locations", location), named.get("projects", project)


def cluster_home(cluster: Resource) -> Home:
    """The name, the location and the project of a cluster."""
    return str(cluster["name"].get("")), cluster["location"].raw, cluster["project"].raw


def may_be(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two homes can be the same: their names are equal, and so are the locations and projects that they set."""
    return one[0] == other[0] and all(map(may_equal, one[1:], other[1:]))


def may_equal(one: object, other: object) -> bool:
    """Whether two values are equal, or one of them is not known."""
    return one == other or not {None, UNKNOWN}.isdisjoint((one, other))


def clusters_of(pool: Resource, clusters: Iterable[Resource]) -> list[Resource]:
    """The clusters that a pool can be in: those with its cluster's name, and with its location and project.

    Raises `UndecidedError` also if the names of clusters are unknown and no other is the pool's.
    """
    place, unnamed, found = home(pool), list[Value](), list[Resource]()
    for cluster in clusters:
        if cluster["name"].is_unknown:
            unnamed.append(cluster["name"])
        elif may_be(place, cluster_home(cluster)):
            found.append(cluster)
    if unnamed and not found:
        raise UndecidedError(*unnamed)
    return found


def by_cluster(stack: Stack) -> Iterator[tuple[str, Stack]]:
    """For each cluster its name, and its pools with its objects of Kueue and its compute classes.

    A stack of one cluster is one part without a name. In other stacks, the `clusterIdentifier` of the Kubernetes
    provider names the cluster of an object. The part of a cluster of another stack has no pools. Raises
    `UndecidedError` if it is not known which cluster has an object or a pool.
    """
    owners = [resource for resource in stack.resources if resource.type in (CLUSTER, POOL)]
    objects = defaultdict[str, list[Resource]](list)
    for resource in stack.of(kinds.KUEUE, kinds.COMPUTE_CLASS):
        objects[resource.provider].append(resource)
    providers = {provider.urn: provider for provider in stack.of(kinds.K8S_PROVIDER)}
    named = {providers[urn]["clusterIdentifier"].raw if urn in providers else None for urn in objects}
    if not owners or not any(stack.of(kinds.FLAVOR)) or (len(named) <= 1 and not _has_several(owners)):
        yield "", stack
        return
    inside = defaultdict[Home, list[Resource]](list)
    for urn, own in objects.items():
        inside[_cluster_of(providers.get(urn), own[0], owners)] += own
    for owner in owners:
        found = [place for place in inside if may_be(place, _own_home(owner))]
        if len(found) > 1:
            raise UndecidedError(owner["location"])
        for place in found:
            inside[place].append(owner)
    yield from ((place[0], Stack(tuple(resources))) for place, resources in inside.items())


def _has_several(owners: list[Resource]) -> bool:
    """Whether these clusters and pools can be of several clusters. Pools whose cluster is not known yet are taken to be
    in the only cluster of the stack."""
    clusters = [owner for owner in owners if owner.type == CLUSTER]
    values = [owner["name" if owner.type == CLUSTER else "cluster"].raw for owner in owners]
    known = [_home(str(value))[0] for value in values if not (value is UNKNOWN and clusters)]
    return len(clusters) > 1 or len(set(known)) > 1


def _own_home(owner: Resource) -> Home:
    return cluster_home(owner) if owner.type == CLUSTER else home(owner)


def _cluster_of(provider: Resource | None, example: Resource, owners: list[Resource]) -> Home:
    if (place := _named_by(provider, owners)) is None:
        raise UndecidedError(Value(UNKNOWN, "the cluster of its provider", example, remedy=IDENTIFIED))
    return place


def _named_by(provider: Resource | None, owners: list[Resource]) -> Home | None:
    """The cluster of a provider, by its name or by its id, else by the only cluster that its properties come from.
    None if neither names one: other text could name any cluster. Raises `UndecidedError` if its identifier is unknown,
    and its properties come from none or several.
    """
    at = provider["clusterIdentifier"] if provider else None
    identifier = "" if at is None or at.is_unknown else str(at.get(""))
    place = _home(identifier)
    own = [cluster_home(owner) for owner in owners if owner.type == CLUSTER and may_be(place, cluster_home(owner))]
    if identifier and len(own) == 1:
        return own[0]
    if "/clusters/" in identifier or (identifier and any(may_be(place, _own_home(owner)) for owner in owners)):
        return place
    used = provider.sources if provider and not identifier else ()
    sources = {cluster_home(owner) for owner in owners if owner.type == CLUSTER and owner.urn in used}
    if at is not None and at.is_unknown and len(sources) != 1:
        raise UndecidedError(at)
    return sources.pop() if len(sources) == 1 else None


def places_of_providers(stack: Stack, objects: Iterable[Resource]) -> dict[str, Home | None]:
    """The clusters of the Kubernetes providers of these objects, by URN; empty if the stack has only one cluster."""
    owners = [resource for resource in stack.resources if resource.type in (CLUSTER, POOL)]
    if not _has_several(owners):
        return {}
    used = {found.provider for found in objects}
    return {found.urn: _named_by(found, owners) for found in stack.of(kinds.K8S_PROVIDER) if found.urn in used}


def may_be_same(one: Home | None, other: Home | None) -> bool:
    """Whether two places can be one cluster. An unknown place can be any."""
    return one is None or other is None or may_be(one, other)
