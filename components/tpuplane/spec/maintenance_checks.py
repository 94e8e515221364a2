"""What GKE asks of maintenance windows and exclusions. Every function checks rules of `data/rules.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from tpuplane.spec.clusters import ClusterSpec
from tpuplane.spec.errors import Mistake, Path, shown
from tpuplane.spec.maintenance import MaintenanceExclusionSpec, moment
from tpuplane.spec.rules import broken

_NEEDED_HOURS = 48
_WEEKS = 4  # whole weeks in any 32 days
_LONGEST_PAUSE = timedelta(days=30)


def check_maintenance(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Every mistake of the cluster's window and exclusions."""
    if cluster.maintenance is None:
        return
    window, at = cluster.maintenance.window, (*at, "maintenance")
    open_hours = len(set(window.days)) * window.hours * _WEEKS
    if open_hours < _NEEDED_HOURS:
        yield broken("maintenance-availability", (*at, "window"), value=open_hours, needed=_NEEDED_HOURS)
    for name, exclusion in cluster.maintenance.exclusions.items():
        yield from _check_exclusion((*at, "exclusions", name), cluster, exclusion)


def _check_exclusion(at: Path, cluster: ClusterSpec, exclusion: MaintenanceExclusionSpec) -> Iterator[Mistake]:
    if (exclusion.end is None) != exclusion.until_end_of_support:
        until = shown(exclusion.until_end_of_support)
        yield broken("exclusion-end", (*at, "end"), value=shown(exclusion.end), until=until)
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
    elif exclusion.scope == "NO_UPGRADES" and length > _LONGEST_PAUSE:
        latest = moment(exclusion.start) + _LONGEST_PAUSE
        yield broken("exclusion-length", (*at, "end"), value=shown(exclusion.end), latest=f"{latest:%Y-%m-%d}")
