"""Mistakes in repositories for container images."""

from collections.abc import Iterator

from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.images import RepositorySpec, covers
from tpuplane.spec.platform import PlatformSpec


def check_images(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject repositories far from every cluster, unknown sources, and settings of another mode."""
    regions = sorted({region_of(cluster.location) for cluster in spec.clusters.values()})
    around = spec_data("images")["multiRegions"]
    near = [*regions, *(name for name in around if any(covers(name, one) for one in regions))]
    taken: dict[tuple[str, str | None], str] = {}
    for name, repository in spec.images.items():
        at: Path = ("images", name)
        if repository.location not in near:
            value = shown(repository.location)
            yield broken("repository-location", (*at, "location"), value=value, allowed=", ".join(near))
        yield from _check_mode(at, repository)
        if repository.keep_versions is not None and repository.delete_after_days is None:
            yield broken("repository-cleanup", (*at, "keepVersions"))
        if repository.for_addons:
            first = taken.setdefault((repository.location, repository.remote), name)
            if first != name:
                yield broken("repository-addons", (*at, "forAddons"), first=first, remote=repository.remote)


def _check_mode(at: Path, repository: RepositorySpec) -> Iterator[Mistake]:
    remotes = spec_data("images")["remotes"]
    if repository.remote is None:
        if repository.for_addons:
            yield broken("repository-remote", (*at, "forAddons"), allowed=", ".join(remotes))
        return
    if repository.remote not in remotes:
        value = shown(repository.remote)
        yield broken("repository-source", (*at, "remote"), value=value, allowed=", ".join(remotes))
    for field, given in (("writers", repository.writers), ("immutableTags", repository.immutable_tags)):
        if given:
            yield broken("repository-read-only", (*at, field))
