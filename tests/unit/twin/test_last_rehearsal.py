"""A twin keeps its last rehearsal, which `tpuplane ui` shows in its shell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from tpuplane.ui.timeline import read_timeline
from tpuplane_twin.cli import scenarios
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.rehearsal.chart import chart

from tests.support.rehearsals import DAY

pytestmark = pytest.mark.unit

TRACE = "team,shape,slices,minutes,priority,at\nresearch,v6e 4x4,1,30,,0\n"
SCENARIO = (
    "title: night\nstack: acme\njobs: [{name: a, team: research, shape: v6e 4x4, runs: 1h, count: 2}]\n"
    "expect:\n- {figure: overall.succeeded, equals: 2}\n"
)


def rehearsed(folder: Path, text: str, name: str, stacks: Sequence[str] = ()) -> TwinPaths:
    file = folder / name
    file.write_text(text)
    paths = TwinPaths.of("examples")
    scenarios.rehearse_files(paths, [file], stacks, folder, None, as_json=True)
    return paths


@pytest.fixture(autouse=True)
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    for file in ("Pulumi.yaml", "Pulumi.acme.yaml", "Pulumi.other.yaml"):
        (tmp_path / file).write_text("name: lab\n")
    monkeypatch.setattr(scenarios, "_on_stack", lambda *_, **__: DAY)


def test_the_last_one_is_kept_with_its_picture(tmp_path: Path) -> None:
    TwinPaths.of("examples").make()
    paths = rehearsed(tmp_path, TRACE, "day.csv", ["acme"])
    assert (found := read_timeline(paths.timeline))["heading"].endswith(": day.csv")
    assert found["picture"] == chart([DAY])
    with pytest.raises(typer.Exit):  # it ends otherwise than it expects
        rehearsed(tmp_path, SCENARIO, "night.yaml")
    assert read_timeline(paths.timeline)["unmet"] == ["overall.succeeded is 1; expected: 2"]


def test_a_picture_that_cannot_be_written_costs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TwinPaths.of("examples").make()
    trace = tmp_path / "day.csv"
    trace.write_text(TRACE)
    paths = TwinPaths.of("examples")
    with pytest.raises(TwinError, match="cannot be written: No space left on device; the result is complete"):
        scenarios.rehearse_files(paths, [trace], ["acme"], tmp_path, Path("/dev/full"), as_json=True)
    assert json.loads(capsys.readouterr().out)["title"] == "day.csv"
    assert paths.timeline.exists()


def test_no_twin_is_made_for_it(tmp_path: Path) -> None:
    """Several stacks have twins of their own, without one of this name."""
    paths = rehearsed(tmp_path, TRACE, "day.csv", ["acme", "other"])
    assert not paths.root.exists()
