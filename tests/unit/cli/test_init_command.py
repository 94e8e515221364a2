"""`tpuplane init`: asks until an answer is right, keeps files that exist, and what it writes is checked."""

from __future__ import annotations

import ast
import compileall
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tpuplane.init
import yaml
from tpuplane.cli import app
from tpuplane.init.first_stack import Answers, locations_offered
from tpuplane.plan import plan
from tpuplane.spec import load_stack
from tpuplane.tpu import catalogue
from typer.testing import CliRunner, Result

from tests.support import BIN
from tests.support.first_repository import ANSWERS, first_repository
from tests.support.git import git

pytestmark = pytest.mark.unit

ASKED = ("name", "project", "location", "generation", "topology")
EVERYWHERE = {
    ".gitignore",
    "Makefile",
    "Pulumi.yaml",
    "README.md",
    "__main__.py",
    "policies/PulumiPolicy.yaml",
    "policies/__main__.py",
    "policies/config/dev.json",
    "policies/config/prod.json",
    "pyproject.toml",
    "scenarios/host-failure.yaml",
    "stacks/Pulumi.dev.yaml",
    "stacks/Pulumi.prod.yaml",
}
CI = {"github": ".github/workflows/platform.yaml", "gitlab": ".gitlab-ci.yml"}


def init(folder: Path, *args: str, answers: str = "", **changed: str | None) -> Result:
    """Run the command with `ANSWERS` to what it asks, but for what is changed; None leaves an option out."""
    given = {**{key: ANSWERS[key] for key in ASKED}, **changed}
    options = [
        part for key, value in given.items() if value is not None for part in (f"--{key.replace('_', '-')}", value)
    ]
    return CliRunner().invoke(app, ["init", str(folder), *options, *args], input=answers)


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_options_alone_write_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "acme"
    result = init(folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert written(folder) == {*EVERYWHERE, CI["github"]}
    assert f"wrote 14 files to {folder}: {', '.join(sorted(written(folder)))}\n" in result.stdout
    assert re.findall(r"^  (\S+ \S+)", result.stdout, re.MULTILINE) == [
        f"cd {folder}",
        "make up",
        "make test",
        "git init",
    ]
    assert "CI deploys prod, the last of --environments\n" in result.stdout
    for environment in ("dev", "prod"):
        platform = plan(load_stack(folder / f"stacks/Pulumi.{environment}.yaml"))
        assert (platform.name, platform.project, platform.chips) == (f"acme-{environment}", "my-project", 4)
        policies = json.loads((folder / f"policies/config/{environment}.json").read_text())
        assert policies["TPU012"] == {"chips": 4}
    assert "%%" not in "".join((folder / path).read_text() for path in written(folder))


def test_a_platform_without_slices_has_no_host_to_fail(tmp_path: Path) -> None:
    assert init(tmp_path, slices="0").exit_code == 0
    scenario = (tmp_path / "scenarios/host-failure.yaml").read_text()
    assert "# events: [{at: 1h, event: fail-host, of: trainer/0}]" in scenario
    assert plan(load_stack(tmp_path / "stacks/Pulumi.dev.yaml")).chips == 0


def test_a_folder_that_cannot_exist_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 300)
    result = init(folder)
    said = f"{folder}/Makefile cannot be written: File name too long; choose another folder or name\n"
    assert (result.exit_code, result.stderr) == (2, said)


def test_if_one_file_cannot_be_written_the_others_remain_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / "stacks/Pulumi.prod.yaml").mkdir(parents=True)
    result = init(tmp_path, "--force")
    assert "stacks/Pulumi.prod.yaml cannot be written: Is a directory" in result.stderr
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {"Makefile"}
    assert (tmp_path / "Makefile").read_text() == "all:\n"


def test_files_that_pip_compiles_are_no_files_of_the_repository(tmp_path: Path) -> None:
    compileall.compile_dir(Path(tpuplane.init.__file__).with_name("template"), quiet=1)
    assert init(tmp_path).exit_code == 0
    assert written(tmp_path) == {*EVERYWHERE, CI["github"]}


