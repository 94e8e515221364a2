"""What a program passes to `Platform` about teams and queues: the part of its `args` that shares the pools out."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class PoolQuotaArgs(TypedDict):
    """A team's part of one pool, in slices or in chips. What one team leaves idle the others may borrow."""

    slices: NotRequired[int]
    """Slices that are the team's own. Exactly one of `slices` and `chips`. Changed in place."""

    chips: NotRequired[int]
    """The same in chips; whole slices only. Changed in place."""

    borrowing_limit: NotRequired[int]
    """Most that the team may borrow beyond its own, in the unit of the quota. Default: no limit. Changed in
    place."""

    lending_limit: NotRequired[int]
    """Most of its own that the team lends while idle, in the unit of the quota. Default: all. Changed in place."""


class GpuQuotaArgs(TypedDict):
    """A team's part of one GPU pool, in nodes or in GPUs. What one team leaves idle the others may borrow."""

    nodes: NotRequired[int]
    """Nodes, over all zones, that are the team's own. Exactly one of `nodes` and `gpus`. Changed in place."""

    gpus: NotRequired[int]
    """The same in GPUs as pods ask for them: a GPU that is divided or shared counts for each container. Changed in
    place."""

    borrowing_limit: NotRequired[int]
    """Most that the team may borrow beyond its own, in the unit of the quota. Default: no limit. Changed in
    place."""

    lending_limit: NotRequired[int]
    """Most of its own that the team lends while idle, in the unit of the quota. Default: all. Changed in place."""


class CpuQuotaArgs(TypedDict):
    """A team's part of the system pool: room for Ray heads, coordinators and other work without chips."""

    cores: NotRequired[int]
    """CPU cores. Default 16. Changed in place."""

    memory_gb: NotRequired[int]
    """Memory in GB of 2^30 bytes, as Compute Engine counts. Default 64. Changed in place."""

    storage_gb: NotRequired[int]
    """Ephemeral storage in GB. Default 100. Changed in place."""


class TeamClusterArgs(TypedDict):
    """What a team has in one cluster."""

    pools: NotRequired[Mapping[str, PoolQuotaArgs]]
    """Quota in pools of that cluster, by the pool's name. Default: none of its own, and none to borrow."""

    gpu_pools: NotRequired[Mapping[str, GpuQuotaArgs]]
    """Quota in GPU pools of that cluster, by the pool's name. Default: none of its own, and none to borrow."""

    cpu: NotRequired[CpuQuotaArgs]
    """Quota in the system pool."""


class TeamArgs(TypedDict):
    """A team: a cluster queue and, in each of its namespaces, a local queue. A new name is a new queue."""

    namespaces: NotRequired[Sequence[str]]
    """The team's namespaces, made in each of its clusters. Default: one, called like the team. Removing one deletes
    everything in it."""

    members: NotRequired[Sequence[str]]
    """Who may run work in them: group:, user: or serviceAccount: with an e-mail address. Default: nobody beyond the
    project's administrators. Changed in place."""

    queue: NotRequired[str]
    """Name of the local queue in each namespace. Default `default`, which Kueue gives to every job that names none.
    A change replaces the queue, and jobs that name the old one wait."""

    weight: NotRequired[float]
    """Share of what is to be borrowed, beside the other teams' weights; with queues.fairSharing only. Kueue gets it
    in thousandths, rounded up. Default 1. Changed in place."""

    pod_security: NotRequired[str]
    """Level of the Pod Security Standards that pods of its namespaces must keep to. Default `baseline`, which TPU work
    keeps to; JobSets as xpk and tpu-recipes publish them want the host's network, and with it `privileged`. Changed in
    place; pods that run stay."""

    clusters: Mapping[str, TeamClusterArgs]
    """What the team has, by cluster."""


class PreemptionArgs(TypedDict):
    """Whose work ends for whom. A job is preempted whole, never a part of its slices."""

    within_cluster_queue: NotRequired[str]
    """Of the same team. Default LowerPriority. Changed in place."""

    reclaim_within_cohort: NotRequired[str]
    """Of teams that borrowed what the owner now wants back. Default Any: lent chips come back at once. Changed in
    place."""

    borrow_within_cohort: NotRequired[str]
    """Of other teams, to borrow. Default Never; not together with fairSharing. Changed in place."""


class PriorityArgs(TypedDict):
    """A WorkloadPriorityClass: jobs name it in the label kueue.x-k8s.io/priority-class."""

    value: int
    """Higher goes first, and may preempt lower. Changed in place, for work that waits and work that runs: what runs and
    is now lower may be preempted at once."""

    description: NotRequired[str]
    """What it is for, in at most 2048 characters, as Kueue has it. Default: nothing. Changed in place."""


class MultiKueueArgs(TypedDict):
    """One queue over several clusters. Teams submit to the manager; the work runs in the workers, where the quotas
    are. Every job runs as a whole in one of them."""

    manager: str
    """The cluster that takes the jobs. It has every team's namespaces and queues, whose quotas are the sum of the
    workers', and runs none of the work. A change replaces the queues of both."""

    workers: Sequence[str]
    """The clusters that run the jobs, at most 20. A team's jobs go to those in which it has a quota. Changed in
    place."""

    dispatcher: NotRequired[str]
    """Whether a job asks all workers at once, or three more every five minutes, so that it does not preempt in all of
    them. Default AllAtOnce. Changed in place; Kueue restarts."""

    worker_lost_timeout: NotRequired[str]
    """How long the jobs of a worker that does not answer count as running there, before they are queued again. Default
    15m. Changed in place; Kueue restarts."""


class QueuesArgs(TypedDict):
    """What holds for the queues of all teams, in every cluster."""

    strategy: NotRequired[str]
    """Whether a job that does not fit holds back younger ones that would (StrictFIFO). Default BestEffortFIFO.
    Changed in place."""

    preemption: NotRequired[PreemptionArgs]
    """Whose work ends for whom."""

    fair_sharing: NotRequired[bool]
    """Let teams borrow by their weights instead of first come, first served. Default false. Changed in place; Kueue
    restarts."""

    priorities: NotRequired[Mapping[str, PriorityArgs]]
    """Workload priority classes, by name. Default: idle (-100), low (100), normal (500) and high (1000). A new name
    is a new class."""

    capacity_order: NotRequired[Sequence[str]]
    """In which capacity a job that does not say is tried first; those left out come last. Default: reservation,
    on-demand, flex-start and spot. Changed in place."""

    multi_kueue: NotRequired[MultiKueueArgs]
    """One queue over several clusters. Default: each cluster has its own queues, and jobs run where they are
    submitted."""
