"""GKE's rules for maintenance windows and exclusions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import CLUSTERS, Api, cluster_body

pytestmark = pytest.mark.twin

START = "2026-12-01T00:00:00Z"


def policy(recurrence: str, hours: int, **exclusions: dict[str, Any]) -> dict[str, Any]:
    times = {"startTime": "2024-01-06T02:00:00Z", "endTime": f"2024-01-06T{2 + hours:02}:00:00Z"}
    window = {"recurringWindow": {"window": times, "recurrence": recurrence}, "maintenanceExclusions": exclusions}
    return {"window": window}


def needs(field: str) -> str:
    return f"Maintenance window needs recurring_window.{field}."


def pause(end: str | None, scope: str, **options: str) -> dict[str, Any]:
    body = {"startTime": START, "maintenanceExclusionOptions": {"scope": scope, **options}}
    return body if end is None else {**body, "endTime": end}


SHORT = "maintenance policy would go longer than 92d without 48h maintenance availability"
MOST = "A cluster has at most 20 maintenance exclusions, 3 of them with scope NO_UPGRADES"
WEEKEND = "FREQ=WEEKLY;BYDAY=SA,SU"


@pytest.mark.parametrize(
    "asked",
    [
        policy(WEEKEND, 6),
        policy("FREQ=DAILY", 4),
        policy("FREQ=WEEKLY;BYDAY=SA", 4),
        policy("FREQ=MONTHLY;BYDAY=1SA", 4),
        policy(WEEKEND, 6, run=pause("2027-03-01T00:00:00Z", "NO_UPGRADES")),
        policy(WEEKEND, 6, run=pause(None, "NO_MINOR_UPGRADES", endTimeBehavior="UNTIL_END_OF_SUPPORT")),
    ],
)
async def test_taken_and_shown_again(cluster: Api, asked: dict[str, Any]) -> None:
    await cluster.done("POST", f"{CLUSTERS}/c1:setMaintenancePolicy", {"maintenancePolicy": asked})
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["maintenancePolicy"]["window"] == asked["window"]


async def test_a_policy_that_has_changed_meanwhile_is_not_replaced(cluster: Api) -> None:
    async def shown() -> dict[str, Any]:
        return dict((await cluster.call("GET", f"{CLUSTERS}/c1"))["maintenancePolicy"])

    path, before = f"{CLUSTERS}/c1:setMaintenancePolicy", await shown()
    asked = {**policy(WEEKEND, 6), "resourceVersion": before["resourceVersion"]}
    await cluster.done("POST", path, {"maintenancePolicy": asked})
    after = await shown()
    assert after["resourceVersion"] != before["resourceVersion"]
    message = await cluster.rejected("POST", path, {"maintenancePolicy": asked}, 400)
    assert message.startswith("The maintenance policy has changed: its resource_version is ")
    await cluster.done("POST", path, {"maintenancePolicy": after})
    assert await shown() == after


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (policy("FREQ=DAILY", 3), SHORT),
        *(
            (
                {"window": {"dailyMaintenanceWindow": {"startTime": time}}},
                f'Invalid start_time "{time}" of the daily maintenance window: it must be HH:MM.',
            )
            for time in ("banana", "25:00", "2026-01-01T03:00:00Z")
        ),
        (policy("FREQ=WEEKLY;BYDAY=SA", 3), SHORT),
        (
            policy(WEEKEND, 6, run=pause("2027-03-02T00:00:00Z", "NO_UPGRADES")),
            'Maintenance exclusion "run" with scope NO_UPGRADES must not be longer than 90 days.',
        ),
        (
            policy(WEEKEND, 6, **{f"run{at}": pause("2026-12-02T00:00:00Z", "NO_UPGRADES") for at in range(4)}),
            f"{MOST}; this policy has 4 and 4.",
        ),
        (
            policy(WEEKEND, 6, **{f"run{at}": pause("2026-12-02T00:00:00Z", "NO_MINOR_UPGRADES") for at in range(21)}),
            f"{MOST}; this policy has 21 and 0.",
        ),
        (
            policy(WEEKEND, 6, run=pause("2026-12-01T00:00:00Z", "NO_MINOR_UPGRADES")),
            'Maintenance exclusion "run": end_time must be after start_time.',
        ),
        (policy(WEEKEND, 6, run=pause(None, "NO_UPGRADES")), 'Maintenance exclusion "run" needs an end_time.'),
        (
            policy(WEEKEND, 6, run=pause(None, "NO_UPGRADES", endTimeBehavior="UNTIL_END_OF_SUPPORT")),
            'Maintenance exclusion "run": UNTIL_END_OF_SUPPORT cannot be used with NO_UPGRADES.',
        ),
        ({"window": {"recurringWindow": {"recurrence": WEEKEND}}}, needs("window.start_time")),
        (
            {"window": {"recurringWindow": {"recurrence": WEEKEND, "window": {"startTime": START}}}},
            needs("window.end_time"),
        ),
        (
            {"window": {"recurringWindow": {"window": {"startTime": START, "endTime": "2026-12-01T06:00:00Z"}}}},
            needs("recurrence"),
        ),
        (
            {"window": {"maintenanceExclusions": {"run": {"endTime": START}}}},
            'Maintenance exclusion "run" needs a start_time.',
        ),
    ],
)
async def test_rejected_at_once(cluster: Api, asked: dict[str, Any], message: str) -> None:
    path = f"{CLUSTERS}/c1:setMaintenancePolicy"
    assert await cluster.rejected("POST", path, {"maintenancePolicy": asked}, 400) == message
    new = {"cluster": cluster_body("c2", maintenancePolicy=asked)}
    assert await cluster.rejected("POST", CLUSTERS, new, 400) == message
