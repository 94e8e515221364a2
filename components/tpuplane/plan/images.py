"""Repositories for container images: modes, cleanup policies and members, and the images of add-ons through them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.data_files import filled
from tpuplane.labels import PLATFORM_LABEL
from tpuplane.plan.cluster import PROJECT_ACCOUNT, ClusterPlan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.images import RepositorySpec, covers


@dataclass(frozen=True, slots=True)
class RepositoryPlan:
    """An Artifact Registry repository of the platform."""

    name: str
    location: str
    address: str  # "us-central1-docker.pkg.dev/PROJECT/NAME"
    source: str | None  # host of the registry whose images it copies
    remote: Any  # remoteRepositoryConfig, in the form of the API
    immutable_tags: bool
    cleanup: tuple[Any, ...]  # policies in the form of the provider
    cleanup_dry_run: bool
    readers: tuple[str, ...]  # keys of clusters, one for each account of nodes
    writers: tuple[str, ...]
    roles: Mapping[str, str]  # of a reader and of a writer
    labels: Mapping[str, str]
    deletion_protection: bool


def repository_plans(spec: PlatformSpec, clusters: tuple[ClusterPlan, ...]) -> tuple[RepositoryPlan, ...]:
    """The repositories, in the order of the description."""
    # Clusters can have the same existing account. A member of a role exists once. GKE's name for the project's default
    # account is not an address.
    known = [cluster for cluster in clusters if cluster.existing_account != PROJECT_ACCOUNT]
    readers = {cluster.existing_account or cluster.key: cluster.key for cluster in reversed(known)}
    return tuple(
        RepositoryPlan(
            name=name,
            location=own.location,
            address=_address(spec, name),
            source=own.remote,
            remote=spec_data("images")["remotes"][own.remote] if own.remote is not None else None,
            immutable_tags=own.immutable_tags,
            cleanup=_cleanup(own),
            cleanup_dry_run=own.cleanup_dry_run,
            readers=tuple(reversed(readers.values())),
            writers=own.writers,
            roles=spec_data("images")["roles"],
            labels={**spec.labels, PLATFORM_LABEL: spec.name},
            deletion_protection=own.deletion_protection,
        )
        for name, own in spec.images.items()
    )


def sources_of(spec: PlatformSpec, location: str) -> Mapping[str, str]:
    """Where a cluster's add-ons pull images: the address instead of the host in their names. A repository in the
    cluster's region comes before one in the multi-region."""
    region = region_of(location)
    near = [(name, own) for name, own in spec.images.items() if own.for_addons and covers(own.location, region)]
    near.sort(key=lambda named: named[1].location == region)
    return {str(own.remote): _address(spec, name) for name, own in near}


def _address(spec: PlatformSpec, name: str) -> str:
    return f"{spec.images[name].location}-docker.pkg.dev/{spec.project.replace(':', '/')}/{name}"


def _cleanup(own: RepositorySpec) -> tuple[Any, ...]:
    days = own.delete_after_days
    values = {"$deleteAfter": f"{days * 86400}s" if days is not None else None, "$keepVersions": own.keep_versions}
    policies = spec_data("images")["cleanup"].items()
    return tuple(filled(policy, values) for needed, policy in policies if values[needed] is not None)
