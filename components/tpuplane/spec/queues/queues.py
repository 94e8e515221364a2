"""The common settings of Kueue's cluster queues: order, admission and preemption of the jobs of all teams."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.durations import Duration
from tpuplane.spec.core.fields import Name, Spec
from tpuplane.spec.pools.hosts import Capacity

_RestartsKueue = Annotated[T, Change("in-place", "Changed in place; Kueue restarts.", source="kueue_config")]


class MultiKueueSpec(Spec):
    """One queue for several clusters. Teams submit jobs to the manager, and the jobs run in the workers, which have the
    quotas. Each job runs in one worker."""

    manager: Annotated[
        Name, Change("deletes-work", "A change replaces the queues of both clusters.", source="multi_kueue")
    ]
    """The cluster that accepts the jobs. It has the namespaces and queues of every team, and the sum of the workers'
    quotas. It runs no jobs."""

    workers: Annotated[
        Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)], Change(judge="workers", source="multi_kueue")
    ]
    """The clusters that run the jobs, at most 20. The jobs of a team run in workers with a quota for the team."""

    dispatcher: _RestartsKueue[Literal["AllAtOnce", "Incremental"]] = "AllAtOnce"
    """AllAtOnce: a job asks all workers at the same time. Incremental: it asks three more workers every five minutes,
    so that it does not preempt work in all of them. Default AllAtOnce."""

    worker_lost_timeout: _RestartsKueue[Duration] = "15m"
    """Time without contact to a worker after which its jobs are queued again. Default 15m."""


class PreemptionSpec(Spec):
    """Preemption rules. Kueue preempts whole jobs, never single slices of a job."""

    within_cluster_queue: InPlace[Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]] = "LowerPriority"
    """Work of the same team that a job may preempt. Default LowerPriority."""

    reclaim_within_cohort: InPlace[Literal["Never", "LowerPriority", "Any"]] = "Any"
    """Jobs with borrowed quota that the owner of the quota may preempt. Default Any: lent chips return at once."""

    borrow_within_cohort: InPlace[Literal["Never", "LowerPriority"]] = "Never"
    """Work of other teams that a job may preempt to borrow quota. Not together with fairSharing. Default Never."""


class PrioritySpec(Spec):
    """A WorkloadPriorityClass. A job selects it with the label kueue.x-k8s.io/priority-class."""

    value: Annotated[
        Annotated[int, Field(ge=-2147483648, le=1000000000)],
        Change(
            "in-place",
            "Changed in place, for pending and running work: running work with a lower value may be preempted at once.",
            source="preemption",
        ),
    ]
    """Work with a higher value is admitted first and may preempt work with a lower one."""

    description: InPlace[Annotated[str, Field(max_length=2048)]] = ""
    """Purpose of the class, at most 2048 characters. Default: empty."""


_PRIORITIES = {
    "idle": PrioritySpec(value=-100, description="Fills idle chips, and is preempted by everything else"),
    "low": PrioritySpec(value=100, description="Can wait"),
    "normal": PrioritySpec(value=500, description="Day-to-day work"),
    "high": PrioritySpec(value=1000, description="Goes first"),
}


class QueuesSpec(Spec):
    """Settings of all teams' queues in every cluster."""

    strategy: InPlace[Literal["BestEffortFIFO", "StrictFIFO"]] = "BestEffortFIFO"
    """StrictFIFO: a job that does not fit blocks newer jobs. BestEffortFIFO: newer jobs that fit are admitted. Default
    BestEffortFIFO."""

    preemption: PreemptionSpec = PreemptionSpec()
    """Preemption rules."""

    fair_sharing: _RestartsKueue[bool] = False
    """Share borrowable quota by the teams' weights, instead of first come, first served. Default false."""

    priorities: Annotated[
        dict[Name, PrioritySpec], Change(new="creates", removed="deletes-work", named="class", source="priorities")
    ] = Field(default_factory=lambda: dict(_PRIORITIES))
    """Workload priority classes, by name. Default: idle (-100), low (100), normal (500) and high (1000)."""

    capacity_order: InPlace[Annotated[tuple[Capacity, ...], Field(min_length=1)]] = (
        "reservation",
        "on-demand",
        "flex-start",
        "spot",
    )
    """Order of the provisioning models that Kueue tries for a job that selects none. Omitted ones follow at the end.
    Default: reservation, on-demand, flex-start and spot."""

    multi_kueue: Annotated[
        MultiKueueSpec | None,
        Change(
            new="creates",
            removed="deletes-work",
            source="multi_kueue",
            says={
                "new": "Adding it creates queues in the manager cluster.",
                "removed": "Removing it deletes the queues of the manager with their work.",
            },
        ),
    ] = None
    """One queue for several clusters. Default: each cluster has its own queues and runs the jobs that are submitted to
    it."""
