"""The commands of a contributor: the targets of make, and the hooks of a commit, which CI runs too."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support import REPOSITORY

pytestmark = pytest.mark.unit

MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
CI = yaml.safe_load((REPOSITORY / ".github/workflows/ci.yaml").read_text(encoding="utf-8"))


def test_make_alone_prints_each_target_with_a_line_and_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    printed = subprocess.run(
        ["make", "--no-print-directory"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    rows = dict(re.findall(r"^(\S+) +(\S.*)$", printed, re.MULTILINE))
    phony = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[0].split()
    assert list(rows) == phony
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_the_shell_of_a_deleted_twin_installs_nothing(variable: str, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    copied = shutil.copy(REPOSITORY / "scripts/bootstrap.sh", tmp_path / "scripts")
    gone = tmp_path / "twin.pem"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), variable: str(gone)}
    done = subprocess.run([copied], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"bootstrap: {variable} is {gone}, and this file does not exist. Open a new shell if this one was connected to "
        "a twin that is deleted; else correct or unset the variable\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["scripts"]


def test_ci_runs_the_hooks_of_a_commit_and_the_fast_tests() -> None:
    hooks = [hook for repository in HOOKS for hook in repository["hooks"]]
    assert {(hook["language"], hook["pass_filenames"]) for hook in hooks} == {("system", False)}
    commands = [line for step in CI["jobs"]["test"]["steps"] for line in step.get("run", "").splitlines()]
    assert commands == [f"make {' '.join(hook['entry'].removeprefix('make ') for hook in hooks)} fast"]


@pytest.mark.parametrize("command", ["validate-config", "run"])
def test_pre_commit_accepts_the_hooks(command: str, tmp_path: Path) -> None:
    """In a repository in which the commands do nothing."""
    (tmp_path / ".pre-commit-config.yaml").write_text((REPOSITORY / ".pre-commit-config.yaml").read_text())
    (tmp_path / "Makefile").write_text("%: ; @test $@ != types\n")
    for git in (("init", "--quiet"), ("add", ".")):
        subprocess.run(["git", *git], cwd=tmp_path, check=True)
    environment = {"PATH": f"{REPOSITORY / '.venv/bin'}:/usr/bin:/bin", "PRE_COMMIT_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["pre-commit", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "WARNING" not in done.stdout + done.stderr
    if command == "run":
        assert re.findall(r"\.(Passed|Failed)$", done.stdout, re.MULTILINE) == ["Passed", "Failed", "Passed"]
