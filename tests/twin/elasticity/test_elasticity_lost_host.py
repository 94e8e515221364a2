"""A host of a slice is lost: the job waits for its slice as a whole, and never takes a host of other work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from elastic_twin import ElasticTwin
from lost_host import AUTOSCALED, FIXED, OTHERS, LostHosts, Pods, Work, host_of

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

FAULT = pytest.mark.parametrize("fault", ["deleted", "not-ready"])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hosts(twin: ElasticTwin) -> AsyncIterator[LostHosts]:
    found = LostHosts(twin)
    await found.make()
    yield found
    await found.remove()


@FAULT
async def test_in_fixed_pools_each_kind_of_work_gets_its_slice_back(hosts: LostHosts, fault: str) -> None:
    works = [*FIXED, OTHERS]
    for work in works:
        await hosts.submit(work)
    before = await hosts.running(works)
    await lose(hosts, fault, [work for work in FIXED if work.topology], before)
    # Without a topology, Kueue would join hosts of several slices that are broken at the same time.
    for work in FIXED:
        if not work.topology:
            await lose(hosts, fault, [work], before)
    after = await hosts.running(works)
    assert uids(after, OTHERS) == uids(before, OTHERS)
    await hosts.delete(works)


@pytest.mark.long
@FAULT
async def test_in_autoscaled_pools_each_kind_of_work_gets_its_slice_back(hosts: LostHosts, fault: str) -> None:
    for work in AUTOSCALED:  # one after the other, so that each fills one slice
        await hosts.submit(work)
        await hosts.running([work])
    before = await hosts.running(AUTOSCALED)
    for work in AUTOSCALED:
        await lose(hosts, fault, [work], before)
    await hosts.delete(AUTOSCALED)


async def lose(hosts: LostHosts, fault: str, works: Sequence[Work], before: Pods) -> None:
    """Lose one host of each job, wait until the jobs wait, return the hosts, and wait until all is as before."""
    lost = {str(host_of(before[work.key][0])) for work in works}
    if fault == "deleted":
        for host in lost:
            await hosts.twin.kubernetes.delete("Node", host)
    else:
        await hosts.set_ready(lost, "Unknown")
    await hosts.waiting(works, lost)
    if fault == "deleted":
        hosts.twin.pass_time(11)
    else:
        await hosts.set_ready(lost, "True")
    after = await hosts.running(works)
    for work in works:
        assert slices(after, work) == slices(before, work)


def slices(pods: Pods, work: Work) -> set[str]:
    """The instance groups of a job's hosts: the same after a repair."""
    return {str(host_of(pod)).rsplit("-", 1)[0] for pod in pods[work.key]}


def uids(pods: Pods, work: Work) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods[work.key]}
