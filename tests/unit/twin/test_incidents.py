"""Incidents that meet on some of their hosts: each other host keeps its own incident."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Api, ClusterError
from tpuplane_twin.failures import incidents
from tpuplane_twin.failures.hosts import Hosts
from tpuplane_twin.failures.incidents import Incidents, Target
from tpuplane_twin.failures.routes import Failures
from tpuplane_twin.gcp.container.names import POOL as POOL_KIND
from tpuplane_twin.gcp.store import Store

from tests.support.eventually import eventually

pytestmark = pytest.mark.unit

POOL = "projects/acme/locations/us-east5/clusters/lab/nodePools/trainer"
TITLES = {"host error": "error", "host maintenance": "maintenance", "reclaim of spot hosts": "reclaim"}


async def nothing(*_: object, **__: object) -> None:
    """A change that is written at once."""


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
        self.late = asyncio.Event()
        """Until when what `answers_late` lasts."""

    async def reclaim(self, pool: str) -> None:
        self.reclaimed.append(pool)

    async def answers_late(self, *_: object, **__: object) -> list[dict[str, Any]]:
        await self.late.wait()
        return []

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


async def test_hosts_that_are_reclaimed_twice_at_once_are_reclaimed_once(twin: Twin) -> None:
    waiting = [asyncio.create_task(twin.incidents.ended(twin.begin("preemption", "abc"))) for _ in range(2)]
    await twin.passes(30)
    assert await asyncio.wait_for(asyncio.gather(*waiting), 5) == ["", ""]
    assert twin.reclaimed == [POOL]


async def test_a_reclaim_goes_on_without_a_host_that_fails(twin: Twin) -> None:
    waiting = asyncio.create_task(twin.incidents.ended(twin.begin("preemption", "abc")))
    await asyncio.sleep(0.01)
    twin.begin("host-error", "a")
    await twin.passes(30)
    assert await asyncio.wait_for(waiting, 5) == ""
    assert twin.reclaimed == [POOL]


async def test_an_incident_acts_until_its_change_is_written_and_not_while_it_waits_for_the_clock(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rehearsal moves the clock while nothing acts."""
    twin.begin("host-error", "a")
    await twin.passes(0)
    assert not twin.incidents.acting, "it waits until Kubernetes misses the host"
    monkeypatch.setattr(Hosts, "_nodes", twin.answers_late)
    twin.api = cast(Any, "an API server")
    await twin.passes(50)
    await eventually(lambda: twin.incidents.acting, pause=0.01)
    twin.late.set()
    await eventually(lambda: twin.hosts == {}, pause=0.01)
    assert not twin.incidents.acting


async def test_an_announced_maintenance_is_due_also_while_the_labels_of_its_hosts_are_read(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()

    async def look(*_: object) -> None:
        looked.set()
        await twin.answers_late()

    monkeypatch.setattr(Hosts, "mark", nothing)
    monkeypatch.setattr(Hosts, "asked_to_start", look)
    twin.api = cast(Any, "an API server")
    twin.begin("maintenance", "abc", notice=1800)
    await asyncio.wait_for(looked.wait(), 60)
    begins = twin.times.clock.due
    assert begins is not None
    twin.times.clock.move(1800)
    await eventually(lambda: twin.times.clock.due, until=(begins + 720).__eq__, pause=0.01)


async def test_an_announcement_is_written_again_after_an_api_server_that_does_not_answer(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked: list[str] = []

    async def mark(*_: object, **__: object) -> None:
        marked.append("")
        if len(marked) == 1:
            raise ClusterError("no answer")

    monkeypatch.setattr(incidents, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Hosts, "mark", mark)
    monkeypatch.setattr(Hosts, "asked_to_start", nothing)
    twin.api = cast(Any, "an API server")
    twin.begin("maintenance", "abc", notice=1800)
    await eventually(lambda: len(marked) == 2 and not twin.incidents.acting, pause=0.01)
    assert twin.hosts == {"maintenance": "abc"}


@pytest.mark.parametrize(("slow", "passes"), [("_pods", 0), ("_fail", 25)])
async def test_the_end_of_pods_acts_before_and_after_their_grace_periods(
    twin: Twin, monkeypatch: pytest.MonkeyPatch, slow: str, passes: float
) -> None:
    async def pods(_: Hosts) -> list[dict[str, Any]]:
        return [{"spec": {"terminationGracePeriodSeconds": 15}, "status": {}}]

    for name, answer in {"condition": nothing, "_pods": pods, "_fail": nothing, slow: twin.answers_late}.items():
        monkeypatch.setattr(Hosts, name, answer)
    twin.api = cast(Any, "an API server")
    twin.begin("preemption", "abc")
    await twin.passes(0)
    assert twin.incidents.acting == (slow == "_pods")
    await twin.passes(passes)
    await eventually(lambda: twin.incidents.acting, pause=0.01)
    twin.late.set()
    await eventually(lambda: not twin.incidents.acting, pause=0.01)


async def test_a_reclaim_acts_until_the_hosts_are_created_again(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin, "reclaim", twin.answers_late)
    twin.begin("preemption", "abc")
    await twin.passes(30)
    await eventually(lambda: twin.incidents.acting, pause=0.01)
    twin.late.set()
    await eventually(lambda: twin.hosts == {}, pause=0.01)
    assert not twin.incidents.acting


@pytest.mark.parametrize(("path", "finds"), [("/twin/incidents", "hosts"), ("/twin/reclaim", "passing_pool")])
async def test_an_incident_acts_while_its_hosts_are_looked_up(twin: Twin, path: str, finds: str) -> None:
    app = web.Application()
    Failures(twin.incidents, cast(Any, SimpleNamespace(**{finds: twin.answers_late}))).serve(app)
    async with TestClient(TestServer(app)) as client:
        asked = asyncio.create_task(client.post(path, json={"kind": "host-error", "target": "trainer"}))
        await eventually(lambda: twin.incidents.acting, pause=0.01)
        asked.cancel()
        await eventually(lambda: not twin.incidents.acting, pause=0.01)
