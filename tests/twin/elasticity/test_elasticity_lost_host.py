"""A host of a slice is lost: the job waits for its slice as a whole, and never takes a host of other work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from tests.support.elasticity.elastic_twin import ElasticTwin
from tests.support.elasticity.lost_host import OTHERS, WORKS, LostHosts, Pods, Work, host_of

pytestmark = [pytest.mark.twin, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hosts(twin: ElasticTwin) -> AsyncIterator[LostHosts]:
    found = LostHosts(twin)
    await found.make()
    yield found
    await found.remove()


async def test_in_fixed_pools_each_kind_of_work_gets_a_whole_slice_back(hosts: LostHosts) -> None:
    works = [*WORKS, OTHERS]
    for work in works:
        await hosts.submit(work)
    before = await hosts.running(works)
    await lose(hosts, [work for work in WORKS if work.topology], before)
    # Without a topology, Kueue would join hosts of several slices that are broken at the same time.
    for work in WORKS:
        if not work.topology:
            await lose(hosts, [work], before)
    after = await hosts.running(works)
    assert uids(after, OTHERS) == uids(before, OTHERS)
    await hosts.delete(works)


async def lose(hosts: LostHosts, works: Sequence[Work], before: Pods) -> None:
    """Delete one node of each job, wait until the jobs wait, let GKE repair, and wait until each runs on one slice."""
    lost = {str(host_of(before[work.key][0])) for work in works}
    for host in lost:
        await hosts.twin.kubernetes.delete("Node", host)
    await hosts.waiting(works, lost)
    hosts.twin.pass_time(11)
    await hosts.running(works)


def uids(pods: Pods, work: Work) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods[work.key]}
