"""The workflows of GitHub Actions, also those that users copy: actionlint finds no mistake, and each tier runs."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.tools import ensure

from tests.support import REPOSITORY
from tests.support.first_repository import first_repository

pytestmark = pytest.mark.unit

FOLDER = REPOSITORY / ".github/workflows"
RECIPES = re.findall(r"```yaml\n(# \.github/workflows/.*?)```", (REPOSITORY / "docs/ci.md").read_text(), re.DOTALL)
WORKFLOWS = {
    **{path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir())},
    **{f"docs/ci.md {number}": text for number, text in enumerate(RECIPES)},
    "tpuplane init": first_repository("github").content[".github/workflows/platform.yaml"],
}


def mistakes(text: str) -> list[str]:
    """What actionlint finds in a workflow, without the findings of other programs that it would start."""
    command = [ensure(["actionlint"]).binary("actionlint"), "-format", "{{json .}}", "-shellcheck=", "-pyflakes=", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [finding["message"] for finding in json.loads(done.stdout)]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actionlint_finds_no_mistake(name: str) -> None:
    assert mistakes(WORKFLOWS[name]) == []


def test_actionlint_finds_a_mistake() -> None:
    (found,) = mistakes(WORKFLOWS["ci.yaml"].replace("matrix.stack", "matrix.stak"))
    assert 'property "stak" is not defined' in found


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOWS[name])["jobs"]
    return found


def test_each_tier_runs_on_a_push_on_a_pull_request_or_nightly() -> None:
    pytest_options = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    left_out = set(re.findall(r"not (\w+)", pytest_options["addopts"]))
    assert set(jobs("nightly.yaml")["tests"]["strategy"]["matrix"]["tier"]) == left_out
    fast = re.findall(r"^FAST := (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)[0].split()
    on_request = " ".join(jobs("ci.yaml")["twin"]["strategy"]["matrix"]["tests"]).split()
    assert {*fast, *on_request, "tests/browser"} >= set(pytest_options["testpaths"])
    assert on_request[:3] == ["tests/policies", "-m", "engine"]


@pytest.mark.parametrize(("name", "job"), [("ci.yaml", "twin"), ("ci.yaml", "rehearse"), ("tpuplane init", "test")])
def test_a_job_with_a_twin_allows_namespaces_of_users_first(name: str, job: str) -> None:
    runs = [step["run"] for step in jobs(name)[job]["steps"] if "run" in step]
    (first, *_) = (index for index, run in enumerate(runs) if re.search("twin up|make test|pytest", run))
    assert "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0" in runs[:first]


def test_the_token_of_a_fork_does_not_comment() -> None:
    (comment,) = (step for step in jobs("ci.yaml")["plan"]["steps"] if "gh pr comment" in step.get("run", ""))
    assert comment["if"] == "${{ !github.event.pull_request.head.repo.fork }}"


def test_dependencies_are_audited_on_a_pull_request_and_nightly() -> None:
    for name in ("ci.yaml", "nightly.yaml"):
        assert {"run": "make audit"} in jobs(name)["audit"]["steps"]
    (programs,) = (step["run"] for step in jobs("nightly.yaml")["audit"]["steps"] if "name" in step)
    assert "govulncheck" in programs
    assert "exit $found" in programs


def test_a_release_has_the_dependencies_of_the_packages_and_their_changelog(tmp_path: Path) -> None:
    subprocess.run(["make", "sbom", "notes", f"DIST={tmp_path}"], cwd=REPOSITORY, check=True, capture_output=True)
    listed = json.loads((tmp_path / "tpuplane.cdx.json").read_text())
    versions = {component["name"]: component.get("version") for component in listed["components"]}
    locked = tomllib.loads((REPOSITORY / "uv.lock").read_text())["package"]
    assert versions["pulumi"] in [package["version"] for package in locked if package["name"] == "pulumi"]
    assert "pytest" not in versions
    own = (REPOSITORY / "components/tpuplane/VERSION").read_text(encoding="utf-8").strip()
    packages = [package for package in versions if package.startswith("tpuplane") and package != "tpuplane-workspace"]
    assert {package: versions[package] for package in packages} == dict.fromkeys(packages, own)
    assert len(packages) == 4
    page = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert notes in page
    assert "\n## " not in notes
    assert "\n### Added\n" in notes
