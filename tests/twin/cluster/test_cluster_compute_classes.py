"""The twin's definition of ComputeClass: what it rejects, and with whose words.

With the definition of a GKE cluster in TPUPLANE_GKE_COMPUTE_CLASS_CRD, the same cases are judged by that one too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.cluster_objects import rejection
from tests.support.cluster.compute_classes import API_VERSION, compute_class, verdict

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

CASES: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "compute_classes.yaml").read_text())


@pytest.mark.parametrize("name", CASES)
async def test_a_class_is_judged(api: Api, definitions: list[str], name: str) -> None:
    case = CASES[name]
    for api_version in definitions:
        said = await verdict(api, compute_class(case, api_version))
        assert bool(said) == bool(case.get("rejected")), said or f"{api_version} accepts it"
        assert [words for words in case.get("rejected", []) if words not in said] == [], said


async def test_an_unknown_field_is_rejected(api: Api) -> None:
    item = compute_class({"spec": {"priorities": [{"tpu": {"type": "tpu-v6e-slice", "chips": 4}}]}})
    assert "priorities[0].tpu.chips" in await verdict(api, item)


async def test_what_is_left_out_has_gkes_defaults(api: Api) -> None:
    url = f"/apis/{API_VERSION}/computeclasses"
    made = await api.request("POST", url, body=compute_class({"spec": {}}), params={"dryRun": "All"})
    assert made["spec"] == {
        "nodePoolAutoCreation": {"enabled": False},
        "priorities": [],
        "whenUnsatisfiable": "DoNotScaleUp",
    }


async def test_autopilot_stays_as_it_was(api: Api) -> None:
    item = compute_class({"spec": {"autopilot": {"enabled": True}, "nodePoolAutoCreation": {"enabled": True}}})
    await api.create(item)
    try:
        off = api.merge("ComputeClass", "judged", {"spec": {"autopilot": {"enabled": False}}})
        assert "Autopilot is immutable" in await rejection(off)
        gone = api.merge("ComputeClass", "judged", {"spec": {"autopilot": None}})
        assert "Autopilot is required once set" in await rejection(gone)
        await api.merge("ComputeClass", "judged", {"spec": {"description": "may change"}})
    finally:
        await api.delete("ComputeClass", "judged")


async def test_a_status_is_written_apart(api: Api) -> None:
    await api.create(compute_class({"spec": {}}))
    condition = {
        "type": "Health",
        "status": "True",
        "reason": "Health",
        "message": "CRD is healthy",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    try:
        made = await api.merge("ComputeClass", "judged", {"status": {"conditions": [condition]}})
        assert "status" not in made
        url = f"/apis/{API_VERSION}/computeclasses/judged/status"
        patched = await api.request(
            "PATCH", url, body={"status": {"conditions": [condition]}}, content_type="application/merge-patch+json"
        )
        assert patched["status"]["conditions"] == [condition]
    finally:
        await api.delete("ComputeClass", "judged")
