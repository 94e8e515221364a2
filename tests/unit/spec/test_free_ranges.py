"""The address range that an overlap suggests: free, private, of the size asked for, and the first there is."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.spec.cluster.network_checks import FreeRanges

pytestmark = pytest.mark.unit

ranges = st.builds(
    lambda offset, prefix: IPv4Network((int(IPv4Network("10.0.0.0/8").network_address) + offset, prefix), strict=False),
    st.integers(0, 2**24 - 1),
    st.integers(9, 28),
)


@given(st.lists(ranges, max_size=8), st.integers(10, 28))
def test_a_suggestion_is_private_and_free(taken: list[IPv4Network], prefix: int) -> None:
    found = FreeRanges(taken).take(prefix)
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
        assert FreeRanges(taken).take(prefix) == first


def test_no_suggestion_where_everything_is_taken() -> None:
    private = [IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    assert FreeRanges(private).take(20) is None


def test_the_other_private_blocks_are_used_when_the_first_is_full() -> None:
    assert FreeRanges([IPv4Network("10.0.0.0/8")]).take(20) == IPv4Network("172.16.0.0/20")


def test_a_range_is_taken_once() -> None:
    unused = FreeRanges([IPv4Network("10.0.0.0/20"), IPv4Network("10.0.32.0/20")])
    assert [str(unused.take(20)) for _ in range(3)] == ["10.0.16.0/20", "10.0.48.0/20", "10.0.64.0/20"]
