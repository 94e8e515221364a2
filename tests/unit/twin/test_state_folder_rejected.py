"""A state folder that cannot be created: one line with the path and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane_twin.cli import app
from typer.testing import CliRunner

pytestmark = pytest.mark.unit


def test_a_state_folder_inside_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["down", "--all"])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {tmp_path / 'file'}: not a directory. ")
    assert "TPUPLANE_TWIN_HOME" in result.stderr
