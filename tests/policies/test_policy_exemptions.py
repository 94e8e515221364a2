"""An exemption holds for the resource it names, for a reason, until a day."""

from __future__ import annotations

import pytest
from case_files import TODAY, resource
from tpuplane_policies.core.engine import judge_resource
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.registry import rules

pytestmark = pytest.mark.policies

GOOD = {"resource": "po*", "reason": "moves next week, ML-12", "until": "2026-11-21"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"resource": "urn:*NodePool::pool"}, None),
        ({"resource": "other"}, ""),
        ({"until": "2026-11-20"}, "its exemption ended on 2026-11-20"),
        ({"until": "soon"}, "its exemption does not count: until is 'soon', not a date"),
        ({"reason": "  "}, "its exemption does not count: it gives no reason"),
    ],
)
def test_an_exemption(change: dict[str, str], said: str | None) -> None:
    rule = next(it for it in rules() if it.id == "TPU003")
    pool = resource({"of": "pool", "with": {"nodeCount": 3}})
    found = judge_resource(rule, pool, {"exemptions": [GOOD | change]}, Ledger(), TODAY)
    if said is None:
        assert found == []
    else:
        assert [said in it.message for it in found] == [True]
        assert ("exemption" in found[0].message) == bool(said)
