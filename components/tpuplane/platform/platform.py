"""The component that creates a whole platform from its description."""

from collections.abc import Mapping
from itertools import chain
from typing import TypedDict

import pulumi

from tpuplane.addons.observability import Observability
from tpuplane.args import PlatformArgs
from tpuplane.gke.arguments import in_plain_words
from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.network import PlannedNetwork
from tpuplane.gke.node_pool import PlannedGpuPool, PlannedTpuPool
from tpuplane.gke.objects import make_checkpointing, make_storage_class
from tpuplane.gke.outputs import Component
from tpuplane.gke.pool_hosts import check_hosts
from tpuplane.gke.repository import ImageRepository
from tpuplane.gke.storage import Buckets, make_access, make_filestore, make_lustre
from tpuplane.plan.components import planned_platform
from tpuplane.platform.clusters import fill_clusters, make_cluster, make_node_pools


class ClusterSummary(TypedDict):
    """A cluster in the stack's outputs."""

    name: pulumi.Output[str]
    """Name in Google Cloud."""

    location: pulumi.Output[str]
    """Region or zone of the control plane."""

    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme."""


class NodePoolSummary(TypedDict):
    """A pool of TPU slices in the stack's outputs. Numbers are at full scale."""

    shape: str
    """Generation and topology of one slice."""

    names: list[pulumi.Output[str]]
    """GKE node pools: one for each multi-host slice, or one for all single-host slices."""

    slices: int
    """Slices."""

    hosts: int
    """Nodes."""

    chips: int
    """TPU chips."""


class GpuNodePoolSummary(TypedDict):
    """A pool of GPU nodes in the stack's outputs. Numbers are at full scale, over all zones."""

    accelerator: str
    """GPU model, as in GKE's label cloud.google.com/gke-accelerator."""

    name: pulumi.Output[str]
    """GKE node pool."""

    nodes: int
    """Nodes."""

    gpus: int
    """GPUs."""


class Platform(Component):
    """GKE clusters with TPU and GPU node pools, on one network of one project."""

    clusters: Mapping[str, ClusterSummary]
    """Clusters, by their names in the description."""

    node_pools: Mapping[str, Mapping[str, NodePoolSummary]]
    """TPU pools, by cluster and by their names in the description."""

    gpu_node_pools: Mapping[str, Mapping[str, GpuNodePoolSummary]]
    """GPU pools, by cluster and by their names in the description. Clusters without GPU pools are omitted."""

    kubeconfigs: Mapping[str, pulumi.Output[str]]
    """A kubeconfig for each cluster. It calls Google's auth plugin and contains no credential."""

    @in_plain_words
    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create everything in the description. Raises `SpecError` before any resource is registered."""
        platform = planned_platform(args, pulumi.Config("gcp").get("project"))
        super().__init__("tpuplane:index:Platform", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        # No VPC if all clusters use existing networks.
        network = PlannedNetwork(name, platform.network, platform.project, own) if platform.network.subnets else None
        plans = {plan.key: plan for plan in platform.clusters}
        clusters = {
            key: make_cluster(f"{name}-{key}", plan, platform.project, network, self) for key, plan in plans.items()
        }
        accounts = {key: cluster.ref["service_account"] for key, cluster in clusters.items()}
        images = [
            ImageRepository(f"{name}-{repository.name}", platform.project, repository, accounts, self)
            for repository in platform.images
        ]
        pools = {key: make_node_pools(f"{name}-{key}", plan, clusters[key]) for key, plan in plans.items()}
        access = []
        if platform.services_access is not None and network is not None:
            access = make_access(f"{name}-services", platform.project, platform.services_access, network)
        addresses = make_lustre(f"{name}-lustre", platform.project, platform.lustre, access, self)
        addresses |= make_filestore(f"{name}-filestore", platform.project, platform.filestore, network, self)
        for key, disk in ((key, disk) for key, plan in plans.items() for disk in plan.disks):
            make_storage_class(f"{name}-{key}-disks.{disk.name}", disk, clusters[key])
        fill_clusters(name, platform, clusters, images, addresses)
        made = [cluster.resource for cluster in clusters.values() if isinstance(cluster, PlannedCluster)]
        if platform.storage:
            buckets = Buckets(f"{name}-storage", platform.project, platform.storage, made, own)
            for key, ram in ((key, ram) for key, plan in plans.items() for ram in plan.checkpointing):
                make_checkpointing(f"{name}-{key}-checkpoints.{ram.pool}", ram, clusters[key], [buckets])
        if platform.observability.wanted:
            Observability(f"{name}-observability", platform.project, platform.observability, made, own)
        self.clusters = {
            key: {"name": cluster.name, "location": cluster.location, "endpoint": cluster.endpoint}
            for key, cluster in clusters.items()
        }
        self.node_pools = {key: {pool: _summary(made) for pool, made in tpu.items()} for key, (tpu, _) in pools.items()}
        self.gpu_node_pools = {
            key: {pool: _gpu_summary(made) for pool, made in gpu.items()} for key, (_, gpu) in pools.items() if gpu
        }
        self.kubeconfigs = {key: cluster.kubeconfig for key, cluster in clusters.items()}
        self.register_annotated()
        check_hosts(chain.from_iterable(own.planned for own in pools.values()), self)


def _summary(pool: PlannedTpuPool) -> NodePoolSummary:
    return {
        "shape": pool.shape,
        "names": pool.pool_names,
        "slices": pool.slices,
        "hosts": pool.hosts,
        "chips": pool.chips,
    }


def _gpu_summary(pool: PlannedGpuPool) -> GpuNodePoolSummary:
    return {"accelerator": pool.accelerator, "name": pool.pool_name, "nodes": pool.nodes, "gpus": pool.gpus}
