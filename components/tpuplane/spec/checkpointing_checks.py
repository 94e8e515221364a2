"""The checks of multi-tier checkpointing: what it needs in the cluster, its bucket, and the memory of hosts."""

from collections.abc import Iterator

from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.option_checks import check_feature
from tpuplane.spec.core.errors import Mistake, Path, choice, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.node_memory import allocatable_gb
from tpuplane.spec.storage_checks import bucket_region
from tpuplane.tpu import SliceError


def check_checkpointing(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of multi-tier checkpointing."""
    for key, cluster in spec.clusters.items():
        own, at = cluster.multi_tier_checkpointing, ("clusters", key, "multiTierCheckpointing")
        if own is None or cluster.existing is not None:
            continue
        yield from check_feature(at, cluster, "multi-tier-checkpointing")
        if not cluster.storage.gcs_fuse:
            yield broken("checkpointing-driver", at)
        if cluster.addons.jobset is None:
            yield broken("checkpointing-jobset", at)
        yield from _check_bucket((*at, "bucket"), spec, cluster, own.bucket)
        for name, pool in own.pools.items():
            yield from _check_memory((*at, "pools", name), cluster, name, pool.ram_disk_gb)


def _check_bucket(at: Path, spec: PlatformSpec, cluster: ClusterSpec, key: str) -> Iterator[Mistake]:
    bucket, region = spec.storage.buckets.get(key), region_of(cluster.location)
    if bucket is None:
        yield Mistake(at, choice(key, "one of the buckets", spec.storage.buckets))
    elif bucket.purpose != "checkpoints":
        yield broken("checkpointing-bucket", at, value=shown(key), why=f"has the purpose {bucket.purpose}")
    elif bucket.hierarchical_namespace is False:
        yield broken("checkpointing-bucket", at, value=shown(key), why="has no hierarchical namespace")
    elif (place := bucket_region(spec, bucket)) not in (None, region):
        yield broken("checkpointing-bucket", at, value=shown(key), why=f"is in {place}, and the cluster in {region}")


def _check_memory(at: Path, cluster: ClusterSpec, name: str, disk_gb: int) -> Iterator[Mistake]:
    try:
        machine = cluster.pools[name].slice.machine
    except KeyError:
        yield Mistake(at, choice(name, "one of the TPU pools", cluster.pools))
    except SliceError:
        return  # `check_pool` reports it
    else:
        if disk_gb > (most := int(allocatable_gb(machine.memory_gb))):
            known = {"value": disk_gb, "machine": machine.name, "memory": machine.memory_gb, "most": most}
            yield broken("checkpointing-memory", (*at, "ramDiskGb"), **known)
