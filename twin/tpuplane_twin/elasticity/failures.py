"""What is tried again: scale-ups that failed, and the repair of nodes that are missing or broken. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.gcp.backend import Numbers

_BACKOFF_SECONDS = (300.0, 1800.0)
"""GKE's back-off after a failed scale-up: it doubles each time, up to the second value."""
_CHECK_SECONDS = 10.0
"""The interval of attempts while a pool waits for capacity."""
_REPAIR_SECONDS = 60.0
"""The interval of attempts to repair a pool."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """A pool's next possible scale-up, and the current back-off."""

    until: float
    pause: float
    pool: str
    cause: str


class Failures:
    """Failures by the pool's key; for auto-provisioned pools and compute classes also by signature."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}
        self._waits: dict[str, tuple[float, float]] = {}

    def failed(self, group: Group, now: float, cause: str) -> None:
        """A pool could not grow. If its class waits for capacity, attempts continue until the waiting time ends."""
        _, end = self._waits.setdefault(group.signature, (now, now + group.wait_seconds))
        for key in _keys(group):
            if now < end:
                self._failures[key] = _Failure(min(now + _CHECK_SECONDS, end), 0.0, group.name, cause)
                continue
            last = self._failures.get(key)
            pause = min(2 * last.pause, _BACKOFF_SECONDS[1]) if last and last.pause else _BACKOFF_SECONDS[0]
            self._failures[key] = _Failure(now + pause, pause, group.name, cause)
        if now >= end:
            del self._waits[group.signature]

    def succeeded(self, group: Group) -> None:
        """A pool has grown."""
        self._waits.pop(group.signature, None)
        for key in _keys(group):
            self._failures.pop(key, None)

    def backoff(self, now: float) -> frozenset[str]:
        """The keys and signatures in back-off."""
        return frozenset(key for key, failure in self._failures.items() if failure.until > now)

    def report(self, now: float) -> list[dict[str, Any]]:
        """The pools in back-off, with the remaining seconds and the cause."""
        left = {fail.pool: fail for fail in self._failures.values() if fail.until > now}
        return [{"pool": pool, "seconds": round(fail.until - now), "cause": fail.cause} for pool, fail in left.items()]

    def awaited(self, now: float) -> frozenset[str]:
        """The signatures that wait for capacity."""
        return frozenset(key for key, (_, end) in self._waits.items() if now < end)

    def dues(self) -> Iterator[float]:
        """The times of the next attempts."""
        yield from (failure.until for failure in self._failures.values())


def _keys(group: Group) -> tuple[str, ...]:
    made = group.pool.autoprovisioned or group.compute_class
    return (group.key, group.signature) if made else (group.key,)


@dataclass(frozen=True, slots=True)
class Kept:
    """The nodes of a pool that are created again, and whether GKE also repairs those that are not Ready."""

    numbers: Numbers
    auto_repair: bool


def lost(pools: Mapping[str, Kept], nodes: Iterable[Node]) -> dict[str, Numbers]:
    """The nodes to create again, by their pool's resource name: missing ones, and broken ones with auto-repair."""
    there = {(node.pool, node.place): node.broken for node in nodes}
    found: dict[str, Numbers] = {}
    for key, kept in pools.items():
        name = key.rpartition("/")[2]
        for zone, wanted in kept.numbers.items():
            broken = [(number, there.get((name, f"{zone}/{number}"))) for number in wanted]
            numbers = [number for number, state in broken if state is None or (state and kept.auto_repair)]
            if numbers:
                found.setdefault(key, {})[zone] = numbers
    return found


class Repairs:
    """When to repair each pool with lost nodes, in seconds of the caller's clock."""

    def __init__(self, patience: Callable[[], float]) -> None:
        """`patience` is how long a node must be lost: nodes that are being created or deleted are so for a moment."""
        self._patience = patience
        self._due: dict[str, float] = {}

    def ripe(self, pools: Collection[str], now: float) -> list[str]:
        """The pools to repair now; `pools` are all with lost nodes."""
        self._due = {key: self._due.get(key, now + self._patience()) for key in pools}
        return [key for key, due in self._due.items() if due <= now]

    def done(self, key: str) -> None:
        """A pool was repaired."""
        self._due.pop(key, None)

    def failed(self, key: str, now: float) -> None:
        """A repair failed; the next follows after a pause."""
        self._due[key] = now + _REPAIR_SECONDS

    def dues(self) -> Iterable[float]:
        """The times of the next repairs."""
        return self._due.values()