def test_every_answer_is_checked_at_once_and_asked_for_again(tmp_path: Path) -> None:
    answers = "Acme\nacme\nshort\nreal-project\nmars\nus-central1\nv7\nv6e\n4x5\n4x4\n"
    result = init(tmp_path, answers=answers, **dict.fromkeys(ASKED))
    assert result.exit_code == 0
    rejected = [line.strip().partition(" ")[0] for line in result.stderr.splitlines()]
    assert rejected == ["'Acme-dev'", "'Acme-prod'", "'short'", "'mars'", "'v7'", "'4x5'"]
    assert load_stack(tmp_path / "stacks/Pulumi.prod.yaml").project == "real-project"
    assert "placeholder" not in result.stdout


def test_a_project_can_wait(tmp_path: Path) -> None:
    result = init(tmp_path, project=None, answers="\n")
    assert result.exit_code == 0
    assert (
        "my-project is a placeholder. The twin accepts it. For Google Cloud, set gcp:project in stacks/"
        in result.stdout
    )


@pytest.mark.parametrize("left_out", ASKED)
def test_without_an_answer_nothing_is_written(tmp_path: Path, left_out: str) -> None:
    result = init(tmp_path, **{left_out: None})
    assert result.exit_code == 2
    assert result.stderr.endswith(f"no answer; set --{left_out} to skip the question. No file was written.\n")
    assert written(tmp_path) == set()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("name", "Acme", "--name: 'Acme-dev' is not allowed"),
        ("name", "a" * 21, "--name: the name 'aaaaaaaaaaaaaaaaaaaaa-prod-main' of its service account"),
        ("project", "short", "--project: 'short' is not allowed"),
        ("location", "mars", "--location: 'mars' is not a Google Cloud region or zone"),
        ("generation", "v4", "--generation: 'v4' is not known to be in a zone of us-central1"),
        ("topology", "4x5", "--topology: '4x5' is not a v6e topology"),
        ("zone", "us-east5-a", "--zone: 'us-east5-a' is not in the cluster's region"),
        ("slices", "many", "--slices: 'many' is not a whole number"),
        ("capacity", "rented", "--capacity: 'rented' "),
        ("reservation", "ours", "--reservation: only with --capacity reservation, not on-demand; remove it"),
        ("environments", "dev,Prod", "--environments: 'Prod' is not allowed"),
        ("environments", "dev,,prod", "--environments: '' is not allowed"),
        ("environments", "dev, dev", "--environments: 'dev, dev' contains a name twice"),
        ("environments", "e" * 40, "--name: 'acme-eee"),
    ],
)
def test_a_wrong_option_is_rejected_and_nothing_is_written(
    tmp_path: Path, option: str, value: str, message: str
) -> None:
    result = init(tmp_path, **{option: value})
    assert (result.exit_code, result.stderr[: len(message)]) == (2, message)
    assert written(tmp_path) == set()


def test_an_unknown_ci_service_is_rejected(tmp_path: Path) -> None:
    result = init(tmp_path, ci="jenkins")
    assert result.exit_code == 2
    assert all(name in result.stderr for name in ("jenkins", "github", "gitlab", "none"))


