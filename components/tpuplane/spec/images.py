"""Repositories for container images in the description, and the data for them."""

from typing import Annotated

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.queues.teams import Member


def covers(location: str, region: str) -> bool:
    """Whether a repository in a location is near a region: in it, or in the multi-region around it."""
    return location == region or region.startswith(spec_data("images")["multiRegions"].get(location, f"{region}/"))


_ReplacesRepository = Annotated[
    T,
    Change(
        "deletes",
        "A change deletes the repository with its images and creates another one.",
        source="artifact_registry",
    ),
]


class RepositorySpec(Spec):
    """An Artifact Registry repository for container images. The nodes of every cluster can pull from it."""

    location: _ReplacesRepository[str]
    """Region of a cluster, or a multi-region around one: us, europe or asia. Image streaming needs the same region or
    multi-region."""

    remote: _ReplacesRepository[str | None] = None
    """Registry from which the repository copies each image at its first pull: docker.io, gcr.io, ghcr.io, nvcr.io,
    quay.io or registry.k8s.io. Default: none, and the repository has only images that are pushed to it."""

    for_addons: InPlace[bool] = False
    """Whether add-ons near the location pull their images from `remote` through this repository. A change restarts
    them. Default false: from their publishers."""

    writers: InPlace[tuple[Member, ...]] = ()
    """Members who may push images: group:, user: or serviceAccount: with an e-mail address. Default: only the
    project's administrators."""

    immutable_tags: InPlace[bool] = False
    """Whether a tag always means the same image: it cannot be moved or deleted. Default false."""

    delete_after_days: InPlace[Annotated[int, Field(ge=1, le=3650)] | None] = None
    """Age in days after which Google deletes a version of an image. Default: never."""

    keep_versions: InPlace[Annotated[int, Field(ge=1, le=1000)] | None] = None
    """Newest versions of each image that `deleteAfterDays` does not delete. Default: none."""

    cleanup_dry_run: InPlace[bool] = False
    """Only log the versions that `deleteAfterDays` would delete. Default false."""

    deletion_protection: InPlace[bool] = True
    """Pulumi does not delete the repository with its images. Default true."""
