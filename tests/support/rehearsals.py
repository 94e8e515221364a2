"""A rehearsal of two hours with two teams, small enough to compute by hand."""

from __future__ import annotations

from tpuplane_twin.rehearsal.records import JobRecord, Moment, Timeline


def moment(at: float, product: int, research: int, waiting: int = 0, **more: object) -> Moment:
    """A moment of 16 chips at 20 dollars an hour; `waiting` are chips of research."""
    fields = {"chips": 16, "lost": 0, "idle": 0, "dollars": 20.0, "events": ()} | more
    return Moment(at, used={"product": product, "research": research}, waiting={"research": waiting}, **fields)  # type: ignore[arg-type]


DAY = Timeline(
    "acme",
    7200.0,
    (
        moment(0, 0, 8, events=("trainer-1 runs",)),
        moment(600, 4, 8),
        moment(1800, 0, 8),
        moment(2400, 4, 8),
        moment(3600, 4, 0, 8, chips=8, lost=8, idle=4, events=("trainer-1 lost a host", "trainer-1 waits")),
        moment(4800, 0, 0, 8, chips=8, lost=8, idle=0),
        moment(5400, 0, 8),
        moment(6600, 0, 8, 16, idle=4),
    ),
    (
        JobRecord(
            "trainer-1", "research", 8, 0.0, 7200.0, [(0.0, 3600.0), (5400.0, 7200.0)], 900.0, {"host lost": 1}, "runs"
        ),
        JobRecord(
            "eval",
            "product",
            4,
            300.0,
            3000.0,
            [(600.0, 1800.0), (2400.0, 4800.0)],
            600.0,
            {"preempted": 1},
            "succeeded",
        ),
        JobRecord("trainer-2", "research", 16, 6600.0, 3600.0),
    ),
)
