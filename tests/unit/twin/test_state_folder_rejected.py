"""A state folder that cannot be created, and users without a home: one line with the cause and the remedy."""

from __future__ import annotations

import pwd
from pathlib import Path
from typing import Any

import pytest
import tpuplane.cli
from tpuplane_twin.cli import app
from tpuplane_twin.shell.engine import users_home
from typer.testing import CliRunner

pytestmark = pytest.mark.unit


def test_a_state_folder_inside_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["down", "--all"])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {tmp_path / 'file'}: not a directory. ")
    assert "TPUPLANE_TWIN_HOME" in result.stderr


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of a container: no HOME, and no entry in the list of users."""

    def unknown(user: int) -> Any:
        raise KeyError(user)

    users = ("HOME", "KUBECONFIG", "PULUMI_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    for variable in (*users, "TPUPLANE_CACHE", "TPUPLANE_TWIN_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.usefixtures("homeless")
@pytest.mark.parametrize(
    ("command", "variable"),
    [("status", "TPUPLANE_TWIN_HOME"), ("down --all", "TPUPLANE_TWIN_HOME"), ("build", "TPUPLANE_CACHE")],
)
def test_a_user_without_a_home_is_told_of_the_variable(command: str, variable: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 1
    remedy = f"set HOME, or set {variable} to a writable folder"
    assert result.stderr == f"error: this user has no home folder; {remedy}\n"


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_can_have_the_twins_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TPUPLANE_CACHE", "TPUPLANE_TWIN_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    result = CliRunner().invoke(app, ["status"])
    assert "is not up; start it with" in result.stderr
    assert users_home().name == ".pulumi"


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_is_told_to_name_a_kubeconfig() -> None:
    result = CliRunner().invoke(tpuplane.cli.app, ["status"])
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "error: ~/.kube/config is not a kubeconfig (no such file); name one with --kubeconfig"
    )
    assert result.stderr.endswith('or, on a twin, run `eval "$(tpuplane-twin env)"` in this shell\n')
