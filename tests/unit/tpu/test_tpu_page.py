"""The table of docs/tpu.md says what the catalogue says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.tpu import Generation, Slice, catalogue

pytestmark = pytest.mark.unit

PAGE = Path(__file__).parents[3] / "docs" / "tpu.md"


def rows() -> dict[str, list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    cells = [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def test_every_generation_has_its_row() -> None:
    assert list(rows()) == [generation.name for generation in catalogue().generations]


@pytest.mark.parametrize("generation", catalogue().generations, ids=lambda generation: generation.name)
def test_a_row_says_what_the_catalogue_says(generation: Generation) -> None:
    aliases, label, machines, largest, placement, name, disks, flex_start, minimum = rows()[generation.name]
    assert aliases == ", ".join(generation.aliases)
    assert label == generation.label
    assert machines == ", ".join(machine.name for machine in generation.machines)
    topology, chips = largest.split(" ", 1)
    assert Slice.of(generation.name, topology).chips == generation.max_chips
    assert chips == f"({generation.max_chips} chips)"
    assert placement == generation.placement
    counted = "TensorCores" if generation.accelerator_type.cores_per_chip > 1 else "chips"
    assert name == f"{generation.accelerator_type.prefixes[0]}-N, N = {counted}"
    assert disks == (", ".join(generation.boot_disk_types) or "no rule known")
    assert flex_start == ("yes" if generation.flex_start else "no")
    assert minimum == (generation.min_gke_version or "")
