"""Errors of `tpuplane-twin rehearse` before it starts or writes anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tpuplane_twin.cli import app, scenarios
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths
from typer.testing import CliRunner

pytestmark = pytest.mark.unit

PROJECT = "name: lab\nruntime: python\nstackConfigDir: stacks\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    monkeypatch.delenv("TPUPLANE_TWIN", raising=False)
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text(PROJECT)
    for stack in ("prod", "local"):
        (folder / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    return folder


def rejected(project: Path, stack: str, *options: str, code: int = 1) -> str:
    """The message; nothing may have been started or written."""
    before = sorted(project.rglob("*"))
    result = CliRunner().invoke(app, ["rehearse", stack, "--project", str(project), *options])
    assert result.exit_code == code, result.output
    assert sorted(project.rglob("*")) == before
    assert not (project.parent / "twins").exists()
    return result.stderr.removeprefix("twin local\n").strip()


def test_a_stack_without_a_file_is_rejected_with_the_existing_stacks(project: Path) -> None:
    file = project / "stacks" / "Pulumi.lcoal.yaml"
    assert rejected(project, "lcoal") == f"error: the stack 'lcoal' has no file {file}; existing stacks: local, prod"


def test_no_stack_files_at_all(project: Path) -> None:
    (project / "Pulumi.yaml").write_text("name: lab\nruntime: python\n")
    message = rejected(project, "local")
    assert message.endswith(f"has no file {project}/Pulumi.local.yaml; that folder has no stack file")


def test_a_folder_that_is_no_project(project: Path) -> None:
    assert rejected(project / "stacks", "local").startswith(f"error: no Pulumi.yaml in {project / 'stacks'}; run this")


@pytest.mark.parametrize("text", ["name: [", "- name: lab", ""])
def test_a_broken_project_file_is_named(project: Path, text: str) -> None:
    (project / "Pulumi.yaml").write_text(text)
    assert rejected(project, "local").startswith(f"error: {project / 'Pulumi.yaml'} ")


@pytest.mark.parametrize("option", ["--against", "--picture"])
def test_an_option_of_a_file_with_a_stack(project: Path, option: str) -> None:
    message = " ".join(rejected(project, "prod", option, "local", code=2).replace("│", "").split())
    assert f"{option}: is for a scenario or a trace, and 'prod' is a stack; remove it, or name a file" in message


def test_every_stack_of_a_trace_is_looked_up_before_the_first_one_starts(project: Path) -> None:
    trace = project / "jobs.csv"
    trace.write_text("team,shape,slices,minutes,priority,at\nresearch,v6e-4x4,1,60,normal,0\n")
    message = rejected(project, str(trace), "--against", "local", "--against", "lcoal")
    assert message.startswith("error: the stack 'lcoal' has no file ")


def test_the_file_of_a_stack_is_no_scenario(project: Path) -> None:
    file = project / "stacks" / "Pulumi.prod.yaml"
    message = rejected(project, str(file))
    assert message == f"error: {file} is a stack file, not a scenario; name the stack instead: prod"


def described(project: Path, stack: str, team: str, pool: str) -> None:
    """A stack with a cluster that has one team and one node pool."""
    spec = {
        "name": "lab",
        "teams": {team: {"members": ["user:a@example.com"], "clusters": {"main": {"pools": {pool: {"slices": 1}}}}}},
        "clusters": {
            "main": {
                "location": "us-central1",
                "addons": {"kueue": {}, "jobset": {}},
                "pools": {pool: {"generation": "v6e", "topology": "4x4", "slices": 1}},
            }
        },
    }
    text = json.dumps({"config": {"gcp:project": "my-project", "tpuplane:platform": spec}})
    (project / "stacks" / f"Pulumi.{stack}.yaml").write_text(text)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (("sales", "trainer"), "the job 'a': 'research' is not a team of the stack 'prod'; allowed: sales"),
        (
            ("research", "workers"),
            "the event 'fail-host trainer-0/1' at 1h: 'trainer-0' is not a node pool of the stack 'prod'; "
            "allowed: workers-0",
        ),
    ],
)
def test_what_only_the_first_stack_has_is_reported_before_it_starts(
    project: Path, second: tuple[str, str], message: str
) -> None:
    described(project, "local", "research", "trainer")
    described(project, "prod", *second)
    file = project / "scenario.yaml"
    file.write_text(
        "title: x\njobs: [{name: a, team: research, shape: v6e 4x4, runs: 2h}]\n"
        "events: [{at: 1h, event: fail-host, of: trainer-0/1}]\n"
    )
    assert rejected(project, str(file), "--against", "local", "--against", "prod") == f"error: {file}: {message}"


def test_a_mistake_in_a_stack_file_is_reported_before_a_stack_starts(project: Path) -> None:
    described(project, "local", "research", "trainer")
    described(project, "prod", "Research", "trainer")
    trace = project / "jobs.csv"
    trace.write_text("team,shape,slices,minutes,priority,at\nresearch,v6e-4x4,1,60,normal,0\n")
    message = rejected(project, str(trace), "--against", "local", "--against", "prod")
    assert message.startswith(f"error: {project / 'stacks' / 'Pulumi.prod.yaml'}:1: ")


def test_a_trace_may_have_a_name_in_upper_case(project: Path) -> None:
    trace = project / "JOBS.CSV"
    trace.write_text("team,shape,slices,minutes,priority,at\nresearch,v6e-4x4,1,60,normal,0\n")
    message = rejected(project, str(trace))
    assert message == f"error: {trace} is a trace: name the stacks that it is played on, each with --against STACK"


def test_a_twin_of_a_comparison_is_removed_after_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    removed: list[str] = []

    def fail(paths: TwinPaths, *_: object, **__: object) -> None:
        started.append(paths.name)
        raise TwinError("an event is rejected")

    monkeypatch.setattr(scenarios, "_on_stack", fail)
    monkeypatch.setattr(TwinClient, "remove", lambda client: removed.append(client.paths.name))
    trace = project / "jobs.csv"
    trace.write_text("team,shape,slices,minutes,priority,at\nresearch,v6e-4x4,1,60,normal,0\n")
    assert rejected(project, str(trace), "--against", "local", "--against", "prod") == "error: an event is rejected"
    assert started == removed == ["local-against-local"]


def test_a_trace_that_is_not_utf_8_has_its_place(project: Path) -> None:
    trace = project / "jobs.csv"
    trace.write_bytes("team,shape\nbüro,v6e-4x4\n".encode("latin-1"))
    message = rejected(project, str(trace), "--against", "local")
    assert message == f"error: {trace}: not UTF-8 text: invalid start byte at byte 12; save it as UTF-8"
