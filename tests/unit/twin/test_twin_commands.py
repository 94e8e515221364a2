"""Commands of the twin: the twin that they act on, their arguments, and their docs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import psutil
import pytest
import typer
from tpuplane_twin.cli import app, faults, show
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell.environment import chart_mirror, shell_environment
from typer.testing import CliRunner

from tests.support.twin_status import status

pytestmark = pytest.mark.unit

REPOSITORY = Path(__file__).parents[3]


def test_every_command_is_in_the_documentation() -> None:
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in (REPOSITORY / "README.md", *REPOSITORY.glob("docs/*.md"))
    )
    assert [name for name in typer.main.get_group(app).commands if f"tpuplane-twin {name}" not in pages] == []


@pytest.fixture(autouse=True)
def no_twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.delenv("TPUPLANE_TWIN", raising=False)


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1, result.output
    return result.stderr


def test_arguments_after_the_command_belong_to_it() -> None:
    for arguments in (["kubectl", "get", "pods", "-n", "research"], ["sh", "--name", "other", "-h"]):
        assert "the twin 'local' is not up" in said("exec", *arguments)
        assert "the twin 'two' is not up" in said("exec", "-n", "two", *arguments)


@pytest.mark.parametrize("arguments", [[], ["--nmae", "two", "kubectl"]])
def test_wrong_arguments_of_exec_are_usage_errors(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["exec", *arguments]).exit_code == 2


@pytest.mark.parametrize(
    "command", [["logs"], ["stockout"], ["fault"], ["reclaim", "p"], ["exec", "true"], ["rehearse", "none"]]
)
def test_a_command_acts_on_the_twin_of_the_shell_and_prints_its_name(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN", "examples")
    name, *rest = command
    assert said(*command).startswith("twin examples\n")
    assert said(name, "--name", "local", *rest).startswith("twin local\n")


def test_the_remedy_leads_to_the_twin_that_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN", "examples")
    assert said("status").endswith("start it with `tpuplane-twin up`\n")
    assert said("status", "--name", "local").endswith("start it with `tpuplane-twin up --name local`\n")


def test_an_environment_leads_to_its_twin(tmp_path: Path) -> None:
    client = TwinClient(TwinPaths.of("examples").make())
    Store(client.paths.gcp / "state.db").close()
    record = {"pid": os.getpid(), "created": psutil.Process().create_time(), "api": "http://127.0.0.1:1"}
    client.paths.record.write_text(json.dumps(record))
    variables = shell_environment(client)
    assert (variables["TPUPLANE_TWIN"], variables["TPUPLANE_TWIN_HOME"]) == ("examples", str(tmp_path))
    assert variables["TPUPLANE_TIMELINE"] == str(client.paths.timeline)


@pytest.mark.parametrize(
    ("mirror", "kept"),
    [("", False), ("twins/other/charts", False), ("mine", True), ("oci://registry.example/charts", True)],
)
def test_an_environment_keeps_the_users_mirror_of_charts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str, kept: bool
) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    given = str(tmp_path / mirror) if mirror and ":" not in mirror else mirror
    monkeypatch.setenv("TPUPLANE_CHART_MIRROR", given)
    paths = TwinPaths.of("examples")
    assert chart_mirror(paths) == (given if kept else str(paths.charts))


def test_the_end_of_a_stockout_reports_the_back_off(capsys: pytest.CaptureFixture[str]) -> None:
    left = {"cluster": "lab", "pool": "serving", "seconds": 252, "cause": "GCE_STOCKOUT"}
    out = {"zone": "us-east5-b", "generation": "v6e", "capacity": "any"}
    faults.print_stockouts({"stockouts": [out], "quotas": [], "backoff": [left]}, cleared=False)
    assert capsys.readouterr().out.splitlines() == [
        "stockout: no v6e in us-east5-b except by reservation",
        "back-off: the cluster autoscaler does not scale up serving of lab for 4 min 12 s: GCE_STOCKOUT",
    ]
    faults.print_stockouts({"stockouts": [], "quotas": [], "backoff": [left]}, cleared=True)
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first == "no stockouts"
    assert "The back-off continues, as on GKE" in rest
    faults.print_stockouts({"stockouts": [], "quotas": [], "backoff": []}, cleared=True)
    assert capsys.readouterr().out == f"{first}\n"


@pytest.mark.parametrize("option", ["-h", "--help", "--version"])
def test_help_and_version(option: str) -> None:
    assert "tpuplane-twin" in CliRunner().invoke(app, [option], prog_name="tpuplane-twin").stdout


def test_names_of_twins_are_completed() -> None:
    for name in ("examples", "local"):
        TwinPaths.of(name).make()
    words = {"COMP_WORDS": "tpuplane-twin status --name ex", "COMP_CWORD": "3"}
    asked = {**words, "_TPUPLANE_TWIN_COMPLETE": "complete_bash"}
    assert CliRunner().invoke(app, env=asked, prog_name="tpuplane-twin").stdout.split() == ["examples"]


def test_up_lets_the_clock_of_a_killed_rehearsal_run(monkeypatch: pytest.MonkeyPatch) -> None:
    client = TwinClient(TwinPaths.of("local").make())
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(TwinClient, "request", lambda _, method, path: asked.append((method, path)))
    with client.for_rehearsal() as free:
        assert free
        client.resume_clock()
        with client.for_rehearsal() as again:
            assert not again
    assert asked == []
    client.resume_clock()
    assert asked == [("DELETE", "/twin/clock")]


def test_status_says_that_the_clock_stands_still(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_status(status(clockStill=True))
    shown = " ".join(capsys.readouterr().out.split())
    assert "the clock stands still, as in a rehearsal; after a killed one, run `" in shown
    show.print_status(status())
    assert "clock" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quota", "--clear", "--region", "us-east5"], "--clear removes all limits; to remove one, name it without"),
        (["quota", "--clear", "--capacity", "spot"], "--clear removes all limits; to remove one, name it without"),
        (["quota", "--capacity", "spot"], "a quota limit needs --region and --generation"),
        (["disrupt", "--cluster", "lab"], "name a disruption; allowed: "),
        (["disrupt", "--namespace", "kueue-system"], "name a disruption; allowed: "),
        (["disrupt", "webhook-late", "--clear"], "--clear removes all disruptions, with --cluster those of a cluster"),
    ],
)
def test_an_option_without_effect_is_a_mistake(arguments: list[str], message: str) -> None:
    assert message in said(*arguments)
