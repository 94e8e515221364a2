"""A folder of twins with other files: these are neither listed nor changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tpuplane_twin.cli import app
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.machine.paths import TwinNameError, TwinPaths, all_twins
from typer.testing import CliRunner

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mounted disk with a project of the user's, and one twin."""
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "thesis").write_text("years of work")
    (tmp_path / "lost+found").mkdir()
    TwinPaths.of("local").make()
    return tmp_path


def test_only_twins_are_listed() -> None:
    assert all_twins() == ["local"]


def test_down_all_leaves_them(home: Path) -> None:
    result = CliRunner().invoke(app, ["down", "--all", "--json"])
    assert result.exit_code == 0, result.stderr
    assert sorted(entry.name for entry in home.iterdir()) == ["lost+found", "projects"]
    assert (home / "projects" / "thesis").read_text() == "years of work"


@pytest.mark.parametrize("command", ["down", "up"])
def test_another_folder_is_rejected_by_name(home: Path, command: str) -> None:
    result = CliRunner().invoke(app, [command, "--name", "projects"])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {home / 'projects'} is not a twin's folder: ")
    assert [entry.name for entry in (home / "projects").iterdir()] == ["thesis"]


def test_making_a_twin_does_not_claim_it() -> None:
    with pytest.raises(TwinNameError, match="is not a twin's folder"):
        TwinPaths.of("projects").make()
    assert all_twins() == ["local"]


def test_a_removal_that_was_interrupted_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    paths, remove = TwinPaths.of("local"), shutil.rmtree
    (paths.gcp / "state.db").touch()

    def interrupted(folder: Path) -> None:
        if folder == paths.root:
            raise KeyboardInterrupt
        remove(folder)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            TwinClient(paths).remove()
    assert [entry.name for entry in paths.root.iterdir()] == [paths.marker.name]
    assert all_twins() == ["local"]
    assert TwinClient(paths).remove()
    assert not paths.root.exists()
    paths.root.mkdir()  # all that is left when it ends after the marker
    assert TwinClient(paths).remove()
    assert not TwinClient(paths).remove()
