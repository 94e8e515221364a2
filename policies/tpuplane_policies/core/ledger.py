"""What every rule of a run came to, kept so that a gate knows whether it was blind."""

from __future__ import annotations

from dataclasses import dataclass, field

from tpuplane_policies.core.judging import Judgement


@dataclass(slots=True)
class Record:
    """What one rule came to in this run."""

    decided: int = 0
    undecided: dict[str, None] = field(default_factory=dict)
    """"resource: property", in the order met."""


@dataclass(slots=True)
class Ledger:
    """What every rule of this run came to: how a gate knows that it was not blind."""

    records: dict[str, Record] = field(default_factory=dict)

    def note(self, rule: str, judgement: Judgement, name: str) -> None:
        """Add one judgement. A rule that met nothing to judge leaves no trace."""
        if judgement.decided or judgement.undecided:
            record = self.records.setdefault(rule, Record())
            record.decided += judgement.decided
            record.undecided.update({f"{name}: {path}": None for path in judgement.undecided})
