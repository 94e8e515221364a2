"""The buckets of a platform, and who may use them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tpuplane.labels import PLATFORM_LABEL, PURPOSE_LABEL
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.storage import BucketSpec
from tpuplane.spec.storage_checks import bucket_name, regions

_DAY = 24 * 3600  # seconds


@dataclass(frozen=True, slots=True)
class GrantPlan:
    """A role on a bucket for all pods of a namespace, in every cluster of the project."""

    namespace: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlan:
    """One bucket with its grants."""

    key: str
    name: str
    existing: bool
    """The bucket exists, and only the grants are created. The other values say nothing."""
    grants: tuple[GrantPlan, ...]
    location: str = ""
    hierarchical: bool = False
    """With a hierarchical namespace; without one, it keeps old versions of objects."""
    storage_class: str = ""
    soft_delete_seconds: int = 0
    delete_after_days: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    protected: bool = False


def bucket_plans(spec: PlatformSpec) -> tuple[BucketPlan, ...]:
    """The buckets in the order of the file."""
    return tuple(_bucket(spec, key, bucket) for key, bucket in spec.storage.buckets.items())


def principal(project: str, number: str, namespace: str) -> str:
    """The member of an IAM policy that is every pod of a namespace, in all clusters of the project."""
    return str(spec_data("storage")["namespace_principal"]).format(project=project, number=number, namespace=namespace)


def _bucket(spec: PlatformSpec, key: str, bucket: BucketSpec) -> BucketPlan:
    found = BucketPlan(
        key=key, name=bucket_name(spec, key), existing=bucket.existing is not None, grants=tuple(_grants(spec, bucket))
    )
    if found.existing:
        return found
    chosen = {**spec_data("storage")["purposes"][bucket.purpose]}
    chosen |= {field: value for field in chosen if (value := getattr(bucket, field)) is not None}
    return replace(
        found,
        location=bucket.location or regions(spec)[0],
        hierarchical=chosen["hierarchical_namespace"],
        storage_class=chosen["storage_class"],
        soft_delete_seconds=chosen["soft_delete_days"] * _DAY,
        delete_after_days=chosen["delete_after_days"],
        labels={**spec.labels, PLATFORM_LABEL: spec.name, PURPOSE_LABEL: bucket.purpose},
        protected=bucket.deletion_protection,
    )


def _grants(spec: PlatformSpec, bucket: BucketSpec) -> Iterator[GrantPlan]:
    roles = spec_data("storage")["roles"]
    for granted, teams in (("readers", bucket.readers), ("writers", bucket.writers)):
        for team in teams:
            for namespace in namespaces_of(team, spec.teams[team]):
                yield from (GrantPlan(namespace, role) for role in roles[granted])
