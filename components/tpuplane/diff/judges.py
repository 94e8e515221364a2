"""The class of a change that depends on the values, and of a change that changes no planned value."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Network
from operator import attrgetter
from typing import Any, get_args

from tpuplane.data_files import read_data
from tpuplane.diff.compare import Difference
from tpuplane.diff.kept import released, updated
from tpuplane.diff.namespaces import owners
from tpuplane.diff.node_pools import (
    Platform,
    alone,
    in_existing_cluster,
    moved,
    planned_names,
    pools_at,
    stays,
    tainted,
)
from tpuplane.diff.storage import bucket, claims_of, persistent_disk
from tpuplane.plan import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY
from tpuplane.spec.cluster.cluster import ReleaseChannel
from tpuplane.spec.core.changes import ChangeClass
from tpuplane.spec.core.errors import Path
from tpuplane.spec.storage_checks import bucket_name
from tpuplane.tpu import GkeVersion

_PARTS: dict[str, list[str]] = read_data("tpuplane.diff", "parts")
_Judge = Callable[[Difference, Platform, Platform], ChangeClass]
_Name = tuple[str, str]
"""The key of a cluster, and the name of something in it."""
_Owned = Callable[[Path, Any, Platform], Iterable[_Name]]


def class_of(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The class of a change."""
    if _describes(edit.path, before, after):
        return "nothing"
    if _stays(edit.path, before, after):
        return "in-place" if _changes_more(edit, before, after) else "nothing"
    found = JUDGES[edit.change.judge](edit, before, after) if edit.change.judge else edit.declared
    if found in ("replaces-cluster", "deletes-cluster") and in_existing_cluster(edit.path, before):
        return "deletes-work"  # tpuplane does not delete an existing cluster, but everything that it added
    found = _of_backups(_of_reservation(found, edit, before, after), edit, before, after)
    if found == "creates" and tainted(edit.path, before, after):
        found = "in-place"
    # Another change can be of the same part of the plan.
    shared = found in ("in-place", "creates", "deletes") and _parts(edit.path) and alone(edit, before, after)
    return "nothing" if shared and _stays(edit.path, before, shared) else found


def _describes(path: Path, before: Platform, after: Platform) -> bool:
    """Whether the field only describes an existing cluster."""
    described = path[2:] in (("releaseChannel",), ("version",))
    return described and in_existing_cluster(path, before) and in_existing_cluster(path, after)


def _stays(path: Path, before: Platform, after: Platform) -> bool:
    """Whether every value that is planned from the field stays, as far as the plan shows it."""
    olds, news = pools_at(path, before), pools_at(path, after)
    if path[0] == "clusters" and path[2:3] in (("pools",), ("gpuPools",)) and not olds and not news:
        return True  # a pool with 0 slices
    if path[0] != "reservations" and planned_names(path):
        return olds.keys() == news.keys() and all(stays(path, olds[key], news[key]) for key in olds)
    if path[0] == "observability":
        return before.plan.observability == after.plan.observability
    parts = _parts(path)
    return parts is not None and _planned(parts, path, before) == _planned(parts, path, after)


def _changes_more(edit: Difference, before: Platform, after: Platform) -> bool:
    """Whether a value that its pools keep also has other parts in the plan, such as the label of a capacity."""
    if not any(pool.kept for pool in pools_at(edit.path, after).values()):
        return False
    only = alone(edit, before, after)
    return only is not None and updated(before, only).plan not in (before.plan, only.plan)


def _parts(path: Path) -> list[str] | None:
    return _PARTS.get(str(path[2] if path[0] == "clusters" and len(path) > 3 else path[0]))


def _planned(parts: list[str], path: Path, platform: Platform) -> list[object]:
    if path[0] == "storage":
        plan = platform.plan
        return [*plan.storage, *plan.lustre, *plan.filestore, *((claims_of(own), own.disks) for own in plan.clusters)]
    read = attrgetter("key", *parts)
    return [read(cluster) for cluster in platform.plan.clusters if path[0] != "clusters" or cluster.key == path[1]]


