"""The table of generations in docs/tpu.md, between `<!-- generated: generations -->` and `<!-- end -->`."""

from collections.abc import Iterable

from tpuplane.tpu import Generation, catalogue
from tpuplane.tpu.topology import chip_count

from scripts.field_tables import markdown_table, with_regions

_COLUMNS = (
    *("name", "other names", "node label", "machine types", "largest slice", "multi-host placement"),
    *("accelerator type", "boot disk", "flex-start", "oldest GKE"),
)


def with_generations(page: str) -> str:
    """The page with its table."""
    return with_regions(page, {"generations": markdown_table(_COLUMNS, map(_row, catalogue().generations))}.__getitem__)


def _row(generation: Generation) -> list[str]:
    topologies = [*generation.topologies, *(generation.rule.topologies if generation.rule else ())]
    return [
        f"`{generation.name}`",
        _code(generation.aliases),
        f"`{generation.label}`",
        _code(machine.name for machine in generation.machines),
        f"{max(topologies, key=chip_count)} ({generation.max_chips} chips)",
        generation.placement,
        f"`{generation.accelerator_type}-N`, N = {'TensorCores' if generation.cores_per_chip > 1 else 'chips'}",
        ", ".join(generation.boot_disk_types) or "no rule known",
        "yes" if generation.flex_start else "no",
        str(generation.min_gke_version or ""),
    ]


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
