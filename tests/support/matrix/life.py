"""The life of a platform as a state machine: it is edited, updated, also with faults, changed by hand and deleted.

After each step, the stack is as the commands promise. Before each update, `tpuplane diff` says what the engine plans.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack

import yaml
from hypothesis import HealthCheck, Phase, assume, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tpuplane.diff import Diff, diff
from tpuplane.spec import parse_platform

from tests.support.diff.done import of_diff, of_steps
from tests.support.matrix.cloud import identities
from tests.support.matrix.drifts import drifts
from tests.support.matrix.edits import WEIGHTS, Described, edits
from tests.support.matrix.engine import IN_ORDER, STACK_FILE, Ended
from tests.support.matrix.grid import anywhere, cells
from tests.support.matrix.play import Player

_CELLS = st.sampled_from([cell for cell in cells() if cell.phase == "create"])
_DELETE = st.sampled_from([cell for cell in cells() if cell.phase == "delete"])
_ANYWHERE = st.sampled_from([cell for cell in anywhere() if cell.phase == "create"])
_A_WRITE = st.sampled_from([cell for cell in anywhere() if cell.phase == "create" and cell.resource == "a write"])
# A platform is destroyed after some updates at least, so that most steps have one.
_UPDATES = 4


def live(player: Player, number: int, steps: int) -> None:
    """Play the life with this number, which is always the same. A failure names its steps."""
    lives: list[Life] = []

    def life() -> Life:
        lives.append(Life(player))
        return lives[-1]

    # The first failing life is shown as it is: to look for a shorter one would take hours.
    once = settings(
        max_examples=1,
        stateful_step_count=steps + 1,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(life), settings=once)
    except BaseException as error:
        error.add_note(f"the steps of life {number}:\n" + "\n".join(lives[-1].steps))
        raise


class Life(RuleBasedStateMachine):
    """One platform. `steps` are what was done."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self._player, self._engine = player, player.engine
        self.steps: list[str] = []
        content = yaml.safe_load(STACK_FILE.read_text())["config"]
        self._first: Described = {**content["tpuplane:platform"], "project": content["gcp:project"]}
        self._described = self._first
        self._deployed: Described | None = self._first
        """The description of the last update; None after a deletion."""
        self._by_hand = ""
        """Whether something was changed by hand: `unseen`, or `seen` by a refresh; else empty."""
        self._to_do = False
        """Whether an update can have something to do."""
        self._updates = 0
        self._failed = True
        self._until_the_end = ExitStack()

    @initialize(first=st.integers(0, 2**16))
    def begin(self, first: int) -> None:
        # Hypothesis begins with the simplest life, in which each step is the same.
        assume(first)
        self._api = self._until_the_end.enter_context(self._player.serving(self._player.deployed))
        self._describe(self._described)
        self._failed = False

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Do one step. If each kind were a rule, Hypothesis would leave out half of the kinds in each life."""
        deployed, settled = self._deployed is not None, self._by_hand != "unseen"
        weights = {
            self._edit: 6 if deployed else 1,
            self._up: 3 * self._to_do,
            self._up_with_fault: 3 * (self._to_do and not self._rejected),
            self._refresh: (1 if settled else 3) * (deployed and self.steps[-1:] != ["refresh"]),
            self._drift: 2 * (deployed and settled),
            self._destroy: int(deployed and self._updates >= _UPDATES),
        }
        kind = data.draw(st.sampled_from([kind for kind, weight in weights.items() for _ in range(weight)]))
        self._failed = True
        kind(data)
        self._failed = False

    @invariant()
    def rests(self) -> None:
        """Nothing is left in the middle."""
        self._player.rests()

    def teardown(self) -> None:
        with self._until_the_end:
            if not self._failed and self._deployed:
                self.steps.append("destroy at the end")
                self._delete(self._engine.destroy)
        self._describe(self._first)

    def _edit(self, data: st.DataObject) -> None:
        """Change the description, and compare what the diff says with what the engine plans."""
        found = edits(self._described)
        part = data.draw(st.sampled_from([part for part in found for _ in range(WEIGHTS[part])]))
        edit = data.draw(st.sampled_from(found[part]))
        self.steps.append(f"edit {edit}")
        self._describe(edit.after)
        self._to_do = True
        if self._deployed and not self._by_hand and not self._rejected:
            said, planned = of_diff(self._diff()), of_steps(self._engine.steps())
            assert said == planned, f"the diff: {said}, the engine: {planned}"

    def _up(self, data: st.DataObject) -> None:
        del data
        self.steps.append("up")
        ended = self._engine.up()
        if self._deployed and self._rejected:
            assert ended.code or self._by_hand, f"not rejected: {self._diff().rejected}"
            self.steps[-1] += ", which is rejected, so that the user returns to the last description"
            self._describe(self._deployed)
            ended = self._engine.up()
        assert not ended.code or self._by_hand == "unseen", ended.output
        self._update(ended)

    def _up_with_fault(self, data: st.DataObject) -> None:
        # A change of a platform makes few of the requests of a creation.
        cell = data.draw(st.one_of(_A_WRITE, _ANYWHERE if self._deployed else _CELLS))
        self.steps.append(f"up with {cell}")
        strike = self._player.strike(cell, self._api)
        ended = self._engine.up(*IN_ORDER)
        self._player.settle(self._api)
        if not strike.struck:
            self.steps[-1] += ", which meets no request"
            assert not ended.code or self._by_hand == "unseen", ended.output
        self._update(ended)

    def _refresh(self, data: st.DataObject) -> None:
        del data
        self.steps.append("refresh")
        before = self._player.in_state()
        ended = self._engine.run("refresh", "--yes", "--skip-preview")
        assert not ended.code, ended.output
        if self._by_hand:
            self._by_hand, self._to_do = "seen", True
        else:
            assert self._player.in_state() == before

    def _drift(self, data: st.DataObject) -> None:
        """Change something by hand."""
        found = drifts(self._engine.state(), identities(self._player.database))
        drift = data.draw(st.sampled_from(found))
        self.steps.append(str(drift))
        drift.act(self._api)
        self._player.settle(self._api)
        self._by_hand, self._to_do = "unseen", True

    def _destroy(self, data: st.DataObject) -> None:
        cell = data.draw(st.none() | _DELETE)
        self.steps.append(f"destroy with {cell}" if cell else "destroy")

        def struck(*options: str) -> Ended:
            if cell:
                self._player.strike(cell, self._api)
            ended = self._engine.destroy(*options)
            self._player.settle(self._api)
            return ended

        self._delete(struck)

    @property
    def _rejected(self) -> bool:
        """Whether the diff says that an update fails."""
        return self._deployed is not None and bool(self._diff().rejected)

    def _describe(self, described: Described) -> None:
        self._described = described
        self._player.describe(described)

    def _diff(self) -> Diff:
        return diff(parse_platform(self._deployed), parse_platform(self._described))

    def _update(self, ended: Ended) -> None:
        """Update until the stack is as its file says. What was changed by hand can stay until a refresh."""
        self._player.converge(ended, self._engine.up, self._api)
        self._deployed, self._updates = self._described, self._updates + 1
        if self._by_hand != "unseen":
            self._by_hand, self._to_do = "", False
            self._player.agrees()

    def _delete(self, command: Callable[..., Ended]) -> None:
        """Delete everything, as docs/destroy.md says."""
        assert self._deployed is not None
        described = self._described
        if any(cluster.get("deletionProtection", True) for cluster in self._deployed["clusters"].values()):
            self._describe(_unprotected(self._deployed))
            self._update(self._engine.up())
        self._player.converge(command(*IN_ORDER), self._engine.destroy, self._api)
        self._player.is_gone()
        self._deployed, self._by_hand, self._updates, self._to_do = None, "", 0, True
        self._describe(described)


def _unprotected(described: Described) -> Described:
    open_ = copy.deepcopy(described)
    for cluster in open_["clusters"].values():
        cluster["deletionProtection"] = False
    return open_
