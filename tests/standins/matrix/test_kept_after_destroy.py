"""A platform that is kept after a `pulumi destroy` that ended early, by the command that `tpuplane check` prints."""

from __future__ import annotations

import pytest

from tests.support.matrix.engine import IN_ORDER
from tests.support.matrix.grid import Cell
from tests.support.matrix.play import Player
from tests.support.matrix.stack import TELLS

pytestmark = pytest.mark.twin

KEEP = "PULUMI_K8S_ENABLE_PATCH_FORCE=true PULUMI_K8S_UPSERT_EXISTING_OBJECTS=true pulumi up --stack matrix"
CELLS = [
    Cell("single-host pool", "connection cut", "before", "delete"),
    Cell("single-host pool", "killed engine", "during", "delete"),
    Cell("system pool", "Ctrl-C", "during", "delete"),
    Cell("cluster", "connection cut", "before", "delete"),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_the_printed_command_makes_the_platform_whole(player: Player, cell: Cell) -> None:
    engine = player.engine
    with player.serving(player.deployed) as api:
        assert not engine.check().code
        strike = player.strike(cell, api)
        ended = engine.destroy(*IN_ORDER)
        player.settle(api)
        assert strike.struck
        assert ended.code, ended.output
        if engine.locked:
            engine.run("cancel", "--yes")
        found = engine.check()
        assert (found.code, f"to keep it, run: {KEEP}\n" in found.output) == (1, True), found.output
        for line in TELLS.findall(found.output):
            player.follow(line, api, creating=True)
        assert KEEP in player.commands
        assert not engine.up().code
        player.agrees()
        assert not engine.check().code
