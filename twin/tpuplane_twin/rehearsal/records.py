"""What a rehearsal records: the platform at each moment at which something changed, and the jobs. Pure.

Times are seconds since the beginning of the rehearsal. A job's chips are those that it asks for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tpuplane_twin.rehearsal.trace import TraceJob


@dataclass(frozen=True, slots=True)
class Moment:
    """The platform from `at` until the next moment."""

    at: float
    chips: int
    """Chips of hosts that are Ready and offer them."""
    lost: int
    """Chips of the other hosts that exist."""
    used: Mapping[str, int]
    """Chips of running jobs by team."""
    waiting: Mapping[str, int]
    """Chips of waiting jobs by team."""
    idle: int
    """Of `chips`, those that no job uses while a waiting job would fit on them."""
    dollars: float
    """The price of all hosts, in dollars an hour; hosts without a published price cost nothing."""
    events: tuple[str, ...] = ()
    """What happened at this moment, as sentences without times."""


STATES = ("waits", "runs", "succeeded", "failed")
"""Of a job."""


@dataclass(slots=True)
class JobRecord:
    """One job of a rehearsal."""

    name: str
    team: str
    chips: int
    arrived: float
    """When it was submitted."""
    needs: float
    """The seconds of work that it needs."""
    runs: list[tuple[float, float]] = field(default_factory=list)
    """When it ran: all of its pods, from and to. A job that still runs has a run until the end of the rehearsal."""
    lost: float = 0.0
    """The seconds of work that interruptions lost: since the last checkpoint."""
    interruptions: dict[str, int] = field(default_factory=dict)
    """How often its runs ended early, by cause: preempted, host lost, node upgrade, or failed."""
    state: str = "waits"
    """At the end: one of `STATES`."""
    ended: float | None = None
    """When it succeeded or failed."""

    @classmethod
    def of(cls, job: TraceJob) -> "JobRecord":
        """The record of a job that has done nothing yet."""
        return cls(job.name, job.team, job.chips, job.at, job.seconds)


@dataclass(frozen=True, slots=True)
class Timeline:
    """One rehearsal."""

    title: str
    end: float
    moments: tuple[Moment, ...]
    jobs: tuple[JobRecord, ...]
    unpriced: int = 0
    """Chips whose price is not published."""
