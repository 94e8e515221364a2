"""The recorder of the conformance suite between a provider and Google's API, and the comparison of what it recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.compare import differences
from conformance.recorder import UPSTREAMS, Recorder, redacted
from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver, cluster_inputs, pool_inputs
from tests.support.providers.google_api import PROJECT, TOKEN, GoogleApi

pytestmark = pytest.mark.twin


def recorded(api: GoogleApi, name: str, **pool: Any) -> dict[str, Any]:
    """The result of a run that creates a cluster with a pool, and deletes both."""
    environment = {
        f"GOOGLE_{service}_CUSTOM_ENDPOINT": api.config[f"{service.lower()}CustomEndpoint"] for service in UPSTREAMS
    }
    recorder = Recorder(PROJECT, environment)
    with recorder.serving() as endpoints:
        own = {
            f"{service.lower()}CustomEndpoint": endpoints[f"GOOGLE_{service}_CUSTOM_ENDPOINT"] for service in UPSTREAMS
        }
        driver = Driver.of({**api.config, **own}, api.url)
        recorder.step = "create"
        cluster = driver.create(CLUSTER, name, **cluster_inputs(deletionProtection=False))
        slices = driver.create(NODE_POOL, "slice", **pool_inputs(**pool))
        recorder.step = "destroy"
        driver.delete(slices)
        driver.delete(cluster)
    steps = {step: {"outcome": "done", "seconds": 1} for step in ("create", "destroy")}
    return {"steps": steps, "nodes": {"labels": ["a"]}, "requests": recorder.requests}


def test_a_run_is_recorded_without_token_and_project(api: GoogleApi, subnetwork: Deployed) -> None:
    result = recorded(api, "c1")
    calls = [(request["step"], request["method"], request["status"]) for request in result["requests"]]
    assert ("create", "POST", 200) in calls
    assert ("destroy", "DELETE", 200) in calls
    text = json.dumps(result)
    assert TOKEN not in text
    assert f"projects/{PROJECT}/" not in text
    assert "a PEM certificate" not in text
    assert "projects/PROJECT/" in text


def test_two_runs_are_alike_and_another_pool_is_a_difference(api: GoogleApi, subnetwork: Deployed) -> None:
    first, second = recorded(api, "c1"), recorded(api, "c1")
    assert differences(first, second) == "no difference"
    other = recorded(api, "c1", management={"autoRepair": False, "autoUpgrade": True})
    other["nodes"] = {"labels": ["a", "b"]}
    other["steps"]["destroy"]["outcome"] = "failed"
    lines = differences(other, second).splitlines()
    assert "| destroy | outcome | failed | done |" in lines
    assert "| nodes | labels: b | yes | none |" in lines
    assert any("management.autoRepair | none | True |" in line for line in lines)


def test_secrets_are_recognized_by_the_names_of_their_fields() -> None:
    body = {"masterAuth": {"clientKey": "k", "clusterCaCertificate": "c"}, "keys": [{"accessToken": "t", "name": "n"}]}
    assert redacted(body) == {
        "masterAuth": {"clientKey": "REDACTED", "clusterCaCertificate": "REDACTED"},
        "keys": [{"accessToken": "REDACTED", "name": "REDACTED"}],
    }
