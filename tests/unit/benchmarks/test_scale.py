"""The platforms of `python -m benchmarks scale`, and the page with their figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.plan import plan
from tpuplane.spec import load_stack

from benchmarks.scale import HOSTS, SIZES, Growth
from scripts.scale_table import with_scale

pytestmark = pytest.mark.unit

PAGE = "before\n<!-- generated: scale -->\nold\n<!-- end -->\nafter\n"


@pytest.mark.parametrize("slices", SIZES)
def test_the_stack_file_of_each_size_is_right(tmp_path: Path, slices: int) -> None:
    file = tmp_path / "Pulumi.soak.yaml"
    file.write_text(Growth(tmp_path, slices=slices).stack())
    (cluster,) = plan(load_stack(file)).clusters
    assert [pool.node_count for pool in cluster.pools] == [HOSTS] * slices


def test_the_page_has_a_row_for_each_size_and_the_cost_of_each_more_slice() -> None:
    page = with_scale(PAGE)
    assert page.startswith(
        "before\n<!-- generated: scale -->\n| slices | hosts | chips | check | plan | up | preview |"
    )
    assert page.endswith("<!-- end -->\nafter\n")
    assert "| 199 | 12,736 | 50,944 |" in page
    assert "| 50 to 199 |" in page
