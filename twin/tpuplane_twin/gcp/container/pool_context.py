"""A node pool with what its rules check: cluster, machine type, topology, placement policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tpuplane.gpu import GpuMachine
from tpuplane.tpu import Generation, MachineType

from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.locations import Machine, machine_named, region_of
from tpuplane_twin.gcp.schema import Json
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
    def of(cls, store: Store, cluster_key: str, pool: Json, cluster: Json | None = None) -> PoolContext:
        """The context of a pool of the stored cluster, or of `cluster`, which may not be stored yet."""
        _, project, _, location, *_ = cluster_key.split("/")
        return cls(pool, ClusterView(cluster or store.get(CLUSTER, cluster_key) or {}), store, project, location)

    @property
    def machine(self) -> Machine | None:
        """The machine type; None if it is unknown."""
        return machine_named(self.machine_type)

    @property
    def tpu(self) -> tuple[Generation, MachineType] | None:
        """Generation and TPU machine type; None for CPU pools."""
        return self.machine.tpu if self.machine else None

    @property
    def gpu(self) -> GpuMachine | None:
        """The machine type if it has GPUs."""
        return self.machine.gpu if self.machine else None

    @property
    def accelerators(self) -> list[Json]:
        """The GPUs that the config asks for."""
        return list(self.config.get("accelerators", []))

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
    def topology(self) -> str:
        """The slice's topology, empty for single-host and CPU pools."""
        return self.placement_topology or str((self.workload_policy or {}).get("acceleratorTopology") or "")

    @property
    def hosts(self) -> int:
        """VMs of one slice: more than one in a multi-host pool, 0 if the topology is invalid."""
        if self.tpu is None or not self.topology:
            return 1
        generation, machine = self.tpu
        return (machine.hosts(self.topology) or 0) if generation.accepts(self.topology) else 0

    @property
    def multi_host(self) -> bool:
        """Whether the pool is one slice of several VMs."""
        return self.hosts > 1
