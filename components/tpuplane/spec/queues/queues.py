"""How work of all teams waits, is admitted and is preempted: what Kueue's cluster queues have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.addons.addons import Duration
from tpuplane.spec.core.fields import Name, Spec
from tpuplane.spec.pools.hosts import Capacity


class MultiKueueSpec(Spec):
    """One queue over several clusters. Teams submit to the manager; the work runs in the workers, where the quotas
    are. Every job runs as a whole in one of them."""

    manager: Name
    """The cluster that takes the jobs. It has every team's namespaces and queues, whose quotas are the sum of the
    workers', and runs none of the work. A change replaces the queues of both."""

    workers: Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)]
    """The clusters that run the jobs, at most 20. A team's jobs go to those in which it has a quota. Changed in
    place."""

    dispatcher: Literal["AllAtOnce", "Incremental"] = "AllAtOnce"
    """Whether a job asks all workers at once, or three more every five minutes, so that it does not preempt in all of
    them. Default AllAtOnce. Changed in place; Kueue restarts."""

    worker_lost_timeout: Duration = "15m"
    """How long the jobs of a worker that does not answer count as running there, before they are queued again. Default
    15m. Changed in place; Kueue restarts."""


class PreemptionSpec(Spec):
    """Whose work ends for whom. A job is preempted whole, never a part of its slices."""

    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "LowerPriority"
    """Of the same team. Default LowerPriority. Changed in place."""

    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Any"
    """Of teams that borrowed what the owner now wants back. Default Any: lent chips come back at once. Changed in
    place."""

    borrow_within_cohort: Literal["Never", "LowerPriority"] = "Never"
    """Of other teams, to borrow. Default Never; not together with fairSharing. Changed in place."""


class PrioritySpec(Spec):
    """A WorkloadPriorityClass: jobs name it in the label kueue.x-k8s.io/priority-class."""

    value: Annotated[int, Field(ge=-2147483648, le=1000000000)]
    """Higher is admitted first, and may preempt lower. Changed in place, for work that waits and work that runs:
    running work that is now lower may be preempted at once."""

    description: Annotated[str, Field(max_length=2048)] = ""
    """What it is for, in at most 2048 characters, as Kueue has it. Default: nothing. Changed in place."""


_PRIORITIES = {
    "idle": PrioritySpec(value=-100, description="Fills idle chips, and is preempted by everything else"),
    "low": PrioritySpec(value=100, description="Can wait"),
    "normal": PrioritySpec(value=500, description="Day-to-day work"),
    "high": PrioritySpec(value=1000, description="Goes first"),
}


class QueuesSpec(Spec):
    """What holds for the queues of all teams, in every cluster."""

    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    """Whether a job that does not fit holds back younger ones that would (StrictFIFO). Default BestEffortFIFO.
    Changed in place."""

    preemption: PreemptionSpec = PreemptionSpec()
    """Whose work ends for whom."""

    fair_sharing: bool = False
    """Let teams borrow by their weights instead of first come, first served. Default false. Changed in place; Kueue
    restarts."""

    priorities: dict[Name, PrioritySpec] = Field(default_factory=lambda: dict(_PRIORITIES))
    """Workload priority classes, by name. Default: idle (-100), low (100), normal (500) and high (1000). A new name is
    a new class."""

    capacity_order: Annotated[tuple[Capacity, ...], Field(min_length=1)] = (
        "reservation",
        "on-demand",
        "flex-start",
        "spot",
    )
    """In which capacity a job that does not say is tried first; those left out come last. Default: reservation,
    on-demand, flex-start and spot. Changed in place."""

    multi_kueue: MultiKueueSpec | None = None
    """One queue over several clusters. Default: each cluster has its own queues, and jobs run where they are
    submitted."""
