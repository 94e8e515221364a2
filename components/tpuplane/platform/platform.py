"""The one component that makes a whole platform from its description."""

from collections.abc import Mapping
from itertools import groupby
from typing import TypedDict

import pulumi

from tpuplane.gke import Cluster, Network, SystemNodePool, TpuNodePool
from tpuplane.plan import plan
from tpuplane.plan.model import ClusterPlan
from tpuplane.platform.args import PlatformArgs
from tpuplane.platform.namespaces import make_namespace
from tpuplane.spec import PlatformSpec


class ClusterSummary(TypedDict):
    """A cluster, as the stack reports it."""

    name: pulumi.Output[str]
    """Name in Google Cloud."""

    location: pulumi.Output[str]
    """Region or zone of the control plane."""

    endpoint: pulumi.Output[str]
    """Address of the control plane, without a scheme."""


class NodePoolSummary(TypedDict):
    """A pool of TPU slices, as the stack reports it. Counts are at full scale."""

    shape: str
    """Generation and topology of one slice."""

    names: list[pulumi.Output[str]]
    """GKE node pools: one for each multi-host slice, or one in all."""

    slices: int
    """Slices."""

    hosts: int
    """Nodes."""

    chips: int
    """TPU chips."""


class Platform(pulumi.ComponentResource):
    """GKE clusters with TPU node pools, on one network of one project."""

    clusters: Mapping[str, ClusterSummary]
    """Clusters, by their name in the description."""

    node_pools: Mapping[str, Mapping[str, NodePoolSummary]]
    """TPU pools, by cluster and by their name in the description."""

    kubeconfigs: Mapping[str, pulumi.Output[str]]
    """A kubeconfig for each cluster. It calls Google's auth plugin and holds no credential."""

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make everything the description asks for.

        Raises:
            SpecError: if the description is wrong, before anything is registered.

        """
        platform = plan(PlatformSpec.parse(args))
        super().__init__("tpuplane:index:Platform", name, {}, opts)
        network = Network(
            name, {"project": platform.project, "plan": platform.network}, pulumi.ResourceOptions(parent=self)
        )
        clusters = {
            it.key: Cluster(
                f"{name}-{it.key}",
                {
                    "project": platform.project,
                    "network": network.network.id,
                    "subnetwork": network.subnets[it.subnet.name].id,
                    "plan": it,
                    "stands_on": [network.network, network.subnets[it.subnet.name]],
                },
                # Nodes pull images through the NAT, from their first minute to their last.
                pulumi.ResourceOptions(parent=self, depends_on=[network]),
            )
            for it in platform.clusters
        }
        pools = {it.key: _node_pools(f"{name}-{it.key}", it, clusters[it.key]) for it in platform.clusters}
        for it in platform.clusters:
            for namespace in it.namespaces:
                make_namespace(f"{name}-{it.key}-{namespace}", namespace, clusters[it.key])
        self.clusters = {
            key: {"name": cluster.name, "location": cluster.location, "endpoint": cluster.endpoint}
            for key, cluster in clusters.items()
        }
        self.node_pools = {key: {pool: _summary(made) for pool, made in of.items()} for key, of in pools.items()}
        self.kubeconfigs = {key: cluster.kubeconfig for key, cluster in clusters.items()}
        self.register_outputs(
            {"clusters": self.clusters, "nodePools": self.node_pools, "kubeconfigs": self.kubeconfigs}
        )


def _node_pools(name: str, platform_cluster: ClusterPlan, cluster: Cluster) -> dict[str, TpuNodePool]:
    """Make the pools of one cluster. Returns the TPU pools by their name in the description."""
    # A node that starts before its account has its roles reports neither logs nor metrics, and pulls no image.
    after_roles = pulumi.ResourceOptions(parent=cluster, depends_on=[cluster.node_identity])
    SystemNodePool(f"{name}-system", {"cluster": cluster.ref, "plan": platform_cluster.system_pool}, after_roles)
    return {
        key: TpuNodePool(
            f"{name}-{key}",
            {"cluster": cluster.ref, "plans": list(plans)},
            after_roles,
        )
        for key, plans in groupby(platform_cluster.tpu_pools, key=lambda it: it.pool)
    }


def _summary(pool: TpuNodePool) -> NodePoolSummary:
    return {
        "shape": pool.shape,
        "names": pool.pool_names,
        "slices": pool.slices,
        "hosts": pool.hosts,
        "chips": pool.chips,
    }
