"""Cloud TPU's accelerator types (`v5p-32`), as a generation and a topology."""

import re

from tpuplane.tpu.catalogue import catalogue
from tpuplane.tpu.errors import SliceError
from tpuplane.tpu.model import AcceleratorTypeName, Generation
from tpuplane.tpu.nearest import all_topologies, nearest_names
from tpuplane.tpu.topology import chip_count

_NAME = re.compile(r"([a-z0-9]+)-([1-9][0-9]{0,6})")


def resolve(name: str) -> tuple[Generation, str]:
    """The generation and default topology of an accelerator type.

    Raises:
        SliceError: field "accelerator_type". If the number is in chips instead of TensorCores, or the reverse, the
            message says so and `nearest` starts with the correct name.
    """
    match = _NAME.fullmatch(name)
    prefix = match[1] if match else ""
    family = [gen for gen in catalogue().generations if prefix in gen.accelerator_type.prefixes]
    if match is None or not family:
        prefixes = dict.fromkeys(gen.accelerator_type.prefixes[0] for gen in catalogue().generations)
        raise SliceError(
            "accelerator_type",
            name,
            "is not an accelerator type",
            allowed=tuple(f"{prefix}-N" for prefix in prefixes),
            nearest=nearest_names(name, _documented_names()),
        )
    shapes = _default_shapes(family)
    naming = family[0].accelerator_type
    chips, rest = divmod(int(match[2]), naming.cores_per_chip)
    if rest or chips not in shapes:
        raise _size_error(name, int(match[2]), naming, shapes)
    return shapes[chips]


def _default_shapes(family: list[Generation]) -> dict[int, tuple[Generation, str]]:
    """Default topology by chip count; podslices before devices, documented shapes before others."""
    shapes: dict[int, tuple[Generation, str]] = {}
    for gen in sorted(family, key=lambda gen: gen.placement == "none"):
        for topology in all_topologies(gen):
            shapes.setdefault(chip_count(topology), (gen, topology))
    return shapes


def _documented_names() -> list[str]:
    return [
        gen.accelerator_type.of_chips(chip_count(topology))
        for gen in catalogue().generations
        for topology in gen.topologies
    ]


def _size_error(
    name: str, number: int, naming: AcceleratorTypeName, shapes: dict[int, tuple[Generation, str]]
) -> SliceError:
    prefix, per_chip = naming.prefixes[0], naming.cores_per_chip
    meant = None
    if per_chip > 1:
        cause = f"is not a slice: {prefix} counts TensorCores, {per_chip} per chip, and no slice has {number}"
        if number in shapes:
            meant = number
            cause += f" (for {number} chips write {naming.of_chips(meant)})"
    else:
        cause = f"is not a slice: {prefix} counts chips, and no slice has {number}"
        if number > max(shapes) and number % 2 == 0 and number // 2 in shapes:
            meant = number // 2
            cause += f" (for {number} TensorCores, 2 per chip, write {naming.of_chips(meant)})"
    below = max((chips for chips in shapes if chips * per_chip < number), default=None)
    above = min((chips for chips in shapes if chips * per_chip > number), default=None)
    nearest = dict.fromkeys(chips for chips in (meant, below, above) if chips is not None)
    documented = sorted(chips for chips, (gen, shape) in shapes.items() if shape in gen.topologies)
    return SliceError(
        "accelerator_type",
        name,
        cause,
        allowed=tuple(map(naming.of_chips, documented)),
        nearest=tuple(map(naming.of_chips, nearest)),
    )
