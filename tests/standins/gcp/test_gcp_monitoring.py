"""Dashboards, alert policies and log metrics as the official plugin makes, changes and deletes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tpuplane_standins.providers.contract import ProviderError

from tests.support.providers.gcp_driver import Driver
from tests.support.providers.google_api import GoogleApi

pytestmark = pytest.mark.twin

DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
METRIC = "gcp:logging/metric:Metric"


def dashboard(title: str = "TPU", **more: Any) -> str:
    tile = {"width": 24, "height": 16, "widget": {"title": "chips", "text": {"content": "chips"}}}
    return json.dumps({"displayName": title, "mosaicLayout": {"columns": 48, "tiles": [tile]}, **more})


def policy(**more: Any) -> dict[str, Any]:
    query = {"query": "up == 0", "duration": "60s", "evaluationInterval": "60s"}
    condition = {"displayName": "down", "conditionPrometheusQueryLanguage": query}
    return {"displayName": "down", "combiner": "OR", "conditions": [condition], **more}


def test_what_only_the_api_says_of_a_dashboard_is_no_difference(driver: Driver, api: GoogleApi) -> None:
    made = driver.create(DASHBOARD, "board", dashboardJson=dashboard())
    uid = made.id.rpartition("/")[2]
    number = made.id.split("/")[1]
    taken = api.taken()
    assert taken == ["POST /monitoring/v1/projects/acme/dashboards", f"GET /monitoring/v1/{made.id}"]
    assert set(json.loads(made.state["dashboardJson"])) == {"displayName", "etag", "mosaicLayout", "name"}
    assert not driver.changes(made, dashboardJson=dashboard())
    spaced = json.dumps(json.loads(dashboard()), indent=4)
    assert not driver.changes(made, dashboardJson=spaced)
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    assert number.isdecimal()
    assert uid


def test_a_dashboard_changes_in_place_with_its_etag(driver: Driver, api: GoogleApi) -> None:
    made = driver.create(DASHBOARD, "board", dashboardJson=dashboard())
    etag = json.loads(made.state["dashboardJson"])["etag"]
    changes = driver.changes(made, dashboardJson=dashboard("Chips"))
    assert not changes["dashboardJson"].replaces
    api.requests.clear()
    updated = driver.update(made, dashboardJson=dashboard("Chips"))
    assert api.body("PATCH", made.id)["etag"] == etag
    assert json.loads(updated.state["dashboardJson"])["displayName"] == "Chips"
    assert driver.changes(made, project="other")["project"].replaces
    driver.delete(updated)
    assert driver.refresh(updated) is None


def test_a_dashboard_is_checked_as_json_and_by_the_api(driver: Driver) -> None:
    with pytest.raises(ProviderError, match=r"(?s)Error creating Dashboard: googleapi: Error 400: .*widgit"):
        driver.create(DASHBOARD, "board", dashboardJson=dashboard(widgit=1))
    [failure] = driver.failures(DASHBOARD, "board", {"dashboardJson": "{"})
    assert '"dashboard_json" contains an invalid JSON' in failure


def test_a_policy_sends_what_changed(driver: Driver, api: GoogleApi) -> None:
    made = driver.create(POLICY, "down", **policy(severity="WARNING", documentation={"content": "Look."}))
    assert made.state["enabled"] is True
    assert made.state["documentation"]["mimeType"] == "text/markdown"
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    api.requests.clear()
    updated = driver.update(made, **policy(severity="CRITICAL", documentation={"content": "Look."}))
    assert api.taken() == [f"PATCH /monitoring/v3/{made.id}", f"GET /monitoring/v3/{made.id}"]
    assert updated.state["severity"] == "CRITICAL"
    assert updated.id == made.id
    driver.delete(updated)
    assert driver.refresh(updated) is None


def test_a_metric_with_a_slash_in_its_name(driver: Driver) -> None:
    made = driver.create(METRIC, "errors", name="tpu/errors", filter="severity>=ERROR")
    assert made.id == "tpu/errors"
    assert made.state["metricDescriptor"]["valueType"] == "INT64"
    found = driver.refresh(made)
    assert found is not None
    assert not driver.diff(found).changes
    updated = driver.update(made, name="tpu/errors", filter="severity>=WARNING")
    assert updated.state["filter"] == "severity>=WARNING"
    driver.delete(updated)
    assert driver.refresh(updated) is None
