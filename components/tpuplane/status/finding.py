"""Finds a job by its name, of any kind, and the job that it is a part of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.status.objects import Item, Unreadable


class NoJob(Exception):
    """There is no such job, there are several, or it cannot be read. The message has the choices."""


class Found(NamedTuple):
    """A job that is not part of another one."""

    kind: str
    job: Any
    """The `Job`."""
    part: str = ""
    """The kind and name that were asked for, if they are a part of the job."""


Named = Callable[[str, str, str, str | None], Sequence[Item | Unreadable] | None]
"""The objects of a kind and path with a name, in a namespace or in all; None if the user may not read them."""


def find(paths: Mapping[str, str], named: Named, name: str, namespace: str | None, kind: str | None) -> Found:
    """The job with this name, or the job that the object with this name is a part of.

    `paths` has the path of each kind that the cluster has.

    Raises:
        NoJob: if there is no such job, there are several, or it cannot be read.

    """
    if kind is not None and kind not in paths:
        raise NoJob(f"the cluster has no kind {kind!r}; allowed: {', '.join(paths)}")
    answers = {it: named(it, path, name, namespace) for it, path in paths.items() if kind in (None, it)}
    every = [Found(it, job) for it, jobs in answers.items() for job in jobs or ()]
    for it in every:
        if isinstance(it.job, Unreadable):
            raise NoJob(str(it.job))
    # Without the parts of others: a RayJob and its submitter have the same name.
    uids = {it.job.uid for it in every}
    found = [it for it in every if not any(owner.uid in uids for owner in it.job.owners)]
    if not found:
        where = f"namespace {namespace}" if namespace else "any namespace"
        forbidden = ", ".join(it for it, jobs in answers.items() if jobs is None)
        remedy = f" that you may read (not {forbidden})" if forbidden else "; see: kubectl get pods --all-namespaces"
        there = "; name its namespace with -n" if forbidden and not namespace else ""
        raise NoJob(f"no {kind or 'job'} {name!r} in {where}{remedy}{there}")
    if len(found) > 1:
        choices = ", ".join(f"{it.kind} {it.job.namespace}/{it.job.name}" for it in found)
        raise NoJob(f"{name!r} is the name of several jobs: {choices}; name one by NAMESPACE/NAME and --kind")
    return _root(found[0], paths, named)


def _root(found: Found, paths: Mapping[str, str], named: Named) -> Found:
    """The outermost owner that is a job."""
    part = f"{found.kind} {found.job.name}"
    while owner := next((it for it in found.job.owners if it.kind in paths), None):
        above = named(owner.kind, paths[owner.kind], owner.name, found.job.namespace) or ()
        same = [it for it in above if it.uid == owner.uid and isinstance(it, Item)]
        if not same:
            break
        found = Found(owner.kind, same[0], part)
    return found
