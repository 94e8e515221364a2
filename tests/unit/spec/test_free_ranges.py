"""The address range that an overlap suggests: free, private, of the size asked for, and the first there is."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.spec.cluster.network_checks import next_free

pytestmark = pytest.mark.unit

ranges = st.builds(
    lambda offset, prefix: IPv4Network((int(IPv4Network("10.0.0.0/8").network_address) + offset, prefix), strict=False),
    st.integers(0, 2**24 - 1),
    st.integers(9, 28),
)


@given(st.lists(ranges, max_size=8), st.integers(10, 28))
def test_a_suggestion_is_private_and_free(taken: list[IPv4Network], prefix: int) -> None:
    found = next_free(prefix, taken)
    if found is not None:
        assert found.prefixlen == prefix
        assert found.is_private
        assert not any(found.overlaps(other) for other in taken)


@given(st.lists(ranges, max_size=8), st.integers(10, 16))
def test_no_earlier_range_was_free(taken: list[IPv4Network], prefix: int) -> None:
    """Against the slow way: trying every range of the size in turn."""
    every = IPv4Network("10.0.0.0/8").subnets(new_prefix=prefix)
    first = next((one for one in every if not any(one.overlaps(other) for other in taken)), None)
    if first is not None:
        assert next_free(prefix, taken) == first


def test_no_suggestion_where_everything_is_taken() -> None:
    private = [IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    assert next_free(20, private) is None


def test_the_other_private_blocks_are_used_when_the_first_is_full() -> None:
    assert next_free(20, [IPv4Network("10.0.0.0/8")]) == IPv4Network("172.16.0.0/20")
