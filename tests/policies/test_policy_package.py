"""The rules as a package in a user's own pack, with its own environment and its own rules."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pulumi_program import Program

pytestmark = pytest.mark.twin

ROOT = Path(__file__).parents[2]
PROGRAM = """
import pulumi_gcp as gcp

gcp.container.Cluster("raw", location="us-central1", enable_k8s_beta_apis={"enabled_apis": ["a/v1beta1"]})
"""


def uv(*arguments: str | Path, folder: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")}
    command = [str(ROOT / ".venv" / "bin" / "uv"), *map(str, arguments), "--quiet"]
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def own_pack(tmp_path: Path) -> Path:
    """The pack of policies/README.md, made as it says there from the wheels."""
    folder = tmp_path / "pack"
    folder.mkdir()
    readme = (ROOT / "policies" / "README.md").read_text(encoding="utf-8")
    for language, file in (("yaml", "PulumiPolicy.yaml"), ("python", "__main__.py")):
        [block] = re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)
        (folder / file).write_text(block)
    for package in ("tpuplane", "tpuplane-policies"):
        uv("build", "--wheel", "--package", package, "--out-dir", tmp_path / "wheels", folder=ROOT)
    locked = uv("export", "--frozen", "--all-packages", "--no-emit-workspace", "--no-hashes", folder=ROOT)
    (folder / "constraints.txt").write_text(locked)
    uv("venv", "--python", sys.executable, "venv", folder=folder)
    wheels = sorted((tmp_path / "wheels").glob("*.whl"))
    uv("pip", "install", "--python", "venv", "-c", "constraints.txt", *wheels, folder=folder)
    return folder


def test_own_rules_run_with_ours(own_pack: Path, variables: dict[str, str], tmp_path: Path) -> None:
    stack = Program(tmp_path / "project", variables)
    stack.describe(toolchain="uv", virtualenv=sys.prefix)
    stack.write(PROGRAM)
    stack.output("stack", "init", "own")
    stack.output("config", "set", "gcp:project", "acme")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"GKE008": "disabled", "GKE001": "advisory"}))
    gate = ("--policy-pack", str(own_pack), "--policy-pack-config", str(config))
    said = stack.output("preview", *gate, fails=True)
    assert "beta APIs are not for us" in said
    assert "masterAuthorizedNetworksConfig is not set: " in said
    assert re.search(r"\[advisory\].*GKE001", said)
    assert "GKE020" not in said  # the pack leaves it out
    for name, setting in {"acme-beta": "disabled", "GKE020": "mandatory", "acme-bata": "mandatory"}.items():
        config.write_text(json.dumps({"all": "disabled", name: setting}))
        said = stack.output("preview", *gate, fails=name != "acme-beta")
        assert (f"'{name}' is not a rule" in said) == (name != "acme-beta")
