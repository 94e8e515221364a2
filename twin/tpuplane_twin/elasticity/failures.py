"""Failed scale-ups: which pools are left alone for how long, and for which capacity is waited. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tpuplane_twin.elasticity.groups import Group

_BACKOFF_SECONDS = (300.0, 1800.0)
"""GKE's: after a failed scale-up, doubled each time up to the second."""
_CHECK_SECONDS = 10.0
"""How often capacity that is waited for is asked for again."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """When a pool may be grown again, and for how long it is left alone next time."""

    until: float
    pause: float
    pool: str
    cause: str


class Failures:
    """By a pool's key; pools that are made at need, and those of compute classes, also by their signature."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}
        self._waits: dict[str, tuple[float, float]] = {}

    def failed(self, group: Group, now: float, cause: str) -> None:
        """A pool could not grow. Where its class waits for capacity, it is tried again until that time is over."""
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
        """The keys and signatures that are left alone."""
        return frozenset(key for key, failure in self._failures.items() if failure.until > now)

    def report(self, now: float) -> list[dict[str, Any]]:
        """The pools that are left alone, for how many seconds more, and why."""
        left = {it.pool: it for it in self._failures.values() if it.until > now}
        return [{"pool": it.pool, "seconds": round(it.until - now), "cause": it.cause} for it in left.values()]

    def awaited(self, now: float) -> frozenset[str]:
        """The signatures for which capacity is waited."""
        return frozenset(key for key, (_, end) in self._waits.items() if now < end)

    def dues(self) -> Iterator[float]:
        """When something may be tried again."""
        yield from (failure.until for failure in self._failures.values())


def _keys(group: Group) -> tuple[str, ...]:
    made = group.autoprovisioned or group.compute_class
    return (group.key, group.signature) if made else (group.key,)
