"""The comparison with Google Cloud as a command: its output, its exit codes, and a stack's state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from typer.testing import CliRunner, Result

from tests.support.preflight.google_cloud import Server, quota
from tests.support.preflight.lab import DESCRIPTION, NIGHTLY

pytestmark = pytest.mark.unit


def run(tmp_path: Path, *options: str) -> Result:
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": DESCRIPTION}}))
    return CliRunner().invoke(app, ["check", str(file), *options])


@pytest.mark.usefixtures("google")
def test_the_command_says_what_it_compared(tmp_path: Path) -> None:
    right = run(tmp_path, "--online")
    assert (right.exit_code, right.stderr) == (0, "")
    assert right.stdout.endswith("ok in Google Cloud: 5 APIs, 37 permissions, 3 quotas, 2 reservations, 5 names\n")
    assert json.loads(run(tmp_path, "--online", "--json").stdout)["online"]["quotas"] == 3


def test_the_command_rejects_in_the_file_s_own_words(tmp_path: Path, google: Server) -> None:
    google.answers[NIGHTLY]["specificReservation"]["count"] = "8"
    google.answers[quota("cpus")] = 403
    wrong = run(tmp_path, "--online")
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith(f"{tmp_path}/Pulumi.lab.yaml:")
    assert wrong.stderr.endswith("reservations.nightly.chips: 64, but Compute Engine has 32; allowed: at most 32\n")
    undecided, mistake = json.loads(run(tmp_path, "--online", "--json").stdout)["mistakes"]
    assert mistake["path"] == "reservations.nightly.chips"
    assert (undecided["undecided"], mistake["undecided"], mistake["check"]) == (True, False, "reservation")


def test_the_command_ends_with_a_code_of_its_own_when_google_does_not_answer(
    tmp_path: Path, google: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.answers[quota("cpus")] = 403
    assert run(tmp_path, "--online").exit_code == 3
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "another")
    rejected = run(tmp_path, "--online")
    assert rejected.exit_code == 3
    assert rejected.stderr.startswith("--online: Google rejects the credentials: ")
    assert rejected.stderr.endswith("; set another GOOGLE_OAUTH_ACCESS_TOKEN, or unset it\n")


def pulumi(folder: Path, state: dict[str, Any], history: str = "[]") -> None:
    """A program called pulumi that prints the state and the history of the stack prod."""
    file = folder / "pulumi"
    printed = f"'stack export prod') echo '{json.dumps(state)}';; 'stack history prod') echo '{history}';;"
    file.write_text(f'#!/bin/sh\ncase "$1 $2 $4" in {printed} *) exit 1;; esac\n')
    file.chmod(0o755)


def test_a_stack_that_cannot_be_read_ends_the_command(
    tmp_path: Path, google: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    unread = run(tmp_path, "--online", "--deployed", "prod")
    assert unread.exit_code == 3
    assert unread.stderr.startswith("--deployed: pulumi is not on PATH; install it")
    network = {"urn": "urn:pulumi:prod::a::gcp:compute/network:Network::lab", "type": "gcp:compute/network:Network"}
    state = {"deployment": {"resources": [{**network, "id": "projects/tpuplane-lab/global/networks/lab"}]}}
    pulumi(tmp_path, state)
    google.answers["compute/v1/projects/tpuplane-lab/global/networks/lab"] = {"name": "lab"}
    assert run(tmp_path, "--online", "--deployed", "prod").exit_code == 0
    assert run(tmp_path, "--online").exit_code == 1
    assert run(tmp_path, "--deployed", "prod").exit_code == 0
    old = {"name": "lab-old", "network": "projects/tpuplane-lab/global/networks/lab", "ipCidrRange": "10.0.0.0/16"}
    state["deployment"]["resources"].append({"type": "gcp:compute/subnetwork:Subnetwork", "outputs": old})
    pulumi(tmp_path, state)
    taken = run(tmp_path, "--deployed", "prod")
    assert taken.exit_code == 1
    assert "nodesCidr: Google rejects this: 10.0.0.0/20 (nodesCidr) overlaps ranges of lab-old" in taken.stderr
    del old["ipCidrRange"]
    state["deployment"]["resources"][-1]["urn"] = "urn:pulumi:prod::a::gcp:compute/subnetwork:Subnetwork::lab-old"
    pulumi(tmp_path, state)
    undecided = run(tmp_path, "--deployed", "prod")
    assert (undecided.exit_code, undecided.stderr) == (
        3,
        "--deployed: the state lacks addresses of lab-old (KeyError: 'ipCidrRange'); "
        "run: pulumi refresh --stack prod\n",
    )


def test_a_destroy_that_ended_early_is_in_the_history_of_the_stack(
    tmp_path: Path, google: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cluster = "projects/tpuplane-lab/locations/us-central1/clusters/lab-main"
    kind = "gcp:container/cluster:Cluster"
    resource = {"type": kind, "id": cluster, "outputs": {"name": "lab-main", "network": "lab"}}
    resource["urn"] = f"urn:pulumi:prod::a::{kind}::lab"
    google.answers[f"v1/{cluster}"] = {"name": "lab-main", "status": "RUNNING"}
    fine, failed = {"kind": "update", "result": "succeeded"}, {"kind": "update", "result": "failed"}
    destroyed, refreshed = {"kind": "destroy", "result": "failed"}, {"kind": "refresh", "result": "succeeded"}
    for history, code in (
        ([fine], 0),
        ([failed, fine], 0),
        ([fine, destroyed, fine], 0),
        ([destroyed, fine], 1),
        ([refreshed, failed, destroyed, fine], 1),
        ([{}], 3),
    ):
        pulumi(tmp_path, {"deployment": {"resources": [resource]}}, json.dumps(history))
        found = run(tmp_path, "--online", "--deployed", "prod")
        assert (found.exit_code, "`pulumi destroy` ended early" in found.stderr) == (code, code == 1), found.output
    assert found.stderr.startswith("--deployed: this version of tpuplane cannot read what `pulumi stack` prints")


def test_the_role_has_exactly_what_the_file_needs(tmp_path: Path) -> None:
    role = json.loads(run(tmp_path, "--role").stdout)
    assert len(role["includedPermissions"]) == len(set(role["includedPermissions"])) == 37
    assert {permission.partition(".")[0] for permission in role["includedPermissions"]} == {
        "compute",
        "container",
        "iam",
        "resourcemanager",
        "serviceusage",
    }
