"""Kubernetes' quantities, held against the official client's parser. What an API server writes is in the twin tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity
from tpuplane.quantities import canonical, thousandths

pytestmark = pytest.mark.unit

_SUFFIXES = ["", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
QUANTITIES = st.builds("{}{}".format, st.integers(0, 10**6), st.sampled_from(_SUFFIXES))


@given(QUANTITIES)
def test_quantities_are_those_of_the_official_client(quantity: str) -> None:
    assert thousandths(quantity) == parse_quantity(quantity) * 1000


def test_small_and_exponent_quantities_round_up() -> None:
    assert [thousandths(name) for name in ("1.5", "100n", "2e3", "1E3", "12")] == [
        1500,
        1,
        2_000_000,
        1_000_000,
        12_000,
    ]


@given(QUANTITIES)
def test_the_one_form_is_the_same_amount_and_stays(quantity: str) -> None:
    form = canonical(quantity)
    assert thousandths(form) == thousandths(quantity)
    assert canonical(form) == form
