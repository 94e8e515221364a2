"""Maintenance as Google's API has it, from days and hours."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.plan.cluster_options import MaintenancePlan
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit


def planned(maintenance: dict[str, Any] | None) -> MaintenancePlan | None:
    cluster = {"location": "us-central1", **({"maintenance": maintenance} if maintenance else {})}
    description = {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}}
    return plan(parse_platform(description)).clusters[0].maintenance


def test_nothing_asked_is_nothing_said() -> None:
    assert planned(None) is None


@pytest.mark.parametrize(
    ("days", "byday", "first"), [(["SU", "SA"], "SA,SU", 5), (["WE"], "WE", 2), (None, "MO,TU,WE,TH,FR,SA,SU", 0)]
)
def test_the_first_window_opens_on_the_first_day_it_repeats_on(days: list[str] | None, byday: str, first: int) -> None:
    window: dict[str, Any] = {"start": "22:30", "hours": 12, **({"days": days} if days else {})}
    found = planned({"window": window})
    assert found is not None
    assert found.recurrence == f"FREQ=WEEKLY;BYDAY={byday}"
    start, end = datetime.fromisoformat(found.start), datetime.fromisoformat(found.end)
    assert (start.weekday(), start.hour, start.minute) == (first, 22, 30)
    assert (end - start).total_seconds() == 12 * 3600


def test_exclusions_end_at_a_time_or_with_support() -> None:
    exclusions = {
        "holidays": {"start": "2026-12-20", "end": "2027-01-03T08:00:00+02:00", "scope": "NO_UPGRADES"},
        "run": {"start": "2026-12-01", "untilEndOfSupport": True},
    }
    found = planned({"window": {"start": "02:00"}, "exclusions": exclusions})
    assert found is not None
    assert {name: (each.start, each.end, each.scope) for name, each in found.exclusions.items()} == {
        "holidays": ("2026-12-20T00:00:00Z", "2027-01-03T06:00:00Z", "NO_UPGRADES"),
        "run": ("2026-12-01T00:00:00Z", None, "NO_MINOR_OR_NODE_UPGRADES"),
    }


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (date(2026, 12, 1), "2026-12-01T00:00:00Z"),
        ("2026-12-01", "2026-12-01T00:00:00Z"),
        ("2026-12-01 00:00:00 +0000 UTC", "2026-12-01T00:00:00Z"),
        ("2026-12-01 08:30:00 +0200 +0200", "2026-12-01T06:30:00Z"),
    ],
)
def test_a_date_may_stand_without_quotes(written: object, meant: str) -> None:
    """YAML makes it a date, and the engine hands it to the program as Go prints one."""
    found = planned(
        {"window": {"start": "02:00"}, "exclusions": {"run": {"start": written, "untilEndOfSupport": True}}}
    )
    assert found is not None
    assert found.exclusions["run"].start == meant
