"""The cells of the fault matrix, played on a stack one by one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.matrix.cloud import copy, listed
from tests.support.matrix.engine import IN_ORDER
from tests.support.matrix.grid import Cell
from tests.support.matrix.stack import REMAINS, Stack

# The command that meets the fault, and the one that a user types afterwards.
_COMMANDS = {"create": ("up", "up"), "abandon": ("up", "destroy"), "delete": ("destroy", "destroy")}


class Player(Stack):
    """A stack whose platform was created once, and is kept in the folder `deployed`."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, patch)
        self.deployed = folder / "deployed"
        with self.serving():
            ended = self.engine.up(*IN_ORDER)
            assert not ended.code, ended.output
            self._exists, self._urns = listed(self.database), self.in_state()
            self.engine.save(self.deployed)
            copy(self.database, self.deployed)
            ended = self.engine.destroy()
            assert not ended.code, ended.output
            self.without = set(listed(self.database))  # also keys
            assert not [line for line in self.without if "lab" in line], self.without

    def play(self, cell: Cell) -> str:
        """The outcome of one cell. Fails if the stack does not become what the file describes."""
        first, again = _COMMANDS[cell.phase]
        with self.serving(self.deployed if cell.phase == "delete" else None) as api:
            strike = self.strike(cell, api)
            ended = getattr(self.engine, first)(*IN_ORDER)
            self.settle(api)
            assert strike.struck, f"the fault met no request: {ended.output}"
            outcome = self.converge(ended, getattr(self.engine, again), api, first=cell.phase == "abandon")
            if cell.phase == "create":
                self.agrees()
                self._as_without_a_fault()
            else:
                self.is_gone()
            return outcome

    def _as_without_a_fault(self) -> None:
        if self.in_state() == self._urns:
            found = listed(self.database)
            more, fewer = Counter(found) - Counter(self._exists), Counter(self._exists) - Counter(found)
            more = Counter({line: count for line, count in more.items() if not REMAINS.match(line)})
            assert not more and not fewer, f"more: {more}, fewer: {fewer}"
