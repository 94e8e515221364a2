"""docs/ci.md and the project's own workflow: they parse, and every command has the options that they use."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.shell.environment import google_environment

from tests.support.first_repository import first_repository
from tests.support.git import git
from tests.support.providers.google_api import PROJECT, TOKEN, google_api
from tests.support.pulumi_program import Program

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yaml"
USE = re.compile(r"(?<![\w@./-])(?:\.venv/bin/)?(tpuplane-plan-gate|tpuplane-twin|tpuplane|pulumi) ([^|;>)]+)")
OURS = ("tpuplane", "tpuplane-twin", "tpuplane-plan-gate")


INIT = {"github": ".github/workflows/platform.yaml", "gitlab": ".gitlab-ci.yml"}


def recipes() -> list[str]:
    """The workflow, the recipes of the page, and those of a first repository."""
    theirs = [first_repository(service).content[path] for service, path in INIT.items()]
    return [WORKFLOW.read_text(encoding="utf-8"), *re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL), *theirs]


def texts(value: Any) -> Iterator[str]:
    """Every string in a recipe, line by line."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield from value.splitlines()


@cache
def commands() -> frozenset[tuple[str, ...]]:
    """Each use of our programs and of Pulumi in any recipe, without what stands before, behind and between."""
    lines = [line for recipe in recipes() for line in texts(yaml.safe_load(recipe))]
    return frozenset((program, *rest.replace('"', "").split()) for line in lines for program, rest in USE.findall(line))


def options(command: tuple[str, ...]) -> list[str]:
    return [word.partition("=")[0] for word in command if word.startswith("--")]


@cache
def asked(*command: str, **variables: str) -> str:
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, env=variables or None)
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


@pytest.mark.policies
def test_there_is_a_recipe_for_each_and_each_parses() -> None:
    parsed = [yaml.safe_load(recipe) for recipe in recipes()]
    assert len(parsed) == 6
    assert {"jobs" in text for text in parsed[:2]} == {True}
    assert "steps" in parsed[3]


@pytest.mark.policies
@pytest.mark.parametrize("program", OURS)
def test_our_commands_have_the_options(program: str) -> None:
    used = [command for command in commands() if command[0] == program]
    assert used
    for command in used:
        words = command[1:2] if program != "tpuplane-plan-gate" else ()
        said = asked(str(BIN / program), *words, PATH=str(BIN), COLUMNS="200")
        for option in options(command):
            assert option in said, command


@pytest.mark.policies
def test_files_that_recipes_name_are_there() -> None:
    for command in commands():
        for word in command:
            if word.startswith(("policies", "stacks")):
                assert (ROOT / word.replace("$stack", "prod").replace("$STACK", "prod")).exists(), command


@pytest.mark.policies
def test_gitlab_compares_with_the_commit_where_the_branch_began(tmp_path: Path) -> None:
    """The target branch has changed since. A merged result contains that change, so its base is the tip."""
    (origin := tmp_path / "origin").mkdir()
    git(origin, "init", "-q")
    commits = {}
    for name in ("base", "tip"):
        git(origin, "commit", "-qm", name, "--allow-empty")
        commits[name] = git(origin, "rev-parse", "HEAD").strip()
    branch, merged = {"DIFF_BASE": commits["base"]}, {"DIFF_BASE": commits["base"], "TARGET_BRANCH": commits["tip"]}
    fetches = [line for recipe in recipes() for line in texts(yaml.safe_load(recipe)) if line.startswith("git fetch")]
    assert len(fetches) == 2
    for fetch, (variables, expected) in itertools.product(fetches, ((branch, "base"), (merged, "tip"))):
        names = {f"CI_MERGE_REQUEST_{name}_SHA": commit for name, commit in variables.items()}
        git(tmp_path, "clone", "-q", "--depth", "1", origin.as_uri(), "clone")
        subprocess.run(["bash", "-euc", fetch], cwd=tmp_path / "clone", check=True, env={**os.environ, **names})
        assert git(tmp_path / "clone", "rev-parse", "FETCH_HEAD").strip() == commits[expected]
        shutil.rmtree(tmp_path / "clone")


@pytest.mark.twin
def test_pulumi_has_the_options(variables: dict[str, str]) -> None:
    used = [command for command in commands() if command[0] == "pulumi"]
    assert {command[1] for command in used} == {"stack", "preview", "up"}
    for command in used:
        words = [word for word in command[1:3] if not word.startswith("-")]
        said = asked("pulumi", *words, **variables, PULUMI_EXPERIMENTAL="1")
        for option in options(command):
            assert f"{option} " in said or f"{option}\n" in said, command


PROGRAM = """
import pulumi, pulumi_gcp as gcp

net = gcp.compute.Network("net", name="net", auto_create_subnetworks=False)
for name in pulumi.Config().get("subnetworks", "a").split():
    gcp.compute.Subnetwork(
        name, name=name, network=net.id, region="us-central1", ip_cidr_range=f"10.{ord(name)}.0.0/20",
        private_ip_google_access=True, log_config={"flow_sampling": 0.5},
    )
"""


@pytest.mark.twin
def test_a_saved_plan_is_applied_and_nothing_beyond_it(variables: dict[str, str], tmp_path: Path) -> None:
    gate = ("--policy-pack", str(ROOT / "policies"))
    with google_api(tmp_path) as api:
        stack = Program(tmp_path / "project", variables | google_environment(api.url, TOKEN))
        stack.describe(toolchain="uv", virtualenv=sys.prefix)
        stack.write(PROGRAM)
        stack.output("stack", "init", "saved")
        stack.output("config", "set", "gcp:project", PROJECT)
        stack.output("preview", "--save-plan", "plan.json", *gate)
        stack.output("config", "set", "subnetworks", "a b")
        rejected = stack.output("up", "--yes", "--plan", "plan.json", *gate, fails=True)
        assert "not allowed by the plan" in rejected
        stack.output("config", "set", "subnetworks", "a")
        assert "Resources:" in stack.output("up", "--yes", "--plan", "plan.json", *gate)
        posted = [request.path for request in api.requests if request.method == "POST"]
        assert sum("subnetworks" in path for path in posted) == 1
