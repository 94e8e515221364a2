"""The whole description of a platform: what a stack file holds under `tpuplane:platform`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from tpuplane.spec.classes.compute_class import ClassName, ComputeClassSpec
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.fields import Labels, Name, ProjectId, ResourceName, Spec, reject
from tpuplane.spec.observability import ObservabilitySpec
from tpuplane.spec.pools.hosts import ReservationSpec
from tpuplane.spec.queues.queues import QueuesSpec
from tpuplane.spec.queues.teams import TeamSpec


class QuotaSpec(Spec):
    """TPU chips of one generation, or GPUs of one model, that the project may use at a time in one region or zone."""

    on_demand: Annotated[int, Field(ge=0)] | None = None
    """Chips or GPUs of on-demand hosts. Default: not declared, not checked."""

    preemptible: Annotated[int, Field(ge=0)] | None = None
    """Chips or GPUs of spot and flex-start hosts: Google's preemptible quota. Default: not declared, not checked."""


PROJECT_KEY = "gcp:project"
"""Where a stack's config names the project: for the platform and for Google's provider."""


def _given(project: object) -> object:
    if project == "":
        raise reject(f"required: Google Cloud project id, as {PROJECT_KEY} of the stack or here")
    return project


class PlatformSpec(Spec):
    """A TPU platform: GKE clusters of one project on one network."""

    name: Name
    """Name of the platform and its VPC, and the front of every cluster's name. A change replaces everything."""

    project: Annotated[ProjectId, BeforeValidator(_given)] = Field(default_factory=str, validate_default=True)
    """Google Cloud project id. Default: the stack's `gcp:project`. A change replaces everything."""

    labels: Labels = Field(default_factory=dict)
    """Google Cloud labels of everything that can carry them. Changed in place."""

    clusters: Annotated[dict[Name, ClusterSpec], Field(min_length=1)]
    """GKE clusters, by name. GKE sees `<platform>-<name>`, 6 to 30 characters in all, because the nodes' service
    account has that name too. A new name is a new cluster, with ranges that the old one does not have."""

    reservations: dict[ResourceName, ReservationSpec] = Field(default_factory=dict)
    """Reservations that pools with capacity: reservation draw on, by the name that Compute Engine knows them by."""

    quotas: dict[str, dict[str, QuotaSpec]] = Field(default_factory=dict)
    """TPU and GPU quota that Google has granted, by region or zone, then by generation or accelerator. The pools are
    held to it at full scale; what is not declared is not checked."""

    classes: dict[ClassName, ComputeClassSpec] = Field(default_factory=dict)
    """Compute classes, by name: which nodes pods get, in order of preference. The class called `default` is for every
    pod of a cluster that asks for none. Default: none. A new name is a new class."""

    teams: dict[Name, TeamSpec] = Field(default_factory=dict)
    """Teams that share the clusters, by name: each gets a queue with its quota. Default: none, and no queue."""

    queues: QueuesSpec = QueuesSpec()
    """How the teams' work waits, is admitted and is preempted."""

    observability: ObservabilitySpec | None = None
    """Dashboard, alerts and log metrics of the project. Default: none. Changed in place."""

    def workers_of(self, team: str) -> tuple[str, ...]:
        """The workers in which the team has something, in their order; none without MultiKueue."""
        shared = self.queues.multi_kueue
        return tuple(key for key in shared.workers if key in self.teams[team].clusters) if shared is not None else ()

    def clusters_of(self, team: str) -> tuple[str, ...]:
        """Every cluster that has the team's namespaces: those of its quotas, and the manager of its workers."""
        shared = self.queues.multi_kueue
        manager = (shared.manager,) if shared is not None and self.workers_of(team) else ()
        return tuple(dict.fromkeys((*self.teams[team].clusters, *manager)))
