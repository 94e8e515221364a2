"""Multi-tier checkpointing of a cluster: one CheckpointConfiguration for each of its pools."""

from dataclasses import dataclass

from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.storage_checks import bucket_name


@dataclass(frozen=True, slots=True)
class CheckpointingPlan:
    """A CheckpointConfiguration: on each host of a pool, GKE's driver with a RAM disk."""

    pool: str  # key in the user's file, and name of the object
    bucket: str
    size: str  # of the RAM disk
    mount_options: tuple[str, ...]  # of the bucket in the driver


def checkpointing_plans(spec: PlatformSpec, key: str) -> tuple[CheckpointingPlan, ...]:
    """The objects of the cluster `key`; none without multi-tier checkpointing."""
    own = spec.clusters[key].multi_tier_checkpointing
    if own is None:
        return ()
    bucket, options = bucket_name(spec, own.bucket), tuple(spec_data("storage")["checkpointing"]["mount_options"])
    sizes = {name: f"{pool.ram_disk_gb}Gi" for name, pool in own.pools.items()}
    return tuple(CheckpointingPlan(name, bucket, size, options) for name, size in sizes.items())
