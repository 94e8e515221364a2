"""Finds a job by its name, of any kind, and the job that it is a part of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.status.cron_jobs import CronJob
from tpuplane.status.objects import Item, Job, Unreadable


class NoJob(Exception):
    """The job does not exist, several jobs have its name, or it cannot be read. The message has the choices."""


class Absent(NoJob):
    """No object of a kind that is read has the name of the job, or the kind is not read."""


class Found(NamedTuple):
    """A job that is not part of another one."""

    kind: str
    job: Any
    """The `Job`."""
    part: str = ""
    """The kind and name of the requested object if it is a part of the job; otherwise ""."""
    maker: CronJob | None = None
    """The CronJob that has made the job."""


Named = Callable[[str, str, str | None, str | None], Sequence[Item | Unreadable] | None]
"""Returns the objects by kind, path, name (None: all) and namespace (None: all); None if the user may not read them."""


def find(paths: Mapping[str, str], named: Named, name: str, namespace: str | None, kind: str | None) -> Found:
    """The job with this name, or the job that the object with this name is a part of.

    `paths` has the path of each kind that the cluster has. Raises `NoJob`.
    """
    if kind is not None and kind not in paths:
        raise Absent(f"no {kind} {name!r}; allowed kinds: {', '.join(paths)}, and those that `tpuplane status` shows")
    kinds = list(paths) if kind is None else [kind]
    answers = {job_kind: named(job_kind, paths[job_kind], name, namespace) for job_kind in kinds}
    candidates = [Found(job_kind, job) for job_kind, jobs in answers.items() for job in jobs or ()]
    for candidate in candidates:
        if isinstance(candidate.job, Unreadable):
            raise NoJob(str(candidate.job))
    # Without the parts of others: a RayJob and its submitter have the same name.
    uids = {candidate.job.uid for candidate in candidates}
    outermost = [found for found in candidates if not any(owner.uid in uids for owner in found.job.owners)]
    if not outermost:
        where = f"namespace {namespace}" if namespace else "any namespace"
        forbidden = ", ".join(job_kind for job_kind, jobs in answers.items() if jobs is None)
        remedy = f" that you may read (not {forbidden})" if forbidden else "; see: kubectl get pods --all-namespaces"
        there = "; name its namespace with -n" if forbidden and not namespace else ""
        raise Absent(f"no {kind or 'job'} {name!r} in {where}{remedy}{there}")
    found = _root(only(outermost), paths, named)
    if not isinstance(found.job, CronJob):
        return found
    jobs = named("Job", paths["Job"], None, found.job.namespace) or ()
    made = found.job.made([job for job in jobs if isinstance(job, Job)])
    return Found("Job", made[0], maker=found.job) if made else found


def in_status(status: Mapping[str, Any], name: str, namespace: str | None, kind: str | None) -> list[Found]:
    """The jobs with this name in `Objects.described`, also of kinds that are not read, such as groups of pods."""
    rows = [*status["outsideQueues"], *(row for queue in status["queues"] or () for row in queue["workloads"])]
    same = {
        row["uid"]: Found(row["kind"], Job.model_construct(namespace=row["namespace"], name=name, uid=row["uid"]))
        for row in rows
        if row["job"] == name and namespace in (None, row["namespace"]) and kind in (None, row["kind"])
    }
    return list(same.values())


def only(candidates: Sequence[Found]) -> Found:
    """The single one of these jobs. Raises `NoJob` if there are several."""
    first, *more = candidates
    if more:
        choices = ", ".join(f"{kind} {job.namespace}/{job.name}" for kind, job, *_ in candidates)
        raise NoJob(f"{first.job.name!r} is the name of several jobs: {choices}; name one by NAMESPACE/NAME and --kind")
    return first


def _root(found: Found, paths: Mapping[str, str], named: Named) -> Found:
    """The outermost owner that is a job."""
    part = f"{found.kind} {found.job.name}"
    while owner := next((owner for owner in found.job.owners if owner.kind in paths), None):
        above = named(owner.kind, paths[owner.kind], owner.name, found.job.namespace) or ()
        if not (same := [item for item in above if item.uid == owner.uid and isinstance(item, Item)]):
            break
        if isinstance(same[0], CronJob):
            return found._replace(maker=same[0])
        found = Found(owner.kind, same[0], part)
    return found
