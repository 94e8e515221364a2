"""Maintenance: from the days and hours of a week to the window and recurrence that Google's API has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tpuplane.plan.cluster_model import ExclusionPlan, MaintenancePlan
from tpuplane.spec import MaintenanceSpec
from tpuplane.spec.maintenance import WEEKDAYS

# A window repeats for ever from its first opening. That one lies in the past, in a week that never changes, so that
# the plan of a file is the same on every day; 2024-01-01 was a Monday.
_FIRST_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)
_RFC_3339 = "%Y-%m-%dT%H:%M:%SZ"


def maintenance_plan(spec: MaintenanceSpec | None) -> MaintenancePlan | None:
    """The plan of a cluster's maintenance; None where nothing was asked."""
    if spec is None:
        return None
    days = [day for day in WEEKDAYS if day in spec.window.days]
    hour, minute = map(int, spec.window.start.split(":"))
    start = _FIRST_MONDAY + timedelta(days=WEEKDAYS.index(days[0]), hours=hour, minutes=minute)
    exclusions = (
        ExclusionPlan(name, exclusion.start, exclusion.end, exclusion.scope)
        for name, exclusion in spec.exclusions.items()
    )
    return MaintenancePlan(
        start=start.strftime(_RFC_3339),
        end=(start + timedelta(hours=spec.window.hours)).strftime(_RFC_3339),
        recurrence=f"FREQ=WEEKLY;BYDAY={','.join(days)}",
        exclusions=tuple(exclusions),
    )
