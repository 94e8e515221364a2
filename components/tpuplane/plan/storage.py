"""The storage of a platform: buckets and who may use them, disks of pods, and RAM disks for checkpoints."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tpuplane.labels import PLATFORM_LABEL, PURPOSE_LABEL
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.cluster.option_checks import has_feature
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.storage import BucketSpec
from tpuplane.spec.storage_checks import bucket_name, bucket_region

_DAY = 24 * 3600  # seconds


@dataclass(frozen=True, slots=True)
class GrantPlan:
    """A role on a bucket for all pods of a namespace, in every cluster of the project, or for GKE itself."""

    owner: str  # the namespace
    member: str  # of the IAM policy, with {number} for the number of the project
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlan:
    """One bucket with its grants."""

    key: str
    name: str
    purpose: str = field(compare=False)
    readers: tuple[str, ...] = field(compare=False)  # teams; their grants are compared
    writers: tuple[str, ...] = field(compare=False)
    existing: bool
    """The bucket exists, and only the grants are created. The values below do not apply."""
    grants: tuple[GrantPlan, ...]
    location: str = ""
    hierarchical: bool = False
    """With a hierarchical namespace; without one, it keeps old versions of objects."""
    storage_class: str = ""
    soft_delete_seconds: int = 0
    delete_after_days: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    protected: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointingPlan:
    """A CheckpointConfiguration: on each host of a pool, GKE's driver with a RAM disk."""

    pool: str  # key in the user's file, and name of the object
    bucket: str
    size: str  # of the RAM disk
    mount_options: tuple[str, ...]  # of the bucket in the driver


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """A storage class, from which pods of jobs get disks."""

    name: str
    provisioner: str
    parameters: dict[str, str]
    size: str = field(compare=False)  # of the disk of a pod; no resource has it

    @property
    def type(self) -> str:
        """The type of the disks."""
        return self.parameters["type"]


def claim_plans(spec: PlatformSpec, key: str, team: str, namespace: str) -> tuple[ClaimPlan, ...]:
    """The claims in a namespace of a team, if the cluster `key` has the driver that mounts buckets."""
    if not spec.clusters[key].storage.gcs_fuse:
        return ()
    return tuple(
        _claim(spec, key, own, field, namespace)
        for own, bucket in spec.storage.buckets.items()
        for field in ("readers", "writers")
        if team in getattr(bucket, field)
    )


def _claim(spec: PlatformSpec, key: str, own: str, field: str, namespace: str) -> ClaimPlan:
    volume, profile = spec_data("storage")["volume"], _profile(spec, key, spec.storage.buckets[own])
    access = volume["modes"][field]
    return ClaimPlan(
        name=own,
        volume=f"{namespace}.{own}",  # neither name can have a dot
        handle=bucket_name(spec, own),
        driver=volume["driver"],
        size=volume["size"],
        mode=access["mode"],
        storage_class=profile.get("class", ""),
        options=(*access["options"], *([] if profile else volume["options_without_profile"])),
        attributes=profile.get("attributes", {}),
    )


def _profile(spec: PlatformSpec, key: str, bucket: BucketSpec) -> dict[str, Any]:
    """GKE's profile for the bucket in the cluster `key`; empty if the cluster cannot use it."""
    cluster, found = spec.clusters[key], spec_data("storage")["profiles"][bucket.purpose]
    near = bucket_region(spec, bucket) == region_of(cluster.location)
    if not has_feature(cluster, "gcs-fuse-profiles") or (found.get("same_region") and not near):
        return {}
    return dict(found)


def bucket_plan(spec: PlatformSpec, key: str) -> BucketPlan:
    """The bucket `key` of the description."""
    bucket = spec.storage.buckets[key]
    found = BucketPlan(
        key=key,
        name=bucket_name(spec, key),
        purpose=bucket.purpose,
        readers=bucket.readers,
        writers=bucket.writers,
        existing=bucket.existing is not None,
        grants=tuple(_grants(spec, key, bucket)),
    )
    if found.existing:
        return found
    chosen = {**spec_data("storage")["purposes"][bucket.purpose]}
    chosen |= {field: value for field in chosen if (value := getattr(bucket, field)) is not None}
    return replace(
        found,
        location=bucket_region(spec, bucket) or "",
        hierarchical=chosen["hierarchical_namespace"],
        storage_class=chosen["storage_class"],
        soft_delete_seconds=chosen["soft_delete_days"] * _DAY,
        delete_after_days=chosen["delete_after_days"],
        labels={**spec.labels, PLATFORM_LABEL: spec.name, PURPOSE_LABEL: bucket.purpose},
        protected=bucket.deletion_protection,
    )


def _grants(spec: PlatformSpec, key: str, bucket: BucketSpec) -> Iterator[GrantPlan]:
    data = spec_data("storage")
    for granted, teams in (("readers", bucket.readers), ("writers", bucket.writers)):
        for team in teams:
            for namespace in namespaces_of(team, spec.teams[team]):
                member = data["namespace_principal"].format(
                    project=spec.project, namespace=namespace, number="{number}"
                )
                yield from (GrantPlan(namespace, member, role) for role in data["roles"][granted])
    users = {key for team in (*bucket.readers, *bucket.writers) for key in spec.teams[team].clusters}
    if any(spec.clusters[key].storage.gcs_fuse and _profile(spec, key, bucket) for key in users):
        yield from (GrantPlan("gke.scan", data["scan"]["member"], role) for role in data["scan"]["roles"])
    backups = (cluster.multi_tier_checkpointing for cluster in spec.clusters.values())
    if any(own is not None and own.bucket == key for own in backups):
        own = data["checkpointing"]
        member = own["member"].format(project=spec.project, number="{number}")
        yield from (GrantPlan("gke.checkpoints", member, role) for role in own["roles"])


def checkpointing_plans(spec: PlatformSpec, key: str) -> tuple[CheckpointingPlan, ...]:
    """The objects of the cluster `key`; none without multi-tier checkpointing."""
    own = spec.clusters[key].multi_tier_checkpointing
    if own is None:
        return ()
    bucket, options = bucket_name(spec, own.bucket), tuple(spec_data("storage")["checkpointing"]["mount_options"])
    return tuple(CheckpointingPlan(name, bucket, f"{pool.ram_disk_gb}Gi", options) for name, pool in own.pools.items())


def disk_plans(spec: PlatformSpec, key: str) -> tuple[DiskPlan, ...]:
    """The storage classes of the cluster `key`; none without the persistent disk CSI driver."""
    if not spec.clusters[key].storage.persistent_disk:
        return ()
    data = spec_data("disks")["class"]
    return tuple(
        DiskPlan(
            name=name,
            provisioner=data["provisioner"],
            parameters={
                "type": disk.type,
                **({} if disk.iops is None else {data["iops"]: str(disk.iops)}),
                **({} if disk.throughput is None else {data["throughput"]: f"{disk.throughput}Mi"}),
            },
            size=f"{disk.size_gib}Gi",
        )
        for name, disk in spec.storage.disks.items()
    )
