"""The layout of the picture: boxes in rows."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A drawing at its own origin, with its size in SVG pixels."""

    width: float
    height: float
    lines: tuple[str, ...]
    """SVG elements."""

    def at(self, x: float, y: float) -> list[str]:
        """The elements, moved to a place."""
        return [f'<g transform="translate({number(x)} {number(y)})">', *self.lines, "</g>"]


def flow(boxes: Iterable[Box], width: float, gap: float) -> Box:
    """Boxes side by side, each as high and then as far left as possible, within `width` unless one box is wider."""
    lines: list[str] = []
    right = bottom = 0.0
    # Steps from left to right: the start of each step, and the height below which it is free.
    skyline = [(0.0, 0.0)]
    for box in boxes:
        y, x = _place(skyline, box.width, width, gap)
        lines += box.at(x, y)
        right, bottom = max(right, x + box.width), max(bottom, y + box.height)
        end = x + box.width + gap
        behind = next(free for start, free in reversed(skyline) if start <= end)
        before = [step for step in skyline if step[0] < x]
        after = [step for step in skyline if step[0] > end]
        skyline = [*before, (x, y + box.height + gap), (end, behind), *after]
    return Box(right, bottom, tuple(lines))


def _place(skyline: Sequence[tuple[float, float]], wanted: float, width: float, gap: float) -> tuple[float, float]:
    """The y and x of the highest place, and of these the leftmost, for a box of a width with its gap."""
    places = [
        (max(free for start, free in _under(skyline, x, x + wanted + gap)), x)
        for x, _ in skyline
        if x + wanted <= width or x == 0
    ]
    return min(places)


def _under(skyline: Sequence[tuple[float, float]], left: float, right: float) -> Iterator[tuple[float, float]]:
    """The steps above a box from `left` to `right`."""
    for index, step in enumerate(skyline):
        ends = skyline[index + 1][0] if index + 1 < len(skyline) else math.inf
        if step[0] < right and ends > left:
            yield step


def columns(count: int, cell: tuple[float, float], room: Sequence[float], gap: float) -> int:
    """The columns of a grid of `count` cells: about twice as wide as high, between the two widths of `room`."""
    width, height = cell[0] + gap, cell[1] + gap
    least, most = (int(max(1, min(count, (limit + gap) // width))) for limit in room)
    wanted = max(least, min(most, math.ceil(math.sqrt(2 * count * height / width))))
    return even(count, wanted, range(wanted // 2 + 1, min(most, 2 * wanted - 1) + 1))


def even(count: int, wanted: int, allowed: Iterable[int]) -> int:
    """The number of columns nearest to `wanted` that leaves no gap in the last row; `wanted` if there is none."""
    without_gap = [columns for columns in allowed if count % columns == 0]
    return min(without_gap, key=lambda columns: (abs(columns - wanted), -columns), default=wanted)


def number(value: float) -> str:
    """The shortest text of a length."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
