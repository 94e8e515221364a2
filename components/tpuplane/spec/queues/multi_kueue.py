"""MultiKueue: one cluster takes the teams' jobs, and hands each to the cluster that admits it first."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.addons.addons import Duration
from tpuplane.spec.core.fields import Name, Spec


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
