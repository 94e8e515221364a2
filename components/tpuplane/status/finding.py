"""Finds a job by its name, of any kind, and the job that it is a part of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tpuplane.status.objects import Object


class NoJob(Exception):
    """There is no such job, or there are several. The message has the choices."""


class Found(NamedTuple):
    """A job that is not part of another one."""

    kind: str
    job: Object
    part: str = ""
    """The kind and name that were asked for, if they are a part of the job."""

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.job["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.job["metadata"]["name"])


Named = Callable[[str, str, str | None], Sequence[Object] | None]
"""The objects of a path with a name, in a namespace or in all; None if the user may not read them."""


def find(paths: Mapping[str, str], named: Named, name: str, namespace: str | None, kind: str | None) -> Found:
    """The job with this name, or the job that the object with this name is a part of.

    `paths` has the path of each kind that the cluster has.

    Raises:
        NoJob: if there is no such job, or there are several.

    """
    if kind is not None and kind not in paths:
        raise NoJob(f"the cluster has no kind {kind!r}; allowed: {', '.join(paths)}")
    answers = {it: named(path, name, namespace) for it, path in paths.items() if kind in (None, it)}
    found = _outermost([Found(it, job) for it, jobs in answers.items() for job in jobs or ()])
    if not found:
        raise NoJob(_none(name, namespace, kind, [it for it, jobs in answers.items() if jobs is None]))
    if len(found) > 1:
        choices = ", ".join(f"{it.kind} {it.namespace}/{it.name}" for it in found)
        raise NoJob(f"{name!r} is the name of several jobs: {choices}; name one by NAMESPACE/NAME and --kind")
    return _root(found[0], paths, named)


def _none(name: str, namespace: str | None, kind: str | None, forbidden: Sequence[str]) -> str:
    where = f"namespace {namespace}" if namespace else "any namespace"
    if forbidden:
        remedy = "" if namespace else "; name its namespace with -n"
        return f"no {kind or 'job'} {name!r} in {where} that you may read (not {', '.join(forbidden)}){remedy}"
    return f"no {kind or 'job'} {name!r} in {where}; see: kubectl get pods --all-namespaces"


def _root(found: Found, paths: Mapping[str, str], named: Named) -> Found:
    """The outermost owner that is a job."""
    part = ""
    while owner := next((it for it in _owners(found.job) if it["kind"] in paths), None):
        above = [
            it for it in named(paths[owner["kind"]], owner["name"], found.namespace) or () if _uid(it) == owner["uid"]
        ]
        if not above:
            break
        part = part or f"{found.kind} {found.name}"
        found = Found(owner["kind"], above[0], part)
    return found


def _outermost(found: Sequence[Found]) -> list[Found]:
    """Without the parts of others: a RayJob and its submitter have the same name."""
    uids = {_uid(it.job) for it in found}
    return [it for it in found if not any(owner["uid"] in uids for owner in _owners(it.job))]


def _owners(job: Object) -> Iterable[Mapping[str, Any]]:
    return job["metadata"].get("ownerReferences") or ()


def _uid(job: Object) -> str:
    return str(job["metadata"].get("uid", ""))
