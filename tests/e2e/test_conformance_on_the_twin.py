"""The conformance suite on a twin: the same commands, endpoints and credential settings as on Google Cloud."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.e2e.platform_under_test import environment
from tests.support.pulumi_program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_the_suite_passes_and_leaves_nothing(tmp_path: Path) -> None:
    twin = Program(REPOSITORY, environment(tmp_path, "conformance"))
    file = tmp_path / "twin.json"
    suite = (BIN / "python", "-m", "conformance", "run", "--project", "tpuplane-lab", "--zone", "us-west4-a")
    try:
        twin.run(BIN / "tpuplane-twin", "up")
        twin.run(BIN / "tpuplane-twin", "exec", *suite, "--output", file, "--yes")
        left = twin.run(BIN / "tpuplane-twin", "status", "--json").stdout
    finally:
        twin.run(BIN / "tpuplane-twin", "down")
    result = json.loads(file.read_text())
    assert (result["target"], result["failure"]) == ("twin", "")
    assert result["steps"]["nodes"]["outcome"] == "4 TPU nodes"
    assert result["steps"]["deleted node"]["outcome"] == "created again"
    assert "cloud.google.com/gke-tpu-topology" in result["nodes"]["labels"]
    assert {request["step"] for request in result["requests"]} >= {"create", "no change", "destroy"}
    assert json.loads(left)["clusters"] == []
