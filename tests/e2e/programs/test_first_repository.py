"""A user's own repository from the wheels alone: `tpuplane init`, then its Makefile, on a twin."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.e2e.platform_under_test import BIN
from tests.first_repository import ANSWERS
from tests.pulumi_program import run

pytestmark = pytest.mark.e2e

_OURS = ("TPUPLANE_", "PULUMI_", "UV_PROJECT", "VIRTUAL_ENV", "KUBECONFIG", "MAKE")


def test_a_first_repository_runs_on_the_twin(wheels: Path, constraints: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").symlink_to(BIN / "uv")
    settings = {"find-links": [str(wheels)], "constraint-dependencies": _requirements(constraints)}
    variables = {
        **{key: it for key, it in os.environ.items() if not key.startswith(_OURS) or key == "TPUPLANE_CACHE"},
        "PATH": os.pathsep.join([str(tmp_path / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]),
        "TPUPLANE_TWIN_HOME": str(tmp_path / "twins"),
    }
    folder = tmp_path / "acme"
    answers = [
        part for key in ("name", "project", "location", "generation", "topology") for part in (f"--{key}", ANSWERS[key])
    ]
    tool = ("uv", "--quiet", "tool", "run", "--find-links", wheels, "--from", next(wheels.glob("tpuplane-*.whl")))
    said = run((*tool, "tpuplane", "init", folder, *answers), tmp_path, variables).stdout
    assert "  make up " in said
    (folder / "uv.toml").write_text("\n".join(f"{key} = {json.dumps(it)}" for key, it in settings.items()))

    assert run(("make", "check"), folder, variables).stdout.count("ok: 1 cluster, 4 chips") == 2
    stack = (folder / "stacks/Pulumi.dev.yaml").read_text()
    first = stack.partition("\n")[0]
    assert (folder / "stacks" / first.partition("$schema=")[2]).is_file()
    try:
        said = run(("make", "test"), folder, variables).stdout
        created, ready, previewed = said.partition("4 chips; 1 of 1 TPU hosts ready")
        assert ready, said
        assert " created\n" in created
        assert " unchanged\n" in previewed
        assert "mandatory" not in previewed
        assert previewed.rstrip().endswith("no findings")
    finally:
        run(("make", "down"), folder, variables)
    assert (folder / "stacks/Pulumi.dev.yaml").read_text() == stack
    assert not list((tmp_path / "twins").glob("*/twin.json"))


def _requirements(exported: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in exported.splitlines())
    return [line for line in lines if line]
