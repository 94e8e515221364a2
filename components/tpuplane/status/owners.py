"""The job of each object: its outermost owner, by the uids in owner references. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Item, Job, Reference

_OF_SET = "leaderworkerset.sigs.k8s.io/name"
_NO_UIDS: frozenset[str] = frozenset()


class Owners:
    """The jobs and pods of a cluster, and their owners."""

    def __init__(self, objects: Mapping[str, Iterable[Item]]) -> None:
        """`objects` are the jobs and pods by kind."""
        sets = objects.get("LeaderWorkerSet", ())
        self._sets = {(own.namespace, own.name): own for own in sets}
        self._known = {item.uid: (kind, item) for kind, items in objects.items() for item in items if item.uid}
        self._members: dict[str, set[str]] = defaultdict(set)
        for uid, (kind, item) in self._known.items():
            self._members[self.job(kind, item).uid].add(uid)

    def job(self, kind: str, item: Item) -> Reference:
        """The outermost owner that was read, or the object itself; for a pod, also an owner that was not read."""
        above, passed = self._above(item), {item.uid}
        while above.uid in self._known and above.uid not in passed:
            kind, item = self._known[above.uid]
            above, passed = self._above(item), {*passed, item.uid}
        if kind == "Pod" and above.uid not in passed and above.name:
            return above
        return Reference(kind=kind, namespace=item.namespace, name=item.name, uid=item.uid)

    def uids(self, item: Item) -> list[str]:
        """The uids of an object and of its owners, the nearest first, and last that of an owner that was not read."""
        found: list[str] = []
        above: Item | None = item
        while above is not None and above.uid not in found:
            found.append(above.uid)
            last = self._above(above).uid
            above = self._known.get(last, ("", None))[1]
        return [*found, last]

    def owner(self, item: Item) -> Item | None:
        """The owner of an object, by uid; None if it was not read."""
        return self._known.get(self._above(item).uid, ("", None))[1]

    def named(self, kind: str, namespace: str, name: str) -> Item | None:
        """The object with this name; None if it was not read."""
        wanted = (kind, namespace, name)
        return next((item for own, item in self._known.values() if (own, item.namespace, item.name) == wanted), None)

    def members(self, uid: str) -> Iterable[str]:
        """The uids of the job with this uid, and of its parts."""
        return self._members.get(uid, _NO_UIDS)

    def suspended(self, uid: str) -> bool:
        """Whether the job with this uid is suspended."""
        _, job = self._known.get(uid, ("", None))
        return isinstance(job, Job) and job.suspend

    def of_workload(self, workload: Workload) -> Reference | None:
        """The one job of all owners of a workload; None if there are several or none, or plain pods of a group.

        Kueue keeps the deleted pods of a LeaderWorkerSet as owners.
        """
        owners = [owner for owner in workload.owners if owner.kind != "Pod"] or workload.owners
        jobs = {self.job(*self._known[owner.uid]) if owner.uid in self._known else owner for owner in owners}
        job = jobs.pop() if len(jobs) == 1 else None
        grouped = workload.annotations.get("kueue.x-k8s.io/is-group-workload") == "true"
        return None if job and job.kind == "Pod" and grouped else job

    def _above(self, item: Item) -> Reference:
        """The owner of an object: its controller if it has several.

        The workers of a LeaderWorkerSet remain for a while after the leader that owns them.
        """
        owner = next((owner for owner in item.owners if owner.controller), item.owner)
        own = self._sets.get((item.namespace, item.labels.get(_OF_SET, "")))
        if own is None or owner.uid in self._known:
            return owner
        return Reference(kind="LeaderWorkerSet", namespace=own.namespace, name=own.name, uid=own.uid)
