"""Every rule by its row of `rules.yaml`: the right side is planned, the wrong one rejected in these words."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.core.rules import rules
from tpuplane.tpu import catalogue

from tests.support.spec.rule_table import ROWS, described, names

pytestmark = pytest.mark.unit

SAYABLE = [row for row in ROWS if "wrong" in row]


@pytest.mark.parametrize("row", ROWS, ids=names(ROWS))
def test_the_right_side_is_planned(row: dict[str, Any]) -> None:
    assert plan(parse_platform(described(row["right"])))


@pytest.mark.parametrize("row", SAYABLE, ids=names(SAYABLE))
def test_the_wrong_side_is_rejected(row: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as rejected:
        parse_platform(described(row["right"], row["wrong"]))
    found = {str(mistake): mistake.rule for mistake in rejected.value.mistakes}
    assert row["line"] in found
    if row["rule"] in rules():
        assert found[row["line"]] == row["rule"]


def test_every_rule_has_a_row_and_a_source() -> None:
    # Those of compute classes have a table of their own.
    assert {rule for rule in rules() if not rule.startswith("class-")} <= {row["rule"] for row in SAYABLE}
    for rule in rules().values():
        assert rule.sources
        assert set(rule.sources) <= {*catalogue().sources, *gpu_catalogue().sources}, rule.id
