"""GKE's CheckpointConfiguration: the driver with a RAM disk for checkpoints on each host of a pool."""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after as waiting_for
from tpuplane.labels import POOL_LABEL
from tpuplane.plan.checkpointing import CheckpointingPlan


def make_checkpointing(
    name: str, plan: CheckpointingPlan, cluster: AnyCluster, after: Sequence[pulumi.Resource]
) -> None:
    """Create the object after the buckets in `after`. A change replaces it, because GKE never changes its driver.

    The driver tolerates every taint, as GKE's other drivers do, so that it stays on a host as long as the job.
    """
    kubernetes.apiextensions.CustomResource(
        name,
        api_version="checkpointing.gke.io/v1",
        kind="CheckpointConfiguration",
        metadata={"name": plan.pool, "labels": {"app.kubernetes.io/managed-by": "tpuplane"}},
        spec={
            "cloudStorageBucketName": plan.bucket,
            "nodeSelector": {POOL_LABEL: plan.pool},
            "tolerations": [{"operator": "Exists"}],
            "inMemoryVolumeSize": plan.size,
            "gcsFuseMountOptions": list(plan.mount_options),
        },
        opts=pulumi.ResourceOptions.merge(
            waiting_for(cluster.in_cluster(), after), pulumi.ResourceOptions(replace_on_changes=["spec"])
        ),
    )