def _of_reservation(found: ChangeClass, edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """A reservation's pools are replaced if its name or maintenance in their plans changes. Classes name it too."""
    if edit.path[0] != "reservations" or found != "replaces-pools":
        return found
    olds, news = pools_at(edit.path, before), pools_at(edit.path, after)
    if any(not stays(edit.path, olds[key], news[key]) for key in olds.keys() & news.keys()):
        return found
    classes = ["compute_classes"]
    return "nothing" if _planned(classes, edit.path, before) == _planned(classes, edit.path, after) else "in-place"


def _of_backups(found: ChangeClass, edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """RAM disks are replaced if the bucket of their backups gets another name."""
    if edit.path[0] != "storage" or edit.path[-1] not in ("name", "existing"):
        return found
    key, disks = str(edit.path[2]), (cluster.multi_tier_checkpointing for cluster in before.spec.clusters.values())
    used = any(own is not None and own.bucket == key for own in disks)
    return "deletes-work" if used and bucket_name(before.spec, key) != bucket_name(after.spec, key) else found


def _size(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Fewer slices or nodes are deleted. An autoscaled pool keeps its nodes until they are idle."""
    olds, news = pools_at(edit.path, before), pools_at(edit.path, after)
    size = attrgetter("node_count", "autoscaling")
    if olds.keys() == news.keys() and all(size(olds[key]) == size(new) for key, new in news.items()):
        return "nothing"
    fewer = any(
        new.node_count is not None and new.max_nodes < olds[key].max_nodes for key, new in news.items() if key in olds
    )
    if olds.keys() - news.keys() or fewer:
        return "deletes-nodes"
    return "creates" if news.keys() - olds.keys() else "in-place"


def _zones(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    olds, news = pools_at(edit.path, before), pools_at(edit.path, after)
    if any(pool.placement_topology for pool in olds.values()):
        return "replaces-pools"
    within = all(set(olds[key].zones) <= set(news[key].zones) for key in olds.keys() & news.keys())
    return "in-place" if within else "deletes-nodes"


def _system_machine(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Fewer zones can have the new machine family."""
    return "deletes-nodes" if _zones(edit, before, after) == "deletes-nodes" else "rolls-nodes"


def _gpu_machine(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    def gpus(platform: Platform) -> list[object]:
        machines = [(pool.gpu.machine, pool.local_ssds) for pool in pools_at(edit.path, platform).values() if pool.gpu]
        return [(machine.accelerator, machine.gpus, ssds) for machine, ssds in machines]

    return "rolls-nodes" if gpus(before) == gpus(after) else "replaces-pools"


def _larger_range(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "in-place" if IPv4Network(edit.before).subnet_of(IPv4Network(edit.after)) else "replaces-cluster"


def _control_plane_range(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "nothing" if edit.after is None else "replaces-cluster"


def _clusters(key: object, *sides: Platform) -> list[ClusterPlan]:
    return [cluster for side in sides for cluster in side.plan.clusters if cluster.key == key]


def _boot_disk_key(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """The defaults of auto-provisioning name the key, and the provider cannot change it there."""
    provisioned = any(cluster.auto_provisioning for cluster in _clusters(edit.path[1], before, after))
    return "replaces-cluster" if provisioned else "replaces-pools"


def _provisioning(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    encrypted = any(BOOT_DISK_KEY in cluster.keys for cluster in _clusters(edit.path[1], before, after))
    return "replaces-cluster" if encrypted else "in-place"


def _channel(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """A change to a channel with newer versions upgrades the cluster; without a channel, it keeps its version."""
    order = get_args(ReleaseChannel)  # from the freshest; the last is none
    return "rolls-nodes" if order.index(edit.after) < order.index(edit.before) else "in-place"


def _version(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    old, new = edit.before, edit.after
    lower = new is None or (old is not None and GkeVersion.parse(new) <= GkeVersion.parse(old))
    return "in-place" if lower else "rolls-nodes"


def _secrets_key(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    return "deletes" if SECRETS_KEY in deleted_keys(str(edit.path[1]), before, after) else "in-place"


def deleted_keys(cluster: str, before: Platform, after: Platform) -> set[str]:
    """The keys that tpuplane created for a cluster, and that the new description does not have."""
    old, new = ({use for own in _clusters(cluster, side) for use in own.own_keys} for side in (before, after))
    return old - new


def _named(own: _Owned, every: Callable[[ClusterPlan], Mapping[str, str]]) -> _Judge:
    """Judges by the names that a value gives to the clusters: a missing one is deleted, a new one created.

    `own` has the names of a value, `every` all names of a cluster with their owners, because another field can give
    the same name. A name with another owner is changed in place.
    """

    def judge(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
        existing, remaining = (
            {(cluster.key, name): owner for cluster in side.plan.clusters for name, owner in every(cluster).items()}
            for side in (before, after)
        )
        removed = set(own(edit.path, edit.before, before)) - set(own(edit.path, edit.after, before))
        new = set(own(edit.path, edit.after, after)) - set(own(edit.path, edit.before, after))
        if removed - remaining.keys():
            return "deletes-work"
        if any(existing[name] != remaining[name] for name in (removed | new) & existing.keys() & remaining.keys()):
            return "in-place"
        return "creates" if new - existing.keys() else "nothing"

    return judge


def _own_namespaces(path: Path, names: Any, platform: Platform) -> Iterable[_Name]:
    name = str(path[1])
    clusters = [name] if path[0] == "clusters" else platform.spec.clusters_of(name)
    return itertools.product(clusters, (name,) if names is None else names)


def _own_classes(path: Path, clusters: Any, platform: Platform) -> Iterable[_Name]:
    return itertools.product(platform.spec.clusters if clusters is None else clusters, [str(path[1])])


def _monitoring(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    if edit.after is not None:
        return "creates"
    return "deletes" if edit.before.frontend is None else "deletes-work"


def _workers(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Kueue collects no garbage in a worker that the manager no longer has."""
    return "deletes-work" if set(edit.before) - set(edit.after) else "in-place"


def _ray(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    if in_existing_cluster(edit.path, before) and "operator" not in (edit.before, edit.after):
        # The field only describes the cluster, and its add-ons decide which kinds Kueue manages by default.
        kueue = after.spec.clusters[str(edit.path[1])].addons.kueue
        return "in-place" if kueue is not None and kueue.integrations is None else "nothing"
    return "creates" if edit.before == "none" else "deletes-work"


def _pool(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """A pool with its former name keeps its node pools under another key, and an adopted one if it is the same."""
    new, (_, cluster, _, name) = edit.event == "new", edit.path
    own, other = (after, before) if new else (before, after)
    pools, at = pools_at(edit.path, own), (cluster, name)
    if not pools:
        return "nothing"
    renamed = at in before.renames if new else at in {(key[0], former) for key, former in before.renames.items()}
    return "in-place" if renamed or all(moved(edit.path, key, own, other) for key in pools) else edit.declared


def _adopted(edit: Difference, before: Platform, after: Platform) -> ChangeClass:
    """Other names are other resources. A property that is no longer kept can be one that replaces its resource."""
    if edit.path[2] != "adopted":
        olds, news = pools_at(edit.path, before), pools_at(edit.path, after)
        same = olds.keys() == news.keys() and all(stays(edit.path, olds[key], news[key]) for key in olds)
        return "in-place" if same else "replaces-pools"
    old, new = _clusters(edit.path[1], before, after)
    if old.name != new.name or not set(old.kept) <= set(new.kept):
        return "replaces-cluster"
    # An adopted cluster has no account of its own for the nodes.
    return "in-place" if old.service_account == new.service_account else "replaces-pools"


JUDGES: dict[str, _Judge] = {
    "boot_disk_key": _boot_disk_key,
    "bucket": bucket,
    "channel": _channel,
    "class_clusters": _named(_own_classes, lambda cluster: {own.name: "" for own in cluster.compute_classes}),
    "cluster_name": _adopted,
    "control_plane_range": _control_plane_range,
    "gpu_machine": _gpu_machine,
    "kept": released,
    "larger_range": _larger_range,
    "monitoring": _monitoring,
    "namespaces": _named(_own_namespaces, owners),
    "nodes": _size,
    "persistent_disk": persistent_disk,
    "pool": _pool,
    "pool_names": _adopted,
    "provisioning": _provisioning,
    "ray": _ray,
    "secrets_key": _secrets_key,
    "slices": _size,
    "system_machine": _system_machine,
    "version": _version,
    "workers": _workers,
    "zone": _zones,
    "zones": _zones,
}
