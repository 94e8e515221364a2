"""Reservations that stack files describe: the twin has them, in the sizes of the files."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from tpuplane_twin.daemon.described import reserve
from tpuplane_twin.machine.paths import TwinPaths

from tests.support.gcp.twin_api import TOKEN, Api

pytestmark = pytest.mark.twin

PROJECT = "acme-lab"
RESERVATIONS = f"/compute/beta/projects/{PROJECT}/zones/us-central1-b/reservations"


@pytest.fixture
def twin(api: Api, tmp_path: Path) -> Path:
    """The folder of a twin whose API is `api`."""
    paths = TwinPaths("local", tmp_path / "local").make()
    paths.token_file.write_text(TOKEN)
    record = {"pid": os.getpid(), "created": psutil.Process().create_time(), "api": api.url}
    paths.record.write_text(json.dumps(record))
    return paths.root


def stack_file(folder: Path, **reservations: Any) -> Path:
    platform = {"name": "lab", "reservations": reservations, "clusters": {"central": {"location": "us-central1"}}}
    file = folder / "Pulumi.dev.yaml"
    file.write_text(yaml.safe_dump({"config": {"gcp:project": PROJECT, "tpuplane:platform": platform}}))
    return file


async def test_reservations_of_a_stack_file(api: Api, twin: Path, tmp_path: Path) -> None:
    held = {"generation": "v6e", "zone": "us-central1-b"}
    file = stack_file(
        tmp_path,
        chips={**held, "chips": 64},
        machines={**held, "chips": 32, "machineType": "ct6e-standard-8t"},
        gpus={"accelerator": "nvidia-h100-80gb", "gpus": 16, "zone": "us-central1-b"},
        future={**held, "chips": 8, "active": False},
        bank={**held, "chips": 8, "project": "tpu-bank"},
    )
    assert await asyncio.to_thread(reserve, file, twin)
    found = {item["name"]: item for item in (await api.call("GET", RESERVATIONS))["items"]}
    assert set(found) == {"chips", "machines", "gpus"}
    (parts,) = found["chips"]["aggregateReservation"]["reservedResources"]
    assert parts["accelerator"] == {"acceleratorCount": 64, "acceleratorType": "ct6e"}
    assert found["machines"]["specificReservation"]["count"] == "4"
    assert found["gpus"]["specificReservation"]["count"] == "2"
    assert found["gpus"]["specificReservation"]["instanceProperties"] == {"machineType": "a3-highgpu-8g"}
    await api.call("GET", RESERVATIONS.replace(PROJECT, "tpu-bank") + "/bank")

    assert await asyncio.to_thread(reserve, stack_file(tmp_path, chips={**held, "chips": 128}), twin)
    grown = await api.call("GET", f"{RESERVATIONS}/chips")
    assert grown["aggregateReservation"]["reservedResources"][0]["accelerator"]["acceleratorCount"] == 128
    assert grown["id"] == found["chips"]["id"]


async def test_what_google_s_api_created_stays(api: Api, twin: Path, tmp_path: Path) -> None:
    machines = {"count": "1", "instanceProperties": {"machineType": "ct6e-standard-4t"}}
    await api.call("POST", RESERVATIONS, {"name": "chips", "specificReservation": machines})
    before = await api.call("GET", f"{RESERVATIONS}/chips")
    held = {"generation": "v6e", "zone": "us-central1-b", "chips": 64}
    assert await asyncio.to_thread(reserve, stack_file(tmp_path, chips=held), twin)
    assert await api.call("GET", f"{RESERVATIONS}/chips") == before


async def test_a_file_with_mistakes_and_a_twin_that_is_down(api: Api, twin: Path, tmp_path: Path) -> None:
    held = {"generation": "v99", "zone": "us-central1-b", "chips": 64}
    assert await asyncio.to_thread(reserve, stack_file(tmp_path, chips=held), twin)
    assert (await api.call("GET", RESERVATIONS)).get("items", []) == []
    TwinPaths("local", twin).record.unlink()
    held["generation"] = "v6e"
    assert not await asyncio.to_thread(reserve, stack_file(tmp_path, chips=held), twin)
