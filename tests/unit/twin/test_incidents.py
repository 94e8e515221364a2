"""Incidents that meet on some of their hosts: each other host keeps its own incident."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest
from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Api
from tpuplane_twin.failures.incidents import Incidents, Target
from tpuplane_twin.gcp.container.names import POOL as POOL_KIND
from tpuplane_twin.gcp.store import Store

from tests.support.eventually import eventually

pytestmark = pytest.mark.unit

POOL = "projects/acme/locations/us-east5/clusters/lab/nodePools/trainer"
TITLES = {"host error": "error", "host maintenance": "maintenance", "reclaim of spot hosts": "reclaim"}


class Twin:
    """A twin whose clock stands still, with a slice of three hosts and without a control plane, unless it has `api`."""

    def __init__(self, folder: Path) -> None:
        self.times = Times()
        self.times.clock.move(0)
        self.api: Api | None = None
        store = Store(folder / "store.db")
        store.put(POOL_KIND, POOL, {})
        self.incidents = Incidents(store, lambda cluster: self.api, cast(Any, self), self.times)
        self.reclaimed: list[str] = []

    async def reclaim(self, pool: str) -> None:
        self.reclaimed.append(pool)

    def begin(self, kind: str, nodes: str, notice: float | None = None) -> dict[str, Any]:
        return self.incidents.begin(kind, Target(POOL, list(nodes)), notice)

    @property
    def hosts(self) -> dict[str, str]:
        """The hosts of each incident."""
        return {TITLES.get(found["kind"], found["kind"]): "".join(found["hosts"]) for found in self.incidents.report()}

    async def passes(self, seconds: float) -> None:
        """Time passes, after all incidents wait for it."""
        for _ in range(20):
            await asyncio.sleep(0)
        self.times.clock.move(seconds)


@pytest.fixture
async def twin(tmp_path: Path) -> AsyncIterator[Twin]:
    found = Twin(tmp_path)
    yield found
    await found.incidents.stop()


@pytest.mark.parametrize(
    ("former", "hosts", "later", "host", "after"),
    [
        ("host-error", "abc", "recovery", "b", {"error": "ac", "recovery": "b"}),
        ("host-error", "abc", "host-error", "abc", {"error": "abc"}),
        ("host-error", "b", "maintenance", "abc", {"maintenance": "abc"}),
        ("maintenance", "abc", "host-error", "c", {"maintenance": "ab", "error": "c"}),
        ("maintenance", "abc", "recovery", "a", {"recovery": "abc"}),
        ("preemption", "abc", "recovery", "a", {"recovery": "abc"}),
        ("preemption", "abc", "host-error", "a", {"reclaim": "bc", "error": "a"}),
        ("host-error", "c", "recovery", "a", {"error": "c", "recovery": "a"}),
    ],
)
async def test_a_later_incident_takes_its_hosts_from_the_former(
    twin: Twin, former: str, hosts: str, later: str, host: str, after: dict[str, str]
) -> None:
    twin.begin(former, hosts)
    twin.begin(later, host)
    assert twin.hosts == after


async def test_a_maintenance_begins_at_its_time_although_one_of_the_hosts_has_failed(twin: Twin) -> None:
    twin.begin("maintenance", "abc", notice=1800)
    twin.begin("host-error", "c")
    twin.begin("recovery", "c")
    assert twin.hosts == {"maintenance": "ab", "recovery": "c"}
    await twin.passes(1800)
    await twin.passes(720)  # it waits for the drain, then for the kubelet, the machine and the chips
    for seconds in (50, 930, 120):
        assert twin.hosts == {"maintenance": "ab"}
        await twin.passes(seconds)
    await eventually(lambda: twin.hosts == {}, pause=0.01)


async def test_a_reclaim_says_that_another_incident_replaced_it(twin: Twin) -> None:
    waiting = asyncio.create_task(twin.incidents.ended(twin.begin("preemption", "abc")))
    await asyncio.sleep(0.01)
    twin.begin("recovery", "a")
    assert await asyncio.wait_for(waiting, 5) == "another incident of these hosts replaced it"
    assert twin.reclaimed == []


async def test_a_reclaim_goes_on_without_a_host_that_fails(twin: Twin) -> None:
    waiting = asyncio.create_task(twin.incidents.ended(twin.begin("preemption", "abc")))
    await asyncio.sleep(0.01)
    twin.begin("host-error", "a")
    await twin.passes(30)
    assert await asyncio.wait_for(waiting, 5) == ""
    assert twin.reclaimed == [POOL]


async def test_an_incident_acts_until_its_change_is_written_and_not_while_it_waits_for_the_clock(twin: Twin) -> None:
    """A rehearsal moves the clock while nothing acts."""
    twin.begin("host-error", "a")
    await twin.passes(0)
    assert not twin.incidents.acting, "it waits until Kubernetes misses the host"
    async with aclosing(Api("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")) as api:
        twin.api = api
        await twin.passes(50)
        await eventually(lambda: twin.incidents.acting, pause=0.01)
        twin.api = None
        await eventually(lambda: twin.hosts == {}, pause=0.01)
    assert not twin.incidents.acting
