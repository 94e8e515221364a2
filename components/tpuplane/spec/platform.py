"""The whole description of a platform, under `tpuplane:platform` in a stack file."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from tpuplane.spec.classes.compute_class import ClassName, ComputeClassSpec
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.changes import Change, ChecksOnly, InPlace, ReplacesEverything
from tpuplane.spec.core.fields import Labels, Name, ProjectId, ResourceName, Spec, reject
from tpuplane.spec.images import RepositorySpec
from tpuplane.spec.observability import ObservabilitySpec
from tpuplane.spec.pools.hosts import HostsSpec, ReservationSpec
from tpuplane.spec.queues.queues import QueuesSpec
from tpuplane.spec.queues.teams import TeamSpec
from tpuplane.spec.storage import PlatformStorageSpec


class QuotaSpec(Spec):
    """TPU chips of one generation, or GPUs of one model, that the project may use at the same time in one region or
    zone."""

    on_demand: Annotated[int, Field(ge=0)] | None = None
    """Quota for on-demand hosts, in chips or GPUs. Default: not declared, not checked."""

    preemptible: Annotated[int, Field(ge=0)] | None = None
    """Google's preemptible quota, for spot and flex-start hosts, in chips or GPUs. Default: not declared, not
    checked."""


PROJECT_KEY = "gcp:project"
"""Where a stack's config names the project: for the platform and for Google's provider."""


def _given(project: object) -> object:
    if project == "":
        raise reject(f"required: Google Cloud project id, as {PROJECT_KEY} of the stack or here")
    return project


class PlatformSpec(Spec):
    """A TPU platform: GKE clusters in one project, on one network."""

    name: ReplacesEverything[Name]
    """Name of the platform and its VPC. The name of every cluster begins with it."""

    project: ReplacesEverything[Annotated[ProjectId, BeforeValidator(_given)]] = Field(
        default_factory=str, validate_default=True
    )
    """Google Cloud project ID. Default: the stack's `gcp:project`."""

    labels: InPlace[Labels] = Field(default_factory=dict)
    """Google Cloud labels of all resources that support labels."""

    clusters: Annotated[
        Annotated[dict[Name, ClusterSpec], Field(min_length=1)],
        Change(new="creates", removed="deletes-cluster", named="cluster", source="cluster"),
    ]
    """GKE clusters, by name. The name in GKE is `<platform>-<name>`, 6 to 30 characters in total, because the service
    account of the nodes has the same name."""

    reservations: ChecksOnly[dict[ResourceName, ReservationSpec]] = Field(default_factory=dict)
    """Compute Engine reservations for pools with capacity: reservation, by their name in Compute Engine."""

    quotas: ChecksOnly[dict[str, dict[str, QuotaSpec]]] = Field(default_factory=dict)
    """TPU and GPU quota that Google has granted, by region or zone, then by generation or accelerator. The pools at
    full scale must fit into it, with the slices of each `minimumCapacity` of a class's priority. Other nodes that GKE
    creates for compute classes are not counted. Quota that is not declared is not checked."""

    classes: Annotated[
        dict[ClassName, ComputeClassSpec],
        Change(
            "in-place",
            "Changed in place, for new nodes.",
            new="creates",
            removed="deletes-work",
            named="class",
            source="classes",
        ),
    ] = Field(default_factory=dict)
    """Compute classes, by name. A class lists the nodes for its pods, in order of preference. The class `default`
    applies to every pod of a cluster that requests no class. Default: none."""

    teams: Annotated[
        dict[Name, TeamSpec],
        Change(
            new="creates",
            removed="deletes-work",
            named="team",
            source="namespaces",
            says={
                "removed": "A removed name deletes the team's namespaces and queues with their work. A namespace that "
                "the file lists elsewhere keeps its work."
            },
        ),
    ] = Field(default_factory=dict)
    """Teams that share the clusters, by name. Each team gets a queue with its quota. Default: none, and no queue."""

    queues: QueuesSpec = QueuesSpec()
    """Queueing, admission and preemption of the teams' work."""

    storage: PlatformStorageSpec = PlatformStorageSpec()
    """Buckets and file systems, and the teams that may use them."""

    observability: Annotated[
        ObservabilitySpec | None, Change(new="creates", removed="deletes", source="observability")
    ] = None
    """Dashboard, alerts and log metrics of the project. Default: none."""

    images: Annotated[
        dict[Name, RepositorySpec],
        Change(
            new="creates",
            removed="deletes",
            named="repository",
            source="artifact_registry",
            says={"removed": "A removed name deletes the repository with its images."},
        ),
    ] = Field(default_factory=dict)
    """Artifact Registry repositories for container images, by name. Default: none."""

    def pools_with_quota(self, team: str, key: str) -> list[HostsSpec]:
        """The pools of the cluster `key` in which the team has quota, as far as they exist."""
        share, cluster = self.teams[team].clusters.get(key), self.clusters.get(key)
        pools = cluster.all_pools if cluster is not None else {}
        return [pools[path] for path in (share.quotas if share is not None else ()) if path in pools]

    def workers_of(self, team: str) -> tuple[str, ...]:
        """The workers with quota of the team, in their order; none without MultiKueue."""
        shared = self.queues.multi_kueue
        return tuple(key for key in shared.workers if key in self.teams[team].clusters) if shared is not None else ()

    def clusters_of(self, team: str) -> tuple[str, ...]:
        """Every cluster with the team's namespaces: those with its quotas, and the manager of its workers."""
        shared = self.queues.multi_kueue
        manager = (shared.manager,) if shared is not None and self.workers_of(team) else ()
        return tuple(dict.fromkeys((*self.teams[team].clusters, *manager)))
