"""Suggestions for error messages."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tpuplane.tpu.model import Generation
from tpuplane.tpu.topology import chip_count

_MOST_COMPARED = 200
_LOOSE = re.compile(r"\s*[0-9]{1,6}(?:\s*[xX*]\s*[0-9]{1,6}){0,3}\s*")


@lru_cache(maxsize=4096)
def nearest_topologies(generation: Generation, text: str) -> tuple[str, ...]:
    """Accepted topologies closest to a text, smallest first.

    The same numbers in another order or spelling; else a shape with the same number of chips; else the largest
    shape that fits inside and the smallest that contains it. Empty if `text` is not a topology.
    """
    if not _LOOSE.fullmatch(text):
        return ()
    wanted = sorted(map(int, re.findall("[0-9]+", text)))
    chips = math.prod(wanted)
    every = dict.fromkeys((*generation.topologies, *(generation.rule.topologies if generation.rule else ())))
    if len(wanted) > 1 and (same := [shape for shape in every if _ascending(shape) == wanted]):
        return tuple(same)
    for shape in every:
        if chip_count(shape) == chips:
            return (shape,)
    below, above = _around(every, wanted) if len(wanted) > 1 else ([], [])
    if not below and not above:
        below = [shape for shape in every if chip_count(shape) < chips]
        above = [shape for shape in every if chip_count(shape) > chips]
    largest_below = max(below, key=chip_count, default=None)
    smallest_above = min(above, key=chip_count, default=None)
    return tuple(shape for shape in (largest_below, smallest_above) if shape)


def _around(every: Iterable[str], wanted: list[int]) -> tuple[list[str], list[str]]:
    below, above = [], []
    for shape in every:
        dims = _ascending(shape)
        # 4x4x1 and 4x4 are the same grid, so compare from the largest number, with 1 for missing numbers.
        pairs = list(zip(_padded(dims, len(wanted)), _padded(wanted, len(dims)), strict=True))
        if all(have <= want for have, want in pairs):
            below.append(shape)
        elif all(have >= want for have, want in pairs):
            above.append(shape)
    return below, above


def _ascending(topology: str) -> list[int]:
    return sorted(map(int, topology.split("x")))


def _padded(dims: list[int], length: int) -> list[int]:
    return [1] * (length - len(dims)) + dims


def lookalike(text: str) -> str:
    """The first character that is not ASCII, as ` ("é" is U+00E9)`; "" if there is none. It can look like another."""
    first = next((char for char in text if not char.isascii() and char.isprintable()), "")
    return f' ("{first}" is U+{ord(first):04X})' if first else ""


def nearest_names(text: str, names: Sequence[str], count: int = 2, cutoff: float = 0.6) -> tuple[str, ...]:
    """Names that are similar to `text`, best first. `cutoff` is the least similarity, from 0 to 1."""
    if len(names) > _MOST_COMPARED:  # a comparison with each would take too long
        names = [name for name in names if name[:2].casefold() == text[:2].casefold()][:_MOST_COMPARED]
    return _nearest_names(text, tuple(names), count, cutoff)


@lru_cache(maxsize=4096)
def _nearest_names(text: str, names: tuple[str, ...], count: int, cutoff: float) -> tuple[str, ...]:
    wanted = text.casefold()
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wanted, folded, n=len(folded) or 1, cutoff=cutoff)
    close = sorted(close, key=lambda name: not name.startswith(wanted))[:count]  # an incomplete name first
    if not close and len(wanted) > 1:  # short names such as l4 and flex
        close = [name for name in folded if wanted in re.split("[^a-z0-9]", name)][:count]
    return tuple(folded[hit] for hit in close)
