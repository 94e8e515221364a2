"""Messages are printed literally: brackets are not markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cli import app, show
from typer.testing import CliRunner

from tests.support.twin_status import cluster, pool, status

pytestmark = pytest.mark.unit

MESSAGE = "reservation [my-res] has no [/x]"


@pytest.mark.parametrize(
    "account",
    [
        status(waiting=MESSAGE),
        status(clusters=[cluster(status="ERROR", message=MESSAGE)]),
        status(clusters=[cluster(nodePools=[pool(message=MESSAGE)])]),
        status(clusters=[cluster(unread=MESSAGE)]),
        status(backoff=[{"cluster": "main", "pool": "serving", "seconds": 252, "cause": MESSAGE}]),
    ],
)
def test_a_status_shows_every_message(account: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show.print_status(account)
    shown = capsys.readouterr().out  # a narrow terminal breaks the message between words
    assert [word for word in MESSAGE.split() if word not in shown] == []


@pytest.mark.parametrize("name", ["[/x]", "[my-twin]"])
def test_an_error_names_what_was_given(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["status", "--name", name])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert name in result.stderr
