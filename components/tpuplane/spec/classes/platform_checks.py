"""The checks of compute classes in a platform: their references exist, match, and are available in their clusters."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

from tpuplane.spec.classes.checks import check_class
from tpuplane.spec.classes.compute_class import ComputeClassSpec
from tpuplane.spec.classes.location_checks import check_places
from tpuplane.spec.classes.of_cluster import class_in, classes_of, expanded, owners
from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, listing, shown
from tpuplane.spec.core.rules import broken, rules, spec_data
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.capacity_checks import check_use
from tpuplane.spec.pools.hosts import ReservationSpec
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.tpu import GkeVersion, catalogue

_MINOR_VERSIONS = 2
"""The maximum number of minor versions by which nodes may be older than their control plane."""


def check_classes(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of the classes, once for each cluster that has the class."""
    for name, own_class in spec.classes.items():
        at: Path = ("classes", name)
        yield from check_definition(at, name, own_class)
        for index, key in enumerate(own_class.clusters or ()):
            if key not in spec.clusters:
                allowed = listing(spec.clusters)
                yield broken("class-clusters", (*at, "clusters", index), value=shown(key), allowed=allowed)
    for key in spec.clusters:
        for mistake in _check_in(spec, key):
            elsewhere = len(spec.clusters) > 1 and mistake.rule in rules() and rules()[mistake.rule].elsewhere
            more = f", or list under clusters only the clusters other than {key}" if elsewhere else ""
            yield replace(mistake, message=f"{mistake.message}{more}")


def _check_in(spec: PlatformSpec, key: str) -> Iterator[Mistake]:
    """Every mistake of the classes in the cluster `key`."""
    classes = classes_of(spec, key)
    for name in classes:
        at: Path = ("classes", name)
        yield from check_in_cluster(at, key, spec.clusters[key], spec.reservations, spec.classes[name])
    yield from _check_pools(spec, key, classes)
    yield from _check_namespaces(spec, key, classes)


