"""Changes that the engine or the API server rejects, although the description is right, and how to make them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from tpuplane.diff.compare import value_at
from tpuplane.diff.judges import deleted_keys
from tpuplane.diff.namespaces import owners
from tpuplane.diff.node_pools import WHOLE, NodePoolChange, Platform, pools_at
from tpuplane.plan import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY
from tpuplane.spec.addons.checks import installed, same_objects
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.file_system_checks import FileSystem, file_systems
from tpuplane.spec.file_systems import can_have

_PROTECTED: dict[Path, str] = {
    ("images",): "images of the repository",
    ("storage", "buckets"): "objects of the bucket",
    ("storage", "lustre"): "files of the instance",
    ("storage", "filestore"): "files of the instance",
}
_PLACEMENT = "placementPolicy"
_END = "Let that work end, or delete it, before `pulumi up`."
_UNPROTECT = (
    "First run the `pulumi state unprotect` command that `pulumi preview` prints, or set deletionProtection of the "
    "cluster to false, with no other change, and run `pulumi up`. Then make this change, and update again."
)
_FIELDS = {SECRETS_KEY: "secretsEncryption", BOOT_DISK_KEY: "bootDiskEncryption"}


@dataclass(frozen=True, slots=True)
class Rejection:
    """A change that an update cannot make at once, or not while work runs."""

    path: Path
    why: str
    remedy: str
    cluster: str = ""
    """For work that holds quota: the key of the cluster, else empty."""
    queue: str = ""
    flavors: tuple[str, ...] = ()
    """The flavors that the cluster queue loses."""
    held_by: tuple[str, ...] | None = None
    """The jobs that hold quota of these flavors now. None if the cluster was not read."""

    def __str__(self) -> str:
        held = "" if self.held_by is None else f" Held by: {', '.join(self.held_by) or 'no job now'}."
        return f"{self.why}. {self.remedy}{held}"


def rejections(changes: Iterable[tuple[Path, str]], before: Platform, after: Platform) -> Iterator[Rejection]:
    """The protection of clusters, keys and work from these changes, each with its class."""
    replaced: set[str] = set()
    changes = tuple(changes)
    deleted = {path[:3] for path, kind in changes if kind == "deletes"}
    olds, news = file_systems(before.spec), file_systems(after.spec)
    for path, kind in changes:
        if path[3:] == ("capacityGib",) and path[:3] not in deleted:
            yield from _of_capacity(path, olds[path[:3]], news[path[:3]])
        if kind in ("deletes", "deletes-work") and (protected := _protected(path, before)):
            own, what = protected
            why = f"Pulumi rejects this: deletionProtection: true protects the {what} {own[-1]}"
            yield Rejection(path, why, _first(f"{dotted(own)}.deletionProtection"))
        if kind != "nothing" and path[4:] in (("topology",), ("acceleratorTopologyMode",)):
            yield from _of_placement(path, after)
        for cluster in before.plan.clusters:
            if path[0] == "clusters" and path[1] != cluster.key:
                continue
            if kind in WHOLE:
                replaced.add(cluster.key)
            # By the last update, because the engine reads its state, not the new description.
            if cluster.existing is None and cluster.deletion_protection:
                yield from _of_protection(path, kind, cluster, before, after)
    later = {cluster.key: cluster for cluster in after.plan.clusters}
    for cluster in before.plan.clusters:
        if cluster.key not in replaced and cluster.key in later:
            yield from _of_quota(cluster, later[cluster.key])
            yield from _of_queues(cluster, later[cluster.key])
            yield from _of_addons(cluster.key, before, after)


def of_node_pools(
    changes: Iterable[tuple[Path, str, Iterable[NodePoolChange]]], rejected: Collection[Path]
) -> Iterator[Rejection]:
    """The protection of adopted node pools from changes of other paths than the already rejected ones."""
    for path, _, node_pools in changes:
        clusters = sorted({pool.cluster for pool in node_pools if pool.protected})
        if clusters and path not in rejected:
            owner = f"deletionProtection: true of {' and '.join(clusters)}"
            why = f"Pulumi rejects this: {owner} protects adopted node pools"
            yield Rejection(path, why, _UNPROTECT)


def _of_placement(path: Path, after: Platform) -> Iterator[Rejection]:
    """Adopted slices whose placement stays as it is. Single-host slices have none."""
    pools = (pool for pool in pools_at(path, after).values() if pool.imported and pool.placement_topology is not None)
    if names := [pool.name for pool in pools if _PLACEMENT in pool.kept]:
        kept = f"`{_PLACEMENT}` is in adopted.ignoreChanges of {dotted(path[:4])}"
        why = f"The update would keep the former placement of {', '.join(names)}, because {kept}"
        remedy = f"Describe the new slices as another pool, or remove {_PLACEMENT} from the list with this change."
        yield Rejection(path, why, remedy)


def _protected(path: Path, before: Platform) -> tuple[Path, str] | None:
    """The path and the kind of a repository, bucket or file system that is protected since the last update."""
    at = path[:2] if path[0] == "images" else path[:3]
    if (what := _PROTECTED.get(at[:-1])) is None:
        return None
    own = value_at(before.spec, at)
    return (at, what) if own.deletion_protection and not getattr(own, "existing", None) else None


def _first(field: str) -> str:
    first = f"First set {field}: false, with no other change, and run `pulumi up`"
    return f"{first}; then make this change and update again."


def _of_capacity(path: Path, old: FileSystem, new: FileSystem) -> Iterator[Rejection]:
    """An instance that shrinks although its service does not allow it, or leaves the range of its capacity."""
    has = old.capacity_gib
    if not can_have(new.capacity_gib, old.ranges, has, shrinks=old.shrinks):
        (same,) = (steps for steps in old.ranges if has in steps)
        can = f"{'change' if old.shrinks else 'only grow'}, to {same[-1]} GiB at most"
        why = f"Google rejects this: the instance {path[2]} has {has} GiB and can {can}"
        remedy = "For another capacity, declare a second instance, copy the files, and remove this one."
        yield Rejection(path, why, remedy)


def _of_protection(
    path: Path, kind: str, cluster: ClusterPlan, before: Platform, after: Platform
) -> Iterator[Rejection]:
    field = f"clusters.{cluster.key}.deletionProtection"
    remedy = _first(field)
    if kind in WHOLE:
        why = f"Pulumi rejects this: {cluster.name} has deletionProtection: true, and the change deletes it"
        yield Rejection(path, why, remedy)
    elif path[2:3] == ("security",) and (keys := deleted_keys(cluster.key, before, after)):
        own = " and ".join(f"`{key}`" for key in sorted(keys) if _FIELDS[key] in path)
        protection = f"deletionProtection: true of {cluster.name}"
        why = f"Pulumi rejects this: it deletes the key {own}, which {protection} protects"
        if own:
            yield Rejection(path, why, f"{remedy} Finally, set {field}: true.")


def _of_addons(key: str, before: Platform, after: Platform) -> Iterator[Rejection]:
    """Operators under another name, which Pulumi creates before it deletes the former ones."""
    olds, news = ({own.key: own for own in installed(side.spec.clusters[key])} for side in (before, after))
    for old, new in product(olds.values(), news.values()):
        if old.key not in news and new.key not in olds and (both := same_objects(old, new)):
            why = f"Pulumi rejects this: it creates {new.key} before it deletes {old.key}, and both have {both}"
            remedy = f"First remove {old.key}, and run `pulumi up`; then add {new.key} and update again."
            yield Rejection(("clusters", key, "addons"), why, remedy)


def _of_quota(cluster: ClusterPlan, new: ClusterPlan) -> Iterator[Rejection]:
    """Queues that lose a flavor, whose work the policy `tpuplane-flavors-in-use` protects.

    Also of replaced pools: Pulumi updates the queue before GKE has deleted their nodes and Kueue has evicted the work.
    """
    if cluster.queues is None or new.queues is None:
        return
    later = {queue.name: {quota.flavor for quota in queue.flavors} for queue in new.queues.cluster_queues}
    for queue in cluster.queues.cluster_queues:
        kept = later.get(queue.name)
        lost = tuple(quota.flavor for quota in queue.flavors if kept is not None and quota.flavor not in kept)
        if lost:
            why = (
                f"The API server rejects this while work in the queue {queue.name} of {cluster.name} holds quota of "
                f"{', '.join(lost)}, which the queue loses (`tpuplane-flavors-in-use`)"
            )
            yield Rejection(("teams", queue.team), why, _END, cluster.key, queue.name, lost)


def _of_queues(cluster: ClusterPlan, new: ClusterPlan) -> Iterator[Rejection]:
    """Queues that are deleted although namespaces with their work remain. Kueue keeps them until that work ends."""
    if cluster.queues is None:
        return
    later = {queue.name for queue in new.queues.cluster_queues} if new.queues else set()
    for queue in cluster.queues.cluster_queues:
        remaining = sorted(set(queue.namespaces) & owners(new).keys())
        if queue.name not in later and remaining:
            names = ", ".join(remaining)
            why = (
                f"The update deletes the queue {queue.name} of {cluster.name} and keeps the work in {names}. It waits "
                "ten minutes and fails while that work holds quota of the queue"
            )
            flavors = tuple(quota.flavor for quota in queue.flavors)
            yield Rejection(("teams", queue.team), why, _END, cluster.key, queue.name, flavors)
