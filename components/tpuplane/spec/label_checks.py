"""Labels of Google Cloud: no more of one resource than it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tpuplane.labels import PLATFORM_LABEL, POOL_LABEL
from tpuplane.spec.core.errors import Mistake, Path
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec

_MOST = 64
_OWN = frozenset({PLATFORM_LABEL, POOL_LABEL})


def check_label_count(at: Path, labels: Iterable[str]) -> Iterator[Mistake]:
    """Refuse more labels than a resource can have: these, and those that mark its platform and its pool."""
    count = len(_OWN.union(labels))
    if count > _MOST:
        yield broken("labels", at, value=count)


def check_labels(spec: PlatformSpec) -> Iterator[Mistake]:
    """Refuse more labels than a resource can have, where they become too many."""
    shared = _OWN | set(spec.labels)
    if len(shared) > _MOST:
        yield broken("labels", ("labels",), value=len(shared))
        return
    for key, cluster in spec.clusters.items():
        labels, at = shared | set(cluster.labels), ("clusters", key)
        if len(labels) > _MOST:
            yield broken("labels", (*at, "labels"), value=len(labels))
            continue
        for path, pool in cluster.all_pools.items():
            yield from check_label_count((*at, *path, "labels"), labels | set(pool.labels))
