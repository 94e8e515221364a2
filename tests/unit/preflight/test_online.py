"""What Google has against what the file says, through Google's own client library, over HTTP."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.preflight import ComputeEngine, Findings, Unreachable, check_online
from tpuplane.spec import parse_platform
from typer.testing import CliRunner, Result

from tests.unit.preflight.compute_engine import TOKEN, Server, compute_engine

pytestmark = pytest.mark.unit

DESCRIPTION: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": {
        "nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "machineType": "ct6e-standard-4t"},
        "shared": {"generation": "v5p", "zone": "us-east5-a", "chips": 512, "project": "tpu-bank"},
    },
    "quotas": {"us-central1": {"v5e": {"onDemand": 128, "preemptible": 64}, "v6e": {"onDemand": 256}}},
    "clusters": {"main": {"location": "us-central1"}},
}
NIGHTLY = "projects/tpuplane-lab/zones/us-central1-b/reservations/nightly"
SHARED = "projects/tpu-bank/zones/us-east5-a/reservations/shared"
REGION = "projects/tpuplane-lab/regions/us-central1"
ANSWERS: dict[str, Any] = {
    NIGHTLY: {
        "name": "nightly",
        "status": "READY",
        "specificReservation": {"count": "16", "instanceProperties": {"machineType": "ct6e-standard-4t"}},
    },
    SHARED: {
        "name": "shared",
        "status": "READY",
        "shareSettings": {"shareType": "SPECIFIC_PROJECTS", "projectMap": {"tpuplane-lab": {"projectId": "1"}}},
        "aggregateReservation": {
            "vmFamily": "VM_FAMILY_CLOUD_TPU_POD_SLICE_CT5P",
            "reservedResources": [{"accelerator": {"acceleratorCount": 512, "acceleratorType": "ct5p"}}],
        },
    },
    REGION: {
        "quotas": [
            {"metric": "TPU_LITE_PODSLICE_V5", "limit": 128.0},
            {"metric": "PREEMPTIBLE_TPU_LITE_PODSLICE_V5", "limit": 64.0},
        ]
    },
}


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Google with exactly what the description declares."""
    with compute_engine(copy.deepcopy(ANSWERS)) as server:
        monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", TOKEN)
        monkeypatch.setenv("GOOGLE_COMPUTE_CUSTOM_ENDPOINT", server.endpoint)
        yield server


def compared() -> Findings:
    return check_online(parse_platform(DESCRIPTION), ComputeEngine())


@pytest.mark.usefixtures("google")
def test_what_google_has_as_declared_is_right() -> None:
    assert compared() == Findings(mistakes=(), unasked=("quotas.us-central1.v6e.onDemand",))


def test_every_difference_is_named(google: Server) -> None:
    google.answers[NIGHTLY]["status"] = "CREATING"
    google.answers[NIGHTLY]["specificReservation"] = {
        "count": "4",
        "instanceProperties": {"machineType": "ct6e-standard-8t"},
    }
    google.answers[SHARED]["shareSettings"] = {"shareType": "LOCAL"}
    google.answers[SHARED]["aggregateReservation"]["vmFamily"] = "VM_FAMILY_CLOUD_TPU_LITE_POD_SLICE_CT6E"
    google.answers[REGION]["quotas"] = [{"metric": "TPU_LITE_PODSLICE_V5", "limit": 16.0}]
    assert [str(mistake) for mistake in compared().mistakes] == [
        "reservations.nightly.active: true, but Compute Engine reports CREATING; set it to false until it is READY",
        "reservations.nightly.machineType: 'ct6e-standard-4t', but Compute Engine has ct6e-standard-8t",
        "reservations.nightly.chips: 64, but Compute Engine has 32; allowed: at most 32",
        "reservations.shared.project: 'tpu-bank' does not share it with tpuplane-lab; ask the owner to add the project",
        "reservations.shared.generation: 'v5p', but Compute Engine has v6e",
        "quotas.us-central1.v5e.onDemand: 128 chips, but Google grants 16 in us-central1 (TPU_LITE_PODSLICE_V5); "
        "request more on the quota page",
        "quotas.us-central1.v5e.preemptible: 64 chips, but Google grants 0 in us-central1 "
        "(PREEMPTIBLE_TPU_LITE_PODSLICE_V5); request more on the quota page",
    ]


def test_a_reservation_that_is_not_there_or_holds_no_tpus(google: Server) -> None:
    del google.answers[NIGHTLY]
    google.answers[SHARED] |= {
        "aggregateReservation": None,
        "specificReservation": {"count": "1", "instanceProperties": {"machineType": "n2-standard-4"}},
    }
    assert [str(mistake) for mistake in compared().mistakes] == [
        "reservations.nightly: not found in project tpuplane-lab, zone us-central1-b; correct name, project or zone",
        "reservations.shared.generation: 'v5p', but Compute Engine has no TPUs in it",
    ]


def test_a_rejection_of_google_is_one_line(google: Server) -> None:
    google.answers[NIGHTLY] = 403
    with pytest.raises(Unreachable, match=r"^Google answers 403: rejected with 403$"):
        compared()


def test_without_credentials_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GOOGLE_OAUTH_ACCESS_TOKEN", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Unreachable, match="gcloud auth application-default login"):
        ComputeEngine()


def run(tmp_path: Path, *options: str) -> Result:
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": DESCRIPTION}}))
    return CliRunner().invoke(app, ["check", str(file), "--online", *options])


def test_the_command_says_what_it_did_not_compare(tmp_path: Path, google: Server) -> None:
    right = run(tmp_path)
    assert right.exit_code == 0
    assert right.stderr == (
        "--online: quotas.us-central1.v6e.onDemand is not compared, because only Google's quota page shows it\n"
    )


def test_the_command_rejects_in_the_file_s_own_words(tmp_path: Path, google: Server) -> None:
    google.answers[NIGHTLY]["specificReservation"]["count"] = "8"
    wrong = run(tmp_path)
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith(f"{tmp_path}/Pulumi.lab.yaml:")
    assert wrong.stderr.endswith("reservations.nightly.chips: 64, but Compute Engine has 32; allowed: at most 32\n")
    (mistake,) = json.loads(run(tmp_path, "--json").stdout)["mistakes"]
    assert mistake["path"] == "reservations.nightly.chips"


def test_the_command_ends_with_a_code_of_its_own_when_google_is_away(
    tmp_path: Path, google: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "another")
    rejected = run(tmp_path)
    assert rejected.exit_code == 3
    assert rejected.stderr.startswith("--online: Google")
