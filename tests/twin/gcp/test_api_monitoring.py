"""Cloud Monitoring and Cloud Logging: stored objects, and Google's rejections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import Api

pytestmark = pytest.mark.twin

DASHBOARDS = "/monitoring/v1/projects/acme/dashboards"
POLICIES = "/monitoring/v3/projects/acme/alertPolicies"
CHANNELS = "/monitoring/v3/projects/acme/notificationChannels"
METRICS = "/logging/v2/projects/acme/metrics"
TILE = {"xPos": 0, "yPos": 0, "width": 12, "height": 8, "widget": {"title": "t", "text": {"content": "hi"}}}
DASHBOARD = {"displayName": "TPU", "mosaicLayout": {"columns": 48, "tiles": [TILE]}}

LOGS = {"displayName": "l", "conditionMatchedLog": {"filter": "severity>=ERROR"}}
LIMIT = {"notificationRateLimit": {"period": "300s"}}


def policy(**fields: Any) -> dict[str, Any]:
    threshold = {"filter": 'metric.type="m"', "comparison": "COMPARISON_LT", "thresholdValue": 1, "duration": "300s"}
    condition = {"displayName": "c", "conditionThreshold": threshold}
    return {"displayName": "p", "combiner": "OR", "conditions": [condition], **fields}


def timed(**fields: Any) -> dict[str, Any]:
    made = policy()
    made["conditions"][0]["conditionThreshold"].update(fields)
    return made


async def test_a_dashboard_is_named_by_the_projects_number_and_guarded_by_its_etag(api: Api) -> None:
    made = await api.call("POST", DASHBOARDS, DASHBOARD)
    number, _, uid = made["name"].removeprefix("projects/").partition("/dashboards/")
    assert number.isdecimal()
    assert await api.call("GET", f"{DASHBOARDS}/{uid}") == made  # the project's id means the same
    renamed = {**DASHBOARD, "displayName": "Chips", "etag": made["etag"]}
    changed = await api.call("PATCH", f"/monitoring/v1/{made['name']}", renamed)
    assert (changed["displayName"], changed["name"]) == ("Chips", made["name"])
    await api.rejected("PATCH", f"/monitoring/v1/{made['name']}", renamed, 409)
    assert (await api.call("GET", DASHBOARDS))["dashboards"] == [changed]
    await api.call("DELETE", f"/monitoring/v1/{made['name']}")
    await api.rejected("GET", f"/monitoring/v1/{made['name']}", None, 404)


async def test_a_dashboard_may_be_looked_at_without_being_kept(api: Api) -> None:
    shown = await api.call("POST", f"{DASHBOARDS}?validateOnly=true", DASHBOARD)
    assert shown["displayName"] == "TPU"
    assert (await api.call("GET", DASHBOARDS))["dashboards"] == []
    made = await api.call("POST", f"{DASHBOARDS}?validateOnly=false", DASHBOARD)
    changed = {**DASHBOARD, "displayName": "Chips"}
    assert (await api.call("PATCH", f"/monitoring/v1/{made['name']}?validateOnly=true", changed))[
        "displayName"
    ] == "Chips"
    assert await api.call("GET", f"/monitoring/v1/{made['name']}") == made


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"mosaicLayout": {"columns": 48}}, "displayName is missing"),
        ({"displayName": "x"}, "exactly one layout"),
        ({"displayName": "x", "mosaicLayout": {"columns": 6, "tiles": [TILE]}}, "ends after its last column, 6"),
        ({**DASHBOARD, "tiles": []}, 'Unknown name "tiles"'),
    ],
)
async def test_an_invalid_dashboard_is_rejected(api: Api, body: dict[str, Any], words: str) -> None:
    assert words in await api.rejected("POST", DASHBOARDS, body, 400)


async def test_a_mask_names_parts_in_either_spelling(api: Api) -> None:
    documentation = {"content": "See the runbook.", "subject": "chips"}
    made = await api.call("POST", POLICIES, policy(documentation=documentation, userLabels={"team": "a"}))
    path = f"/monitoring/v3/{made['name']}?updateMask=documentation.content,display_name,user_labels"
    changed = await api.call("PATCH", path, {"documentation": {"content": "Read it."}, "displayName": "Chips"})
    assert changed["documentation"] == {"content": "Read it.", "subject": "chips"}
    assert (changed["displayName"], "userLabels" in changed) == ("Chips", False)


async def test_a_policy_changes_by_its_mask(api: Api) -> None:
    made = await api.call("POST", POLICIES, policy(severity="WARNING"))
    assert made["enabled"]
    assert made["conditions"][0]["name"].startswith(f"{made['name']}/conditions/")
    path = f"/monitoring/v3/{made['name']}"
    changed = await api.call("PATCH", f"{path}?updateMask=displayName,severity", policy(displayName="q"))
    assert changed["displayName"] == "q"
    assert "severity" not in changed
    assert changed["conditions"] == made["conditions"]
    assert (await api.call("GET", POLICIES))["alertPolicies"] == [changed]
    await api.call("DELETE", path)
    await api.rejected("GET", path, None, 404)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (policy(displayName=""), "display_name must be set"),
        (policy(combiner="COMBINE_UNSPECIFIED", conditions=policy()["conditions"] * 2), "combiner must be set"),
        (policy(conditions=[]), "between 1 and 6"),
        (policy(conditions=[{"displayName": "c"}]), "exactly one kind"),
        (timed(duration="90s"), "multiple of 60"),
        (timed(duration="86400s"), "from 0 to 23 hours"),
        (timed(comparison="COMPARISON_EQ"), "comparison must be one of"),
        (policy(notificationChannels=["mail"]), "must be of the form"),
        (policy(notificationChannels=[f"projects/acme/notificationChannels/{at}" for at in range(17)]), "at most 16"),
        (policy(conditions=[*policy()["conditions"], LOGS], alertStrategy=LIMIT), "only have a single condition"),
        (policy(conditions=[LOGS]), "notificationRateLimit must be set"),
        (policy(alertStrategy=LIMIT), "must not specify a notification rate limit"),
        (timed(treshold=1), 'Unknown name "treshold"'),
    ],
)
async def test_an_invalid_policy_is_rejected(api: Api, body: dict[str, Any], words: str) -> None:
    assert words in await api.rejected("POST", POLICIES, body, 400)


async def test_a_policy_of_log_entries_limits_its_notifications(api: Api) -> None:
    made = await api.call("POST", POLICIES, policy(conditions=[LOGS], alertStrategy=LIMIT))
    assert made["alertStrategy"] == LIMIT


async def test_a_channel_that_only_a_policy_names_is_assumed_to_exist(api: Api) -> None:
    created = await api.call("POST", CHANNELS, {"type": "email", "labels": {"email_address": "tpu@acme.dev"}})
    existing = "projects/acme/notificationChannels/4711"
    names = [created["name"], existing]
    for _ in range(2):
        assert (await api.call("POST", POLICIES, policy(notificationChannels=names)))["notificationChannels"] == names
    assert await api.call("GET", f"{CHANNELS}/{created['name'].rpartition('/')[2]}") == created
    assert sorted(channel["name"] for channel in (await api.call("GET", CHANNELS))["notificationChannels"]) == sorted(
        names
    )


async def test_google_writes_who_created_a_channel(api: Api) -> None:
    asked = {"type": "email", "creationRecord": {"mutatedBy": "me"}}
    assert (await api.call("POST", CHANNELS, asked))["creationRecord"]["mutatedBy"] != "me"


async def test_a_channel_changes_in_place(api: Api) -> None:
    made = await api.call(
        "POST", CHANNELS, {"type": "email", "displayName": "one", "labels": {"email_address": "a@b.c"}}
    )
    path = f"{CHANNELS}/{made['name'].rpartition('/')[2]}"
    changed = await api.call("PATCH", f"{path}?updateMask=display_name", {"displayName": "two"})
    assert (changed["name"], changed["displayName"], changed["labels"]) == (made["name"], "two", made["labels"])
    whole = await api.call("PATCH", path, {"type": "email", "displayName": "three", "enabled": False})
    assert (whole["displayName"], whole["enabled"], whole.get("labels")) == ("three", False, None)
    assert whole["creationRecord"] == made["creationRecord"]
    sms = {"type": "sms", "labels": {"number": "+15551234"}}
    assert (await api.call("PATCH", path, sms))["type"] == "sms"
    assert "type must be set" in await api.rejected("PATCH", path, {"displayName": "four"}, 400)


async def test_a_channel_that_a_policy_names_is_deleted_only_by_force(api: Api) -> None:
    name = (await api.call("POST", CHANNELS, {"type": "email"}))["name"]
    user = await api.call("POST", POLICIES, policy(notificationChannels=[name]))
    path = f"{CHANNELS}/{name.rpartition('/')[2]}"
    message = await api.rejected("DELETE", f"{path}?force=false", None, 400)
    assert message == f"The notification channel {name} is used by the alert policy {user['name']}."
    await api.call("DELETE", f"{path}?force=true")
    left = await api.call("GET", f"{POLICIES}/{user['name'].rpartition('/')[2]}")
    assert left["notificationChannels"] == []


async def test_a_metric_of_log_entries_may_have_slashes_in_its_name(api: Api) -> None:
    body = {"name": "tpu/errors", "filter": "severity>=ERROR"}
    made = await api.call("POST", METRICS, body)
    assert made["metricDescriptor"]["type"] == "logging.googleapis.com/user/tpu/errors"
    assert made["metricDescriptor"]["metricKind"] == "DELTA"
    await api.rejected("POST", METRICS, body, 409)
    path = f"{METRICS}/tpu%2Ferrors"
    changed = await api.call("PUT", path, {**body, "filter": "severity>=WARNING"})
    assert (changed["filter"], changed["createTime"]) == ("severity>=WARNING", made["createTime"])
    assert (await api.call("GET", METRICS))["metrics"] == [changed]
    await api.call("DELETE", path)
    await api.rejected("GET", path, None, 404)
    assert "must not be empty" in await api.rejected("POST", METRICS, {"name": "x"}, 400)
