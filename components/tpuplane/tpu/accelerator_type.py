"""Cloud TPU's accelerator types (`v5p-32`), read back into a generation and a topology."""

from __future__ import annotations

import re

from tpuplane.tpu.catalogue import catalogue
from tpuplane.tpu.errors import SliceError
from tpuplane.tpu.model import Generation
from tpuplane.tpu.nearest import all_topologies, nearest_names
from tpuplane.tpu.topology import chip_count

_NAME = re.compile(r"([a-z0-9]+)-([1-9][0-9]{0,6})")


def resolve(name: str) -> tuple[Generation, str]:
    """The generation and default topology of an accelerator type.

    Raises:
        SliceError: field "accelerator_type". Where the number is a chip count of a generation that counts
            TensorCores, or the reverse, the message says so and `nearest` starts with the name that was meant.
    """
    match = _NAME.fullmatch(name)
    prefix = match[1] if match else ""
    family = [gen for gen in catalogue().generations if prefix in gen.accelerator_type.prefixes]
    if match is None or not family:
        allowed = tuple(
            dict.fromkeys(f"{gen.accelerator_type.prefixes[0]}-N" for gen in catalogue().generations)
        )
        raise SliceError(
            "accelerator_type",
            name,
            "is not an accelerator type",
            allowed=allowed,
            nearest=nearest_names(name, _known_names()),
        )
    number = int(match[2])
    shapes = _default_shapes(family)
    per_chip = family[0].accelerator_type.cores_per_chip
    chips, rest = divmod(number, per_chip)
    if not rest and chips in shapes:
        return shapes[chips]
    raise _size_error(name, number, family[0], shapes)


def _default_shapes(family: list[Generation]) -> dict[int, tuple[Generation, str]]:
    """Default topology by chip count. Podslices come before devices: they are what new platforms are made of."""
    shapes: dict[int, tuple[Generation, str]] = {}
    for gen in sorted(family, key=lambda gen: gen.placement == "none"):
        for topology in all_topologies(gen):
            shapes.setdefault(chip_count(topology), (gen, topology))
    return shapes


def _known_names() -> list[str]:
    return [
        f"{gen.accelerator_type.prefixes[0]}-{chip_count(topology) * gen.accelerator_type.cores_per_chip}"
        for gen in catalogue().generations
        for topology in gen.topologies
    ]


def _size_error(
    name: str, number: int, gen: Generation, shapes: dict[int, tuple[Generation, str]]
) -> SliceError:
    prefix, per_chip = gen.accelerator_type.prefixes[0], gen.accelerator_type.cores_per_chip
    if per_chip > 1:
        counts, meant = f"{prefix} counts TensorCores, {per_chip} per chip", number
        cause = f"does not exist: {counts}, so {number} would be {number / per_chip:g} chips"
    else:
        meant = number // 2 if number % 2 == 0 else 0
        cause = f"does not exist: {prefix} counts chips, and no {prefix} slice has {number}"
    below = max((chips for chips in shapes if chips * per_chip < number), default=None)
    above = min((chips for chips in shapes if chips * per_chip > number), default=None)
    candidates = [chips for chips in (below, above) if chips is not None]
    if meant in shapes:
        cause += f"; a slice of {meant} chips is {prefix}-{meant * per_chip}"
        candidates.insert(0, meant)
    documented = sorted(chips for chips, (owner, shape) in shapes.items() if shape in owner.topologies)
    return SliceError(
        "accelerator_type",
        name,
        cause,
        allowed=tuple(f"{prefix}-{chips * per_chip}" for chips in documented),
        nearest=tuple(dict.fromkeys(f"{prefix}-{chips * per_chip}" for chips in candidates)),
    )
