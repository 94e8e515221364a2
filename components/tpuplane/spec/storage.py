"""The storage of a platform in the description: buckets, file systems and disks, and the teams that may use them."""

from typing import Annotated, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Name, Spec, text
from tpuplane.spec.file_systems import FilestoreSpec, LustreSpec

Purpose = Literal["data", "checkpoints", "models", "scratch"]
"""What a bucket is for: the keys of `data/storage.yaml`."""
StorageClass = Literal["STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE"]
BucketName = Annotated[str, *text("bucket")]
ExistingBucketName = Annotated[str, *text("existingBucket")]

_REPLACES = "A change deletes the bucket and creates another one."
_ReplacesBucket = Annotated[T, Change("deletes", _REPLACES, source="bucket")]
_REPLACES_CLASS = "A change deletes the storage class and creates another one. Existing disks do not change."
_ReplacesClass = Annotated[T, Change("deletes", _REPLACES_CLASS, source="storage_class")]
_JOBS = "A change applies to jobs that `tpuplane job` prints after it. No resource changes."
_OF_RAM_DISKS = (
    "If RAM disks of `multiTierCheckpointing` use the bucket, another bucket name replaces them too, and deletes the "
    "bucket if tpuplane created it."
)
_OfNamespace = Annotated[T, Change(judge="bucket", source="bucket")]


class BucketSpec(Spec):
    """A Cloud Storage bucket, private and with uniform access. Deleting the stack never deletes its objects."""

    purpose: _OfNamespace[Purpose]
    """What the bucket is for. It chooses the defaults: `data` and `checkpoints` have a hierarchical namespace, `models`
    keeps old versions of objects, `scratch` deletes objects after 30 days."""

    name: Annotated[
        BucketName | None, Change("deletes", _REPLACES, source="bucket", says={"deletes-work": _OF_RAM_DISKS})
    ] = None
    """Name of the bucket, which no other bucket in Google Cloud may have. Default: `<project>-<platform>-<key>`."""

    existing: Annotated[
        ExistingBucketName | None,
        Change(
            "in-place",
            "Changed in place: the teams get the other bucket.",
            new="deletes",
            removed="creates",
            source="bucket",
            says={"new": "Adding it deletes the bucket that tpuplane created.", "deletes-work": _OF_RAM_DISKS},
        ),
    ] = None
    """Name of an existing bucket. Only the grants of the teams are created, and no other field applies. Default: the
    bucket is created."""

    location: _ReplacesBucket[str | None] = None
    """Region of the bucket, one of those of the clusters. Default: the region of all clusters; required if they have
    several."""

    hierarchical_namespace: _OfNamespace[bool | None] = None
    """Folders that are renamed in one atomic operation. Such a bucket has no Object Versioning, and every other bucket
    has it. Default: by purpose."""

    storage_class: InPlace[StorageClass | None] = None
    """Storage class of new objects. Default: by purpose, STANDARD for all."""

    soft_delete_days: InPlace[Annotated[int, Field(ge=0, le=90)] | None] = None
    """Days for which Google keeps deleted objects: 7 to 90, or 0 for none. Default: by purpose, 7 for all."""

    delete_after_days: InPlace[Annotated[int, Field(ge=0, le=36500)] | None] = None
    """Age in days at which objects are deleted, or 0 for never. Default: 30 for `scratch`, else 0."""

    readers: InPlace[tuple[Name, ...]] = ()
    """Teams whose pods may read objects. Default: none."""

    writers: InPlace[tuple[Name, ...]] = ()
    """Teams whose pods may read, write and delete objects. Default: none."""

    deletion_protection: InPlace[bool] = True
    """Pulumi rejects the deletion of the bucket. The provider rejects it in any case while the bucket has objects.
    Default true."""


class DiskSpec(Spec):
    """A storage class in each cluster with the driver. A pod that mounts it gets a disk, deleted with the pod."""

    type: _ReplacesClass[Literal["hyperdisk-balanced", "pd-balanced"]]
    """Type of the disks. v6e and tpu7x support only hyperdisk-balanced, older generations only pd-balanced."""

    size_gib: Annotated[int, Change("nothing", _JOBS, source="spec")]
    """Size of each disk in GiB."""

    iops: _ReplacesClass[int | None] = None
    """I/O operations per second of each disk, for hyperdisk-balanced: at most 160,000, and 500 for each GiB. Default:
    Compute Engine's, which grows with the size."""

    throughput: _ReplacesClass[int | None] = None
    """Throughput of each disk in MiB per second, for hyperdisk-balanced: 140 to 2,400, and at most a quarter of `iops`.
    Default: Compute Engine's, which grows with the size."""


def _instances(source: str) -> Change:
    """The effect of a new or removed file system."""
    removed = "A removed name deletes the instance with its files."
    return Change(new="creates", removed="deletes", named="instance", source=source, says={"removed": removed})


class PlatformStorageSpec(Spec):
    """What holds the platform's data outside of its clusters."""

    buckets: Annotated[
        dict[Name, BucketSpec], Change(new="creates", removed="deletes", named="bucket", source="bucket")
    ] = Field(default_factory=dict)
    """Cloud Storage buckets, by name. Default: none."""

    lustre: Annotated[dict[Name, LustreSpec], _instances("lustre")] = Field(default_factory=dict)
    """Managed Lustre instances, by name. Default: none."""

    filestore: Annotated[dict[Name, FilestoreSpec], _instances("filestore")] = Field(default_factory=dict)
    """Filestore instances, by name. Default: none."""

    disks: Annotated[
        dict[Name, DiskSpec], Change(new="creates", removed="deletes", named="storage class", source="storage_class")
    ] = Field(default_factory=dict)
    """Disks that pods of jobs can mount, by name. Default: none."""
