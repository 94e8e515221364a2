"""A node pool with what its rules check: cluster, machine type, topology, placement policy."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from tpuplane.tpu import GkeVersion, Slice, SliceError, catalogue

from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json, seconds
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView, PoolView

RESOURCE_POLICY = "compute.resourcePolicies"


@dataclass(frozen=True)
class PoolContext(PoolView):
    """A pool as it is after the request."""

    cluster: ClusterView
    store: Store
    project: str
    location: str

    @classmethod
    def of(cls, store: Store, cluster_key: str, pool: Json, cluster: Json | None = None) -> Self:
        """The context of a pool of the stored cluster, or of `cluster`, which may not be stored yet."""
        _, project, _, location, *_ = cluster_key.split("/")
        return cls(pool, ClusterView(cluster or store.get(CLUSTER, cluster_key) or {}), store, project, location)

    @property
    def accelerator(self) -> Json | None:
        """The first GPUs that the config asks for, and how many types it asks for; `clients` share a GPU."""
        asked: list[Json] = self.config.get("accelerators") or []
        if not asked:
            return None
        sharing = asked[0].get("gpuSharingConfig")
        return {
            "name": asked[0].get("acceleratorType", ""),
            "count": int(asked[0].get("acceleratorCount", 0)),
            "partition": asked[0].get("gpuPartitionSize", ""),
            "clients": None if sharing is None else int(sharing.get("maxSharedClientsPerGpu", 0)),
            "types": len(asked),
        }

    @property
    def local_ssd_choices(self) -> tuple[int, ...]:
        """The numbers of local SSDs that a machine with GPUs supports."""
        if self.gpu is None:
            return ()
        return (self.gpu.local_ssds,) if self.gpu.local_ssds else self.gpu.local_ssd_choices

    @property
    def most_nodes(self) -> int:
        """The largest number of nodes in a zone."""
        return max(self.nodes_per_zone, self.max_nodes)

    @property
    def zonal(self) -> bool:
        """Whether the nodes are in one zone."""
        return len(self.zones) == 1

    @property
    def max_run(self) -> float | None:
        """The longest life of a node in seconds; None: unlimited."""
        duration = self.config.get("maxRunDuration")
        return None if duration is None else seconds(duration)

    @property
    def gke_version(self) -> GkeVersion:
        """The nodes' GKE version."""
        return GkeVersion.parse(self.version)

    @property
    def without_cgroup_v1(self) -> bool:
        """Whether the nodes' version has cgroup v2 only."""
        return self.gke_version >= GkeVersion.minimum("1.35")

    @property
    def tpu_version(self) -> GkeVersion | None:
        """The oldest GKE version with the generation, if it is known."""
        needed = self.generation.min_gke_version if self.generation else None
        return None if needed is None else GkeVersion.minimum(needed)

    @property
    def flex_version(self) -> GkeVersion:
        """The oldest GKE version with flex-start for TPUs."""
        return catalogue().min_version("flex-start-tpu")

    @cached_property
    def workload_policy(self) -> Json | None:
        """The workload policy of the Compute Engine resource policy that the placement names."""
        name = self.placement.get("policyName")
        if not name:
            return None
        key = f"projects/{self.project}/regions/{region_of(self.location)}/resourcePolicies/{name}"
        policy = self.store.get(RESOURCE_POLICY, key)
        return None if policy is None else dict(policy.get("workloadPolicy", {}))

    @property
    def provision_only(self) -> bool:
        """Whether the hosts wait for dynamic slicing, which gives them their topology."""
        return (self.workload_policy or {}).get("acceleratorTopologyMode") == "PROVISION_ONLY"

    @property
    def topology(self) -> str:
        """The slice's topology, empty for single-host and CPU pools."""
        return self.placement_topology or str((self.workload_policy or {}).get("acceleratorTopology") or "")

    @property
    def hosts(self) -> int:
        """VMs of one slice: more than one in a multi-host pool, 0 if the topology is invalid."""
        if self.generation is None or self.tpu is None or not self.topology:
            return 1
        return (self.tpu.hosts(self.topology) or 0) if self.generation.accepts(self.topology) else 0

    @property
    def slice_error(self) -> str:
        """Why the machine type has no slice of the topology, empty if it has one."""
        try:
            if self.generation and self.tpu and self.topology:
                Slice.of(self.generation.name, self.topology, self.tpu.name)
        except SliceError as error:
            return str(error)
        return ""

    @property
    def multi_host(self) -> bool:
        """Whether the pool is one slice of several VMs."""
        return self.hosts > 1
