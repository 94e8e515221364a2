"""GKE's rules of maintenance windows and exclusions. Every function checks rules of `data/rules.yaml`."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from tpuplane.maintenance import COUNTED, LONGEST_PAUSE, MOST_PAUSES, NEEDED, ROLLING
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.maintenance import WEEKDAYS, MaintenanceExclusionSpec, MaintenanceWindowSpec, moment
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.rules import broken

_DAY = timedelta(days=1)
_Period = tuple[datetime, datetime]


def check_maintenance(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Every mistake of the cluster's window and exclusions."""
    if cluster.maintenance is None:
        return
    at = (*at, "maintenance")
    for name, exclusion in cluster.maintenance.exclusions.items():
        yield from _check_exclusion((*at, "exclusions", name), cluster, exclusion)
    pauses = {  # the start and end of the exclusions that prevent every upgrade
        name: (moment(exclusion.start), moment(exclusion.end))
        for name, exclusion in cluster.maintenance.exclusions.items()
        if exclusion.scope == "NO_UPGRADES" and exclusion.end is not None
    }
    if len(pauses) > MOST_PAUSES:
        yield broken("exclusion-count", (*at, "exclusions"), value=len(pauses), most=MOST_PAUSES)
    elif (scarce := _scarce(cluster.maintenance.window, tuple(pauses.items()))) is not None:
        name, hours, since = scarce
        needed, days = NEEDED // timedelta(hours=1), ROLLING.days
        path = (*at, "exclusions", name)
        yield broken("maintenance-availability", path, value=hours, days=days, since=since, needed=needed)


@lru_cache(maxsize=1024)
def _scarce(window: MaintenanceWindowSpec, pauses: tuple[tuple[str, _Period], ...]) -> tuple[str, str, str] | None:
    """The first pause after which there is too little time for maintenance, with the hours and the day of the least.

    Without pauses every window is enough: 4 hours a week are 52 in 92 days.
    """
    sane = sorted((start, end) for _, (start, end) in pauses if timedelta(0) < end - start <= LONGEST_PAUSE)
    for name, (pause, _) in sorted(pauses, key=lambda item: item[1]):
        if pause not in [start for start, _ in sane]:
            continue
        # The time is shortest after a part of it has just passed: at the end of a window, or at the start of a pause.
        windows = list(_windows(window, pause - ROLLING, pause + ROLLING))
        closings = [closing for _, closing in windows if closing <= pause]
        least, since = min((_available(windows, since, sane), since) for since in (*closings, pause))
        if least < NEEDED:
            return name, f"{least / timedelta(hours=1):g}", f"{since:%Y-%m-%d}"
    return None


def _windows(window: MaintenanceWindowSpec, since: datetime, until: datetime) -> Iterator[_Period]:
    """Every recurrence of the window that overlaps this time."""
    hour, minute = map(int, window.start.split(":"))
    opening = since.replace(hour=hour, minute=minute, second=0) - _DAY
    while opening < until:
        closing = opening + timedelta(hours=window.hours)
        if WEEKDAYS[opening.weekday()] in window.days and closing > since:
            yield opening, closing
        opening += _DAY


def _available(windows: list[_Period], since: datetime, pauses: list[_Period]) -> timedelta:
    """The time for maintenance in the next 92 days, outside of the exclusions."""
    until, total = since + ROLLING, timedelta(0)
    for opening, closing in windows:
        if opening >= until or closing <= since:
            continue
        start = max(opening, since)
        for pause, end in (*pauses, (closing, closing)):
            length = min(pause, closing, until) - start
            if length >= COUNTED or (length > timedelta(0) and closing - opening == _DAY):
                total += length
            start = max(start, min(end, closing))
    return total


def _check_exclusion(at: Path, cluster: ClusterSpec, exclusion: MaintenanceExclusionSpec) -> Iterator[Mistake]:
    if (exclusion.end is None) != exclusion.until_end_of_support:
        problem = (
            "end and untilEndOfSupport are both set" if exclusion.end else "neither end nor untilEndOfSupport is set"
        )
        yield broken("exclusion-end", (*at, "end"), problem=problem)
    if exclusion.scope == "NO_UPGRADES":
        if exclusion.until_end_of_support:
            yield broken("exclusion-until-end-of-support", (*at, "untilEndOfSupport"))
    elif cluster.release_channel == "UNSPECIFIED":
        yield broken("exclusion-scope-channel", (*at, "scope"), value=shown(exclusion.scope))
    if exclusion.end is None:
        return
    length = moment(exclusion.end) - moment(exclusion.start)
    if length <= timedelta(0):
        yield broken("exclusion-order", (*at, "end"), value=shown(exclusion.end), start=exclusion.start)
    elif exclusion.scope == "NO_UPGRADES" and length > LONGEST_PAUSE:
        latest = moment(exclusion.start) + LONGEST_PAUSE
        value, days = shown(exclusion.end), LONGEST_PAUSE.days
        yield broken("exclusion-length", (*at, "end"), value=value, days=days, latest=f"{latest:%Y-%m-%d}")
