"""The class of a change that depends on the values, and of a change that changes no planned value."""

import itertools
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import IPv4Network
from operator import attrgetter
from typing import Any, get_args

from tpuplane.diff.compare import Difference, value_at, with_value
from tpuplane.diff.node_pools import Platform, in_existing_cluster, moved, planned, planned_name, pools_at, stays
from tpuplane.plan import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY
from tpuplane.spec import SpecError
from tpuplane.spec.cluster.cluster import ReleaseChannel
from tpuplane.spec.core.changes import ChangeClass
from tpuplane.spec.core.errors import Path
from tpuplane.tpu import GkeVersion

_Judge = Callable[[Difference, Platform, Platform], ChangeClass]
_Name = tuple[str, str]
"""The key of a cluster, and the name of something in it."""
_Owned = Callable[[Path, Any, Platform], Iterable[_Name]]


def class_of(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The class of a change."""
    if _describes(it.path, before, after) or _stays(it.path, before, after):
        return "nothing"
    found = JUDGES[it.change.judge](it, before, after) if it.change.judge else it.declared
    if found in ("replaces-cluster", "deletes-cluster") and in_existing_cluster(it.path, before):
        return "deletes-work"  # tpuplane does not delete an existing cluster, but everything that it added
    found = _of_reservation(found, it, before, after)
    # Another change can be of the same part of the plan.
    shared = found in ("in-place", "creates", "deletes") and _parts(it.path) and _alone(it, before, after)
    return "nothing" if shared and _stays(it.path, before, shared) else found


def _describes(path: Path, before: Platform, after: Platform) -> bool:
    """Whether the field only describes an existing cluster."""
    described = path[2:] in (("releaseChannel",), ("version",))
    return described and in_existing_cluster(path, before) and in_existing_cluster(path, after)


def _alone(it: Difference, before: Platform, after: Platform) -> Platform | None:
    """The description with only this change, or with all changes of its part, such as another unit of a quota.

    None if the spec rejects both.
    """
    of_part = it.path[:-1]
    for path, value in ((it.path, it.after), (of_part, value_at(after.spec, of_part))):
        with suppress(SpecError):
            return planned(with_value(before.spec, path, value))
    return None


def _stays(path: Path, before: Platform, after: Platform) -> bool:
    """Whether everything stays that is planned from the field, as far as the plan shows it."""
    olds, news = pools_at(path, before), pools_at(path, after)
    if path[0] == "clusters" and path[2:3] in (("pools",), ("gpuPools",)) and not olds and not news:
        return True  # a pool with 0 slices
    if path[0] != "reservations" and planned_name(path):
        return olds.keys() == news.keys() and all(stays(path, olds[key], news[key]) for key in olds)
    if path[0] == "observability":
        return before.plan.observability == after.plan.observability
    parts = _parts(path)
    return parts is not None and _planned(parts, path, before) == _planned(parts, path, after)


def _parts(path: Path) -> tuple[str, ...] | None:
    return _PARTS.get(str(path[2] if path[0] == "clusters" and len(path) > 3 else path[0]))


_QUEUES = ("queues", "manager", "worker", "namespaces", "addons", "control_plane", "global_access")
# What the plan of a cluster has of a part of the description, if it has it as a whole.
_PARTS = {
    "teams": _QUEUES,
    "queues": _QUEUES,
    "classes": ("compute_classes", "namespace_classes", "queues", "pools"),
    "monitoring": ("monitoring",),
    "maintenance": ("maintenance",),
    "autoProvisioning": ("auto_provisioning",),
    "addons": ("addons", "ray_operator", "queues", "scrapes", "frontend"),
}


def _planned(parts: tuple[str, ...], path: Path, platform: Platform) -> list[object]:
    read = attrgetter("key", *parts)
    return [read(it) for it in platform.plan.clusters if path[0] != "clusters" or it.key == path[1]]


def _of_reservation(found: ChangeClass, it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Pools that use a reservation are replaced if they name or follow it otherwise. Classes name it too."""
    if it.path[0] != "reservations" or found != "replaces-pools":
        return found
    olds, news = pools_at(it.path, before), pools_at(it.path, after)
    if any(not stays(it.path, olds[key], news[key]) for key in olds.keys() & news.keys()):
        return found
    classes = ("compute_classes",)
    return "nothing" if _planned(classes, it.path, before) == _planned(classes, it.path, after) else "in-place"


def _size(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Fewer slices or nodes are deleted. An autoscaled pool keeps its nodes until they are idle."""
    olds, news = pools_at(it.path, before), pools_at(it.path, after)
    fewer = any(
        new.node_count is not None and new.max_nodes < olds[key].max_nodes for key, new in news.items() if key in olds
    )
    if olds.keys() - news.keys() or fewer:
        return "deletes-nodes"
    return "creates" if news.keys() - olds.keys() else "in-place"


def _zones(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    olds, news = pools_at(it.path, before), pools_at(it.path, after)
    if any(pool.placement_topology for pool in olds.values()):
        return "replaces-pools"
    within = all(set(olds[key].zones) <= set(news[key].zones) for key in olds.keys() & news.keys())
    return "in-place" if within else "deletes-nodes"


def _gpu_machine(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    def gpus(platform: Platform) -> list[object]:
        machines = [(pool.gpu.machine, pool.local_ssds) for pool in pools_at(it.path, platform).values() if pool.gpu]
        return [(machine.accelerator, machine.gpus, ssds) for machine, ssds in machines]

    return "rolls-nodes" if gpus(before) == gpus(after) else "replaces-pools"


def _larger_range(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "in-place" if IPv4Network(it.before).subnet_of(IPv4Network(it.after)) else "replaces-cluster"


def _control_plane_range(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "nothing" if it.after is None else "replaces-cluster"


def _boot_disk_key(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The defaults of auto-provisioning name the key, and the provider cannot change it there."""
    provisioned = (
        of.auto_provisioning for side in (before, after) for of in side.plan.clusters if of.key == it.path[1]
    )
    return "replaces-cluster" if any(provisioned) else "replaces-pools"


def _provisioning(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    clusters = (of for side in (before, after) for of in side.plan.clusters if of.key == it.path[1])
    return "replaces-cluster" if any(BOOT_DISK_KEY in of.keys for of in clusters) else "in-place"


def _channel(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """A fresher channel has newer versions. Without a channel the cluster keeps its version."""
    order = get_args(ReleaseChannel)  # from the freshest; the last is none
    return "rolls-nodes" if order.index(it.after) < order.index(it.before) else "in-place"


def _version(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    if it.after is None or (it.before is not None and GkeVersion.parse(it.after) <= GkeVersion.parse(it.before)):
        return "in-place"
    return "rolls-nodes"


def _secrets_key(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "deletes" if SECRETS_KEY in deleted_keys(str(it.path[1]), before, after) else "in-place"


def deleted_keys(cluster: str, before: Platform, after: Platform) -> set[str]:
    """The keys that tpuplane created for a cluster, and that the new description does not have."""
    old, new = (
        {use for of in side.plan.clusters if of.key == cluster for use in of.own_keys} for side in (before, after)
    )
    return old - new


def _named(own: _Owned, every: Callable[[ClusterPlan], set[str]]) -> _Judge:
    """Judges by the names that a value gives to the clusters: a missing one is deleted, a new one created.

    `own` has the names of a value, `every` all names of a cluster, because another field can give the same name.
    """

    def judge(it: Difference, before: Platform, after: Platform) -> ChangeClass:
        existing, remaining = (
            {(of.key, name) for of in side.plan.clusters for name in every(of)} for side in (before, after)
        )
        if set(own(it.path, it.before, before)) - set(own(it.path, it.after, before)) - remaining:
            return "deletes-work"
        new = set(own(it.path, it.after, after)) - set(own(it.path, it.before, after)) - existing
        return "creates" if new else "nothing"

    return judge


def _own_namespaces(path: Path, names: Any, platform: Platform) -> Iterable[_Name]:
    of = str(path[1])
    clusters = [of] if path[0] == "clusters" else platform.spec.clusters_of(of)
    return itertools.product(clusters, (of,) if names is None else names)


def _namespaces(cluster: ClusterPlan) -> set[str]:
    of_teams = {own.name for team in (cluster.queues.teams if cluster.queues else ()) for own in team.namespaces}
    return of_teams | set(cluster.namespaces)


def _own_classes(path: Path, clusters: Any, platform: Platform) -> Iterable[_Name]:
    return itertools.product(platform.spec.clusters if clusters is None else clusters, [str(path[1])])


def _monitoring(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    if it.after is not None:
        return "creates"
    return "deletes" if it.before.frontend is None else "deletes-work"


def _ray(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    if in_existing_cluster(it.path, before) and "operator" not in (it.before, it.after):
        # The field only describes the cluster, and says which kinds Kueue manages by default.
        kueue = after.spec.clusters[str(it.path[1])].addons.kueue
        return "in-place" if kueue is not None and kueue.integrations is None else "nothing"
    return "creates" if it.before == "none" else "deletes-work"


def _pool(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """An adopted pool keeps its node pools under another key, if it is otherwise the same."""
    own, other = (after, before) if it.event == "new" else (before, after)
    pools = pools_at(it.path, own)
    return "in-place" if pools and all(moved(it.path, key, own, other) for key in pools) else it.declared


def _adopted(it: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Other names are other resources. A property that is no longer kept can be one that replaces its resource."""
    if it.path[2] != "adopted":
        olds, news = pools_at(it.path, before), pools_at(it.path, after)
        same = olds.keys() == news.keys() and all(stays(it.path, olds[key], news[key]) for key in olds)
        return "in-place" if same else "replaces-pools"
    old, new = (next(of for of in side.plan.clusters if of.key == it.path[1]) for side in (before, after))
    if old.name != new.name or not set(old.kept) <= set(new.kept):
        return "replaces-cluster"
    # An adopted cluster has no account of its own for the nodes.
    return "in-place" if old.service_account == new.service_account else "replaces-pools"


JUDGES: dict[str, _Judge] = {
    "boot_disk_key": _boot_disk_key,
    "channel": _channel,
    "class_clusters": _named(_own_classes, lambda cluster: {it.name for it in cluster.compute_classes}),
    "cluster_name": _adopted,
    "control_plane_range": _control_plane_range,
    "gpu_machine": _gpu_machine,
    "kept": _adopted,
    "larger_range": _larger_range,
    "monitoring": _monitoring,
    "namespaces": _named(_own_namespaces, _namespaces),
    "nodes": _size,
    "pool": _pool,
    "pool_names": _adopted,
    "provisioning": _provisioning,
    "ray": _ray,
    "secrets_key": _secrets_key,
    "slices": _size,
    "version": _version,
    "zone": _zones,
    "zones": _zones,
}
