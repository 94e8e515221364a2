"""A release: the same wheels from the same commit, which work where nothing else is installed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.pulumi_program import run

pytestmark = pytest.mark.e2e

VERSION = (REPOSITORY / "components/tpuplane/VERSION").read_text().strip()
STACK = REPOSITORY / "stacks/Pulumi.local.yaml"


def hashes(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.whl")}


def test_two_builds_are_identical(wheels: Path, tmp_path: Path) -> None:
    """The second one is of a new checkout in another folder, with other times and permissions of files."""
    epoch = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    copy = tmp_path / "copy"
    shutil.copytree(
        REPOSITORY, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"), copy_function=shutil.copy
    )
    for file in copy.rglob("*.py"):
        file.chmod(0o600)
    again = (BIN / "uv", "build", "--quiet", "--wheel", "--all-packages", "--out-dir", tmp_path / "again")
    run(again, copy, {**os.environ, "SOURCE_DATE_EPOCH": epoch.stdout.strip()})
    assert len(hashes(wheels)) == 4
    assert hashes(tmp_path / "again") == hashes(wheels)


def test_all_have_the_version_of_one_file_and_require_it_of_each_other(wheels: Path) -> None:
    for wheel in wheels.glob("*.whl"):
        with ZipFile(wheel) as opened:
            (metadata,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
            found = message_from_string(opened.read(metadata).decode())
        assert found["Version"] == VERSION
        required = [name.partition(";")[0].strip() for name in found.get_all("Requires-Dist", [])]
        ours = [name for name in required if name.startswith("tpuplane")]
        assert [name for name in ours if not name.endswith(f"=={VERSION}")] == []
        assert (found["License-File"], found["Description-Content-Type"]) == ("LICENSE", "text/markdown")


def test_the_changelog_has_upgrade_notes_for_each_release() -> None:
    page = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert releases
    assert [release.partition("\n")[0] for release in releases if "\n### Upgrade notes\n" not in release] == []


def test_they_work_in_an_empty_environment(wheels: Path, constraints: str, tmp_path: Path) -> None:
    """By `uvx`, too, which needs no environment."""
    (tmp_path / "constraints.txt").write_text(constraints)
    variables = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    uv = (BIN / "uv", "--quiet")
    run((*uv, "venv", "empty"), tmp_path, variables)
    install = (*uv, "pip", "install", "--python", "empty", "-c", "constraints.txt", *sorted(wheels.glob("*.whl")))
    run(install, tmp_path, variables)
    for command in ("tpuplane", "tpuplane-twin", "tpuplane-plan-gate"):
        said = run((tmp_path / "empty/bin" / command, "--version"), tmp_path, variables).stdout
        assert said == f"{command} {VERSION}\n"
    alone = (*uv, "tool", "run", "--constraints", "constraints.txt", "--find-links", wheels, f"tpuplane=={VERSION}")
    for check in ((tmp_path / "empty/bin/tpuplane",), alone):
        assert "ok: 2 clusters, 104 chips" in run((*check, "check", STACK), tmp_path, variables).stdout
