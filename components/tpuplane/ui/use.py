"""The use of chips over time since the page started: held and waiting by team, idle, and not usable."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

_SAMPLES = 240  # points of the chart at most; with more, every second one is dropped
_NAMED = 8  # teams of the chart; the others are one
_FIRST_SECONDS = 5.0  # between two points in the beginning
OTHERS = "others"

Row = Mapping[str, Any]
_Chips = Counter[tuple[str, str]]
"""Chips by use (held, waiting, idle, down) and team ("" for the last two)."""


class Use:
    """Counts chip-hours between looks at the clusters."""

    def __init__(self) -> None:
        self._since = datetime.now(UTC)
        self._at = time.monotonic()
        self._now: _Chips = Counter()
        self._hours: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._points: list[tuple[str, _Chips]] = []
        self._pause = _FIRST_SECONDS
        self._last = float("-inf")

    def look(self, clusters: Iterable[Row], now: float | None = None) -> None:
        """Count the use of the clusters since the last look, and look again. A cluster with an error is not counted.

        `now` is in seconds of a monotonic clock; the default is now.
        """
        now = time.monotonic() if now is None else now
        hours = (now - self._at) / 3600
        for key, chips in self._now.items():
            self._hours[key] += chips * hours
        self._at = now
        self._now = _chips(cluster for cluster in clusters if not cluster["unreachable"])
        if now - self._last >= self._pause:
            self._last = now
            self._points.append((datetime.now(UTC).isoformat(timespec="seconds"), self._now))
            if len(self._points) > _SAMPLES:
                self._points, self._pause = self._points[::2], 2 * self._pause

    def described(self) -> dict[str, Any]:
        """Chip-hours of each team and in all, and points of (time, chips held by each team, idle, waiting)."""
        hours = defaultdict(float, self._hours)
        by_team: defaultdict[str, float] = defaultdict(float)
        for (kind, team), chips in (*hours.items(), *self._now.items()):
            if kind in ("held", "waiting"):
                by_team[team] += chips
        teams = sorted(by_team, key=lambda team: (-by_team[team], team))
        named, rest = teams[:_NAMED], teams[_NAMED:]
        groups = [*([team] for team in named), *([rest] if rest else [])]
        return {
            "since": self._since.isoformat(timespec="seconds"),
            "teams": [
                {"team": team, **{kind: round(hours[kind, team], 2) for kind in ("held", "waiting")}} for team in teams
            ],
            "idle": round(hours["idle", ""], 2),
            "down": round(hours["down", ""], 2),
            "named": [*named, *([OTHERS] if rest else [])],
            "points": [
                {
                    "time": at,
                    "held": [sum(chips["held", team] for team in those) for those in groups],
                    "idle": chips["idle", ""],
                    "waiting": sum(number for (kind, _), number in chips.items() if kind == "waiting"),
                }
                for at, chips in self._points
            ],
        }


def _chips(clusters: Iterable[Row]) -> _Chips:
    """The chips of hosts, and those that waiting jobs lack, now."""
    found: _Chips = Counter()
    for cluster in clusters:
        for use in (pool["use"] for pool in cluster["slices"]):
            found.update({("held", team): chips for team, chips in use["held"].items()})
            found.update({(kind, ""): use[kind] for kind in ("idle", "down")})
        for work in (work for work in cluster["works"] if work["unplaced"]):
            found["waiting", work["queue"] or work["namespace"]] += work["unplaced"]
    return found