def test_existing_files_stay_without_force(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    for name in ("README.md", "stacks/Pulumi.prod.yaml", "mine.txt"):
        (tmp_path / name).write_text("mine")
    result = init(tmp_path, **dict.fromkeys(ASKED))
    assert (result.exit_code, result.stdout) == (2, "")  # before the first question
    assert result.stderr == (
        f"{tmp_path} has README.md, stacks/Pulumi.prod.yaml; choose another folder, or overwrite them with --force\n"
    )
    assert written(tmp_path) == {"README.md", "stacks/Pulumi.prod.yaml", "mine.txt"}
    assert init(tmp_path, "--force").exit_code == 0
    assert (tmp_path / "README.md").read_text().startswith("# acme")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = init(tmp_path / "taken")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("service", ["none", *CI])
def test_each_service_has_its_file_and_the_makefile_its_targets(tmp_path: Path, service: str) -> None:
    assert init(tmp_path, ci=service).exit_code == 0
    assert written(tmp_path) == EVERYWHERE | {path for name, path in CI.items() if name == service}
    for name, path in CI.items():
        if name == service:
            targets = set(re.findall(r"\bmake (\w+)", " ".join(texts(yaml.safe_load((tmp_path / path).read_text())))))
            assert targets == {"test", "summary", "diff", "check", "down"}
            subprocess.run(["make", "-n", "--silent", *targets], cwd=tmp_path, check=True, capture_output=True)


def test_the_makefile_compares_with_a_revision_that_git_has_only(tmp_path: Path) -> None:
    folder = tmp_path / "of-a-larger-repository"
    assert init(folder, ci="none").exit_code == 0
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/tpuplane").symlink_to(BIN / "tpuplane")
    (folder / ".venv/.installed").touch()

    def make(*words: str) -> tuple[int, str]:
        done = subprocess.run(["make", "--silent", *words], cwd=folder, check=False, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-qm", "no stack file", "--allow-empty")
    assert make("diff") == (0, "")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "the stack files")
    stack = folder / "stacks/Pulumi.dev.yaml"
    stack.write_text(stack.read_text().replace("topology: 2x2", "topology: 2x4"))
    for target, code in (("diff", 2), ("summary", 0)):
        done, said = make(target)
        assert (done, "clusters.main.pools.trainer.topology" in said) == (code, True), said
        assert make(target, "BASE=HEAD^")[0] == 0
        done, said = make(target, "BASE=origin/mian")
        assert (done, "Not a valid object name origin/mian" in said) == (2, True), said


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each_value in value.values() for text in texts(each_value)]
    return [text for each_value in value for text in texts(each_value)] if isinstance(value, list) else [str(value)]


@pytest.mark.parametrize("service", CI)
def test_names_that_yaml_reads_as_other_values_are_texts(tmp_path: Path, service: str) -> None:
    assert init(tmp_path, name="true", environments="no,off", ci=service).exit_code == 0
    assert yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())["name"] == "true"
    recipe = yaml.safe_load((tmp_path / CI[service]).read_text())
    jobs = recipe["jobs"] if service == "github" else recipe
    matrix = jobs["test"].get("strategy", jobs["test"].get("parallel"))["matrix"]
    assert matrix in ({"stack": ["no", "off"]}, [{"STACK": ["no", "off"]}])
    assert jobs["deploy"]["environment"] == "off"


def test_without_ci_nothing_is_said_of_its_deployment(tmp_path: Path) -> None:
    assert "CI deploys" not in init(tmp_path, ci="none").stdout


def test_the_files_of_the_template_are_valid(tmp_path: Path) -> None:
    init(tmp_path, environments="prod-eu")
    assert yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())["name"] == "acme"
    pinned = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    names = [*pinned["project"]["dependencies"], *pinned["dependency-groups"]["dev"]]
    assert {name.partition("==")[2] for name in names} == {installed()}
    for program in ("__main__.py", "policies/__main__.py"):
        ast.parse((tmp_path / program).read_text())
    assert "maintenance" in (tmp_path / "stacks/Pulumi.prod-eu.yaml").read_text()


def installed() -> str:
    return CliRunner().invoke(app, ["--version"]).stdout.split()[1]


def test_a_reservation_is_in_the_policies_too() -> None:
    reserved = {"capacity": "reservation", "reservation": "ours", "reserved_chips": "8"}
    content = first_repository(**reserved).content
    assert json.loads(content["policies/config/prod.json"])["TPU017"] == {"reservations": {"ours": 8}}


def test_every_location_and_generation_is_right_in_every_environment() -> None:
    for location in locations_offered():
        for generation in Answers(location=location).generations:
            zone = Answers(location=location, generation=generation).zones[0]
            topology = catalogue().generation(generation).topologies[0]
            for environment in first_repository(
                location=location, generation=generation, zone=zone, topology=topology
            ).environments:
                environment.described()
