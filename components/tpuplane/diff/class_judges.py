"""The existing node pools that a change to a class reserves for its pods."""

from tpuplane.diff.node_pools import Platform, pools_at
from tpuplane.spec.core.errors import Path


def tainted(path: Path, before: Platform, after: Platform) -> list[str]:
    """The existing node pools that the field at `path` reserves for the pods of a class."""
    if path[0] != "classes" and path[-1] != "computeClass":
        return []
    olds, news = pools_at(path, before), pools_at(path, after)
    both = ((olds[key].compute_class, news[key]) for key in sorted(olds.keys() & news.keys()))
    reserved = [new for old, new in both if new.compute_class not in (None, old)]
    return [pool.name for pool in reserved if path[0] != "classes" or pool.compute_class == path[1]]


def tainting(path: Path, before: Platform, after: Platform) -> str:
    """A sentence if pods of no class, or of another one, can no longer start on existing node pools."""
    if not (names := tainted(path, before, after)):
        return ""
    return f" Outside of queues, pods that do not select the class no longer start on {', '.join(names)}."
