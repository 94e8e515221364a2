"""The oldest SDKs that the components may be installed with: their inputs, and those of the stand-in for Google."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

pytestmark = pytest.mark.twin

ROOT = Path(__file__).parents[3]
CONTRACTS = (
    "tests/standins/gcp/test_gcp_sdk_names.py",
    "tests/components/test_sdk_inputs.py",
    "tests/components/test_program.py",
)


def run(*command: str | Path, **variables: str) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def oldest(sdk: str) -> str:
    """The lower bound that both packages declare."""
    wanted = [require for package in ("tpuplane", "tpuplane-standins") for require in requires(package) or ()]
    (bound,) = {found[1] for requirement in wanted if (found := re.match(rf"{sdk}\b.*>=([\d.]+)", requirement))}
    return bound


def test_contracts_hold_for_the_oldest_sdks(tmp_path: Path) -> None:
    bounds = {sdk: oldest(sdk) for sdk in ("pulumi-gcp", "pulumi-kubernetes")}
    uv = Path(sys.executable).with_name("uv")
    wheels = [f"{sdk}=={bound}.*" for sdk, bound in bounds.items()]
    run(uv, "pip", "install", "--quiet", "--no-deps", "--target", tmp_path, *wheels)
    # What is on PYTHONPATH comes before what is installed.
    for sdk, bound in bounds.items():
        version = f"from importlib.metadata import version; print(version({sdk!r}))"
        assert run(sys.executable, "-c", version, PYTHONPATH=str(tmp_path)).startswith(bound)
    run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *CONTRACTS, PYTHONPATH=str(tmp_path))
