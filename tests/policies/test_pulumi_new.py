"""The template of `pulumi new` gives the same repository as `tpuplane init`, without a network."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from scripts import pulumi_template
from tests.support.first_repository import first_repository

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / pulumi_template.FOLDER


def files(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.policies
def test_the_folder_has_only_generated_files() -> None:
    assert {f"{pulumi_template.FOLDER}/{path}" for path in files(TEMPLATE)} == pulumi_template.template().keys()


@pytest.mark.twin
def test_pulumi_new_writes_what_init_writes(variables: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "platform"
    folder.mkdir()
    command = ["pulumi", "new", str(TEMPLATE), "--generate-only", "--yes"]
    subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
    written = files(folder)
    expected = first_repository("github", name="platform").content
    about = yaml.safe_load(written.pop("Pulumi.yaml"))
    del about["config"]  # in which Pulumi names the template
    assert about == yaml.safe_load(expected.pop("Pulumi.yaml"))
    assert written == expected
