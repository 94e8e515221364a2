"""What can be asked about: `clusters.central1.pools.trainer.diskType`, or `pools.trainer` where it is the only one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tpuplane.explain.reasons import Entry, Kind, entries
from tpuplane.spec import PlatformSpec
from tpuplane.tpu import nearest_names

# Paths that an error lists.
_SHOWN = 12


class UnknownPath(ValueError):
    """There is nothing at the path, or at several; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Target:
    """One thing of the plan."""

    kind: Kind
    cluster: str
    pool: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Its path in the user's file."""
        pool = self.pool
        within = {"pool": ("pools", pool), "gpuPool": ("gpuPools", pool), "systemPool": ("systemPool",), "cluster": ()}
        return ("clusters", self.cluster, *within[self.kind])

    @property
    def path(self) -> str:
        """The same as text."""
        return ".".join(self.parts)

    def is_called(self, name: str) -> bool:
        """Whether `name` is its path or its short path."""
        return bool(name) and name in (self.path, self.short)

    @property
    def short(self) -> str:
        """The path without the cluster; empty for the cluster itself."""
        return ".".join(self.parts[2:])


def targets(spec: PlatformSpec) -> Iterator[Target]:
    """Everything that can be asked about, in the order of the file."""
    for key, cluster in spec.clusters.items():
        yield Target("cluster", key)
        for pool in cluster.pools:
            yield Target("pool", key, pool)
        for pool in cluster.gpu_pools:
            yield Target("gpuPool", key, pool)
        if cluster.existing is None:
            yield Target("systemPool", key)


def paths(spec: PlatformSpec) -> tuple[str, ...]:
    """The full path of everything that can be asked about."""
    return tuple(target.path for target in targets(spec))


def resolve(spec: PlatformSpec, path: str) -> tuple[Target, Entry | None]:
    """The thing at a path, and the one value of it where the path names one. Raises `UnknownPath`."""
    everything = list(targets(spec))
    found = [target for target in everything if target.is_called(path)]
    entry = None
    if not found:
        front, _, field = path.rpartition(".")
        found = [target for target in everything if target.is_called(front)]
        if not found:
            raise UnknownPath(_nothing(path, everything))
        entry = _entry(found[0].kind, front, field)
    if len(found) > 1:
        choices = ", ".join(target.path for target in found)
        raise UnknownPath(f"{path!r} is in several clusters; allowed: {choices}")
    return found[0], entry


def _entry(kind: Kind, front: str, field: str) -> Entry:
    known = entries(kind)
    for entry in known:
        if field == entry.name or field in entry.also:
            return entry
    names = {name: entry.name for entry in known for name in (entry.name, *entry.also)}
    close = tuple(dict.fromkeys(names[name] for name in nearest_names(field, tuple(names))))
    hint = f"; did you mean {front}.{close[0]}?" if close else ""
    raise UnknownPath(f"{front} has no {field!r}; allowed: {', '.join(entry.name for entry in known)}{hint}")


def _nothing(path: str, everything: list[Target]) -> str:
    there = [target.path for target in everything]
    close = nearest_names(path, [*there, *dict.fromkeys(target.short for target in everything if target.short)])
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
    return f"there is nothing at {path!r}; allowed: {', '.join(there[:_SHOWN])}{more}{hint}"
