"""Boxes never overlap and stay within the page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.picture.layout import Box, columns, even, flow

pytestmark = pytest.mark.unit

WIDTH, GAP = 300.0, 10.0
sizes = st.lists(st.tuples(st.integers(5, 400), st.integers(5, 200)), max_size=25)


def placed(box: Box) -> list[tuple[float, float]]:
    found = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", "".join(box.lines))
    return [(float(x), float(y)) for x, y in found]


@given(sizes)
def test_boxes_keep_their_distance_and_stay_inside(given_sizes: list[tuple[int, int]]) -> None:
    whole = flow([Box(width, height, ()) for width, height in given_sizes], WIDTH, GAP)
    boxes = [(x, y, *size) for (x, y), size in zip(placed(whole), given_sizes, strict=True)]
    for index, (x, y, width, height) in enumerate(boxes):
        assert x + width <= max(WIDTH, whole.width)
        assert x == 0 or x + width <= WIDTH
        assert y + height <= whole.height
        for other_x, other_y, other_width, other_height in boxes[:index]:
            apart = (
                x >= other_x + other_width + GAP
                or other_x >= x + width + GAP
                or y >= other_y + other_height + GAP
                or other_y >= y + height + GAP
            )
            assert apart


def test_small_boxes_fill_the_room_next_to_a_tall_one() -> None:
    tall, small = Box(100, 100, ()), Box(100, 20, ())
    assert placed(flow([tall, small, small, small], 220, 10)) == [(0, 0), (110, 0), (110, 30), (110, 60)]


@given(st.integers(1, 500), st.integers(1, 300), st.integers(1, 300))
def test_a_grid_is_no_wider_than_its_room(count: int, width: int, height: int) -> None:
    found = columns(count, (width, height), (100, 1000), 6)
    assert 1 <= found <= count
    assert found * (width + 6) - 6 <= 1000


def test_rows_are_even_where_they_can_be() -> None:
    assert even(8, 3, range(2, 6)) == 4
    assert even(7, 3, range(2, 6)) == 3
