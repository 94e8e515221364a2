"""What is tried again: scale-ups that failed, and the repair of nodes that are missing or broken. Pure."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from tpuplane.data_files import read_data

from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.objects import Node
from tpuplane_twin.gcp.backend import Numbers
from tpuplane_twin.gcp.locations import region_of

_CHECK_SECONDS = 10.0
"""The interval of attempts while a pool waits for capacity."""
_REPAIR_SECONDS = 60.0
"""The interval of attempts to repair a pool."""
_data = cache(partial(read_data, "tpuplane_twin.elasticity", "backoff"))


@dataclass(frozen=True, slots=True)
class _Failure:
    """The next possible scale-up, and the current back-off: 0 while a pool waits for capacity."""

    until: float
    pause: float
    pool: str
    cause: str
    first: float = 0.0
    """The first failure since the back-off was short."""

    def next(self, limits: Mapping[str, Any], last: "_Failure | None") -> "_Failure":
        """This failure, at `until`, with its back-off after the `last` one."""
        now, pause, first = self.until, float(limits["first"]), self.until
        if last and last.pause:
            since = {"first": last.first, "failure": last.until - last.pause, "end": last.until}[limits["from"]]
            if now - since < limits["reset"]:
                pause, first = min(2 * last.pause, limits["most"]), last.first
        until = min(now + pause, first + limits["reset"]) if limits["from"] == "first" else now + pause
        return replace(self, until=until, pause=pause, first=first)


class Failures:
    """Failures by what they exclude: see `scopes`."""

    def __init__(self, real: Callable[[float], float] = float, stockout_scope: str = "zone") -> None:
        """`real` converts GKE's seconds of waiting for capacity into those of the caller's clock.

        A stockout suspends a priority of a compute class in its zone, or in its region.
        """
        self._real = real
        self._wide = stockout_scope == "region"
        self._failures: dict[str, _Failure] = {}
        self._waits: dict[str, float] = {}

    def failed(
        self, group: Group, zones: Collection[str], now: float, cause: str, *, rule: str = "", waits: bool = True
    ) -> dict[str, float]:
        """A pool could not grow in `zones`, or only in those that the cause names. `rule` is its priority of a class.

        The result has the end of the back-off of each of its `scopes`. It is empty while the pool waits for capacity
        (if it `waits`): attempts continue until the waiting time ends.
        """
        end = self._waits.setdefault(group.signature, now + self._real(group.wait_seconds))
        if waits and now < end:
            self._failures[group.signature] = _Failure(min(now + _CHECK_SECONDS, end), 0.0, group.name, cause)
            return {}
        del self._waits[group.signature]
        ends: dict[str, float] = {}
        for zone in [zone for zone in zones if re.search(rf"\b{zone}\b", cause)] or zones:
            for scope, key in self._excluded(group, zone, cause.lower(), rule):
                limits, last = _data()["scopes"][scope], self._failures.get(key)
                if not last or last.until <= now or limits.get("repeats"):
                    self._failures[key] = _Failure(now, 0.0, group.name, cause).next(limits, last)
                if scope == "rule":
                    self._extend(rule.rpartition("/")[0], now, self._failures[key].until)
                ends[key] = self._failures[key].until
        return ends

    def _excluded(self, group: Group, zone: str, cause: str, rule: str) -> Iterator[tuple[str, str]]:
        """The scopes and keys that a failure of the pool in a zone excludes."""
        quota, stockout = (any(text in cause for text in _data()[kind]) for kind in ("quota", "stockout"))
        reserved, region = group.pool.capacity == "reservation", region_of(zone)
        yield "pool", f"{group.key}/{zone}"
        if reserved or group.pool.autoprovisioned:
            yield "reservation" if reserved else "pool", group.signature
        if quota or (stockout and not reserved):
            if group.pool.autoprovisioned:
                place = region if quota else zone
                yield "resource", f"{place}/{group.pool.machine_type}/{group.pool.capacity}"
            if rule:
                yield "rule", f"{rule}/{region if quota or self._wide else zone}"

    def _extend(self, name: str, now: float, until: float) -> None:
        """The back-offs of all priorities of a class end together."""
        for key, failure in self._failures.items():
            if failure.until > now and re.match(rf"{re.escape(name)}/\d+/", key):
                self._failures[key] = replace(failure, until=until)

    def succeeded(self, group: Group, zones: Iterable[str]) -> None:
        """A pool has grown in `zones`. The back-off of its priority does not end with that."""
        self._waits.pop(group.signature, None)
        for zone in zones:
            for key in scopes(group, zone, rule=""):
                self._failures.pop(key, None)

    def unneeded(self) -> None:
        """No pod waits: the next failure begins a new waiting time."""
        self._waits.clear()

    def backoff(self, now: float) -> frozenset[str]:
        """The keys of `scopes` in back-off."""
        return frozenset(key for key, failure in self._failures.items() if failure.until > now)

    def report(self, now: float) -> list[dict[str, Any]]:
        """The pools in back-off, with the remaining seconds and the cause."""
        longest = sorted(self._failures.values(), key=lambda fail: fail.until)
        left = {fail.pool: fail for fail in longest if fail.until > now}
        return [{"pool": pool, "seconds": round(fail.until - now), "cause": fail.cause} for pool, fail in left.items()]

    def awaited(self, now: float) -> frozenset[str]:
        """The signatures that wait for capacity."""
        return frozenset(key for key, end in self._waits.items() if now < end)

    def dues(self) -> Iterator[float]:
        """The times of the next attempts."""
        yield from (failure.until for failure in self._failures.values())


def scopes(group: Group, zone: str, rule: str) -> Iterator[str]:
    """The keys whose back-off excludes new nodes of the pool in a zone; `rule` is its priority of a class."""
    yield from (f"{group.key}/{zone}", group.signature)
    models = ("spot", "on-demand") if group.pool.capacity == "spot" else (group.pool.capacity,)
    for place in (zone, region_of(zone)):
        if group.pool.autoprovisioned:
            yield from (f"{place}/{group.pool.machine_type}/{model}" for model in models)
        if rule:
            yield f"{rule}/{place}"


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
    """When to repair the lost nodes of each pool, in seconds of the caller's clock."""

    def __init__(self, patience: Callable[[], float]) -> None:
        """`patience` is how long a node must be lost: nodes that are being created or deleted are so for a moment."""
        self._patience = patience
        self._due: dict[tuple[str, str, int], float] = {}

    def ripe(self, pools: Mapping[str, Numbers], now: float) -> list[str]:
        """The pools with a node to repair now; `pools` has all lost nodes."""
        nodes = [(key, zone, number) for key, zones in pools.items() for zone, own in zones.items() for number in own]
        self._due = {node: self._due.get(node, now + self._patience()) for node in nodes}
        return list(dict.fromkeys(key for (key, _, _), due in self._due.items() if due <= now))

    def done(self, pool: str) -> None:
        """A pool was repaired."""
        self._due = {node: due for node, due in self._due.items() if node[0] != pool}

    def failed(self, pool: str, now: float) -> None:
        """A repair failed; the next follows after a pause."""
        self._due |= {node: now + _REPAIR_SECONDS for node in self._due if node[0] == pool}

    def dues(self) -> Iterable[float]:
        """The times of the next repairs."""
        return self._due.values()