def check_definition(at: Path, name: str, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Every mistake of a class, independent of clusters."""
    yield from _check_preset(at, spec)
    # Without flex-start for the slices in any zone, a preset omits that priority.
    generation = catalogue().known(spec.tpu.type) if spec.tpu is not None else None
    flex_start = spec.tpu is None or (generation is not None and generation.flex_start)
    yield from _as_written(at, spec, check_class(at, name, expanded(spec, flex_start=flex_start)))


def check_in_cluster(
    at: Path, key: str, cluster: ClusterPlaceSpec, reservations: Mapping[str, ReservationSpec], spec: ComputeClassSpec
) -> Iterator[Mistake]:
    """Every mistake of a class in a cluster. Messages call the cluster `key`."""
    there = class_in(cluster, spec)
    yield from _as_written(at, spec, check_places(at, key, cluster, reservations, there))
    yield from _check_versions(at, key, cluster, there)
    yield from _check_node_version(at, key, cluster, there)


def _as_written(at: Path, spec: ComputeClassSpec, mistakes: Iterator[Mistake]) -> Iterator[Mistake]:
    """The mistakes of a preset's priorities, at the fields of the file that they come from."""
    if spec.preset is None or spec.priorities is not None:
        yield from mistakes
        return
    depth = len(at)
    for mistake in mistakes:
        match mistake.path[depth:]:
            case ("priorities", int(), "tpu", *rest):
                yield replace(mistake, path=(*at, "tpu", *rest))
            case ("priorities", int(), "reservations", "specific", int(), "name"):
                yield replace(mistake, path=(*at, "reservation", "name"))
            case ("priorities", *_):
                yield replace(mistake, path=(*at, "preset"))
            case _:
                yield mistake


def _check_preset(at: Path, spec: ComputeClassSpec) -> Iterator[Mistake]:
    if spec.preset is None:
        if not spec.priorities:
            yield broken("class-priorities", (*at, "priorities"))
        for field in ("tpu", "reservation"):
            if getattr(spec, field) is not None:
                yield broken("class-preset-only", (*at, field))
        return
    if spec.priorities is not None:
        yield broken("class-preset-alone", (*at, "priorities"), preset=spec.preset)
        return
    yield from check_use((*at, "reservation"), spec.reservation)
    remedies = {
        "tpu": "name the slices, as tpu: {type: v6e, topology: 4x4}",
        "reservation": "name one of the platform's reservations, or write priorities instead of a preset",
    }
    for field, remedy in remedies.items():
        if getattr(spec, field) is None:
            yield broken("class-preset-needs", (*at, field), preset=spec.preset, remedy=remedy)


def _check_versions(at: Path, key: str, cluster: ClusterPlaceSpec, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """The cluster's version has the features of the class. Without a version, the release channel decides."""
    # Whether an existing cluster has auto-provisioning is not known.
    alone = isinstance(cluster, ClusterSpec) and cluster.existing is None and cluster.auto_provisioning is None
    features = _features(spec, provisioned=not alone).items()
    needs = [(catalogue().min_version(feature), what) for feature, what in features]
    for priority in spec.priorities or ():
        if priority.tpu is not None and (generation := catalogue().known(priority.tpu.type)) is not None:
            oldest = (generation.min_gke_version, generation.nap_min_version if _makes_pools(spec) else None)
            needs += [(GkeVersion.minimum(text), f"{generation.name} slices") for text in oldest if text]
    if missing := [need for need in needs if cluster.is_older(need[0])]:
        needed, what = max(missing, key=itemgetter(0))
        yield broken("class-versions", at, what=what, needed=needed, cluster=key, value=shown(cluster.version))


def _check_node_version(at: Path, key: str, cluster: ClusterPlaceSpec, spec: ComputeClassSpec) -> Iterator[Mistake]:
    """Nodes are not too old for the control plane of the cluster, and not newer than its version."""
    nodes = spec.node_pool_config.node_version if spec.node_pool_config else None
    if nodes is None or nodes in ("latest", "-") or cluster.version is None:
        return
    control, node = GkeVersion.parse(cluster.version), GkeVersion.parse(nodes)
    oldest = GkeVersion(control.major, control.minor - _MINOR_VERSIONS)
    path, minor = (*at, "nodePoolConfig", "nodeVersion"), (node.major, node.minor)
    if minor < (oldest.major, oldest.minor):
        yield broken("class-node-version", path, value=shown(nodes), cluster=key, version=control, needed=oldest)
    if minor > (control.major, control.minor):
        yield broken("class-node-version-newer", path, value=shown(nodes), cluster=key, version=control)


def _makes_pools(spec: ComputeClassSpec) -> bool:
    return spec.node_pool_auto_creation is not None and spec.node_pool_auto_creation.enabled


def _features(spec: ComputeClassSpec, *, provisioned: bool) -> dict[str, str]:
    """Features that are newer than compute classes, newest first; `provisioned`: with node auto-provisioning."""
    priorities = spec.priorities or ()
    drawn = [use for priority in priorities if priority.reservations for use in priority.reservations.specific or ()]
    blocks = [use.reservation_block for use in drawn if use.reservation_block]
    defaults = spec.priority_defaults.node_system_config if spec.priority_defaults else None
    used = {
        "compute-class-auto-creation-without-nap": _makes_pools(spec) and not provisioned,
        "compute-class-placement": any(priority.placement for priority in priorities),
        "compute-class-reservation-subblocks": any(block.reservation_sub_block for block in blocks),
        "flex-start-tpu": any(priority.flex_start and priority.tpu for priority in priorities),
        "compute-class-node-system-config": any((defaults, *(priority.node_system_config for priority in priorities))),
        "compute-class-reservation-blocks": bool(blocks),
        "compute-class-node-pool-group": spec.node_pool_group is not None,
        "compute-class-tpu": any(priority.tpu for priority in priorities),
        "compute-class-reservations": bool(drawn),
        "compute-class": True,
    }
    return {feature: what for feature, what in spec_data("class_rules")["features"].items() if used[feature]}


def _check_pools(spec: PlatformSpec, key: str, classes: dict[str, ComputeClassSpec]) -> Iterator[Mistake]:
    """The pools that classes name, and the classes that pools name."""
    cluster = spec.clusters[key]
    taken = owners(cluster)
    used = set(taken.values())
    path: Path
    for at, described in cluster.all_pools.items():
        owner = described.compute_class
        # Adopted nodes may be of a class that others have created in the cluster.
        if owner is not None and owner not in classes and described.adopted is None:
            path = ("clusters", key, *at, "computeClass")
            allowed = listing(classes) or "none is declared"
            new = "name one of these, or describe it under classes" if classes else "describe it under classes"
            remedy = f"add {key} to classes.{owner}.clusters" if owner in spec.classes else new
            yield broken("class-pool-known", path, value=shown(owner), allowed=allowed, remedy=remedy)
    for name, own_class in classes.items():
        for index, priority in enumerate(own_class.priorities or ()):
            for place, pool in enumerate(priority.nodepools or ()):
                path = ("classes", name, "priorities", index, "nodepools", place)
                if pool not in taken and cluster.existing is not None:
                    continue  # one of the cluster's own, which the description does not have
                if pool not in taken:
                    allowed = listing(taken) or "none is declared"
                    yield broken("class-node-pools-known", path, value=shown(pool), cluster=key, allowed=allowed)
                elif taken[pool] not in (None, name):
                    yield broken("class-pool-once", path, value=shown(pool), other=shown(taken[pool]))
                else:
                    taken[pool] = name
        autopilot = own_class.autopilot is not None and own_class.autopilot.enabled
        # An existing cluster has pools that the description does not have.
        known = _makes_pools(own_class) or autopilot or cluster.existing is not None
        # If it cannot have a pool that it names, that is the mistake.
        named = any(priority.nodepools for priority in own_class.priorities or ())
        if own_class.priorities and not known and not named and name not in used:
            yield broken("class-nothing", ("classes", name), cluster=key)


def _check_namespaces(spec: PlatformSpec, key: str, classes: dict[str, ComputeClassSpec]) -> Iterator[Mistake]:
    teams = (namespaces_of(name, team) for name, team in spec.teams.items() if key in team.clusters)
    there = tuple(dict.fromkeys((*spec.clusters[key].namespaces, *(own for namespaces in teams for own in namespaces))))
    defaults: dict[str, str] = {}
    for name, own_class in classes.items():
        for index, namespace in enumerate(own_class.default_namespaces):
            path = ("classes", name, "defaultNamespaces", index)
            if namespace not in there:
                allowed = listing(there) or "none is declared"
                yield broken("class-namespaces", path, value=shown(namespace), cluster=key, allowed=allowed)
            elif defaults.setdefault(namespace, name) != name:
                yield broken("class-namespace-once", path, value=shown(namespace), other=shown(defaults[namespace]))
