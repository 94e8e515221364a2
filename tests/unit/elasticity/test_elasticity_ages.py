"""Ages of objects continue after a restart of the twin, from creation times in Kubernetes."""

from __future__ import annotations

import datetime as dt
import ssl
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Api
from tpuplane_twin.elasticity.objects import Node, age, births
from tpuplane_twin.elasticity.provisioner import Provisioner
from tpuplane_twin.elasticity.queued import Queue
from tpuplane_twin.elasticity.requests import Request

from tests.support.elasticity.elastic_objects import nodes, serving_group

pytestmark = pytest.mark.unit

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC).timestamp()


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [("2026-11-21T11:59:00Z", 60.0), ("2026-11-21T12:00:00Z", 0.0), ("2026-11-21T12:00:05Z", 0.0), ("", 0.0)],
)
def test_an_age_is_from_a_time_of_kubernetes_until_now(stamp: str, seconds: float) -> None:
    assert age(stamp, NOON) == seconds


def test_a_node_has_the_age_of_its_creation_time_and_keeps_a_known_birth() -> None:
    first, second = nodes(serving_group(2))
    there = [replace(first, created="2026-11-21T11:00:00Z"), second]
    found = births(there, {}, 500.0, NOON)
    assert found == {first.name: -3100.0, second.name: 500.0}
    assert births(there[:1], found, 900.0, NOON) == {first.name: -3100.0}


def test_a_nodes_time_of_creation_is_read() -> None:
    metadata = {"name": "n", "creationTimestamp": "2026-11-21T11:00:00Z"}
    assert Node.parse({"metadata": metadata, "spec": {}, "status": {}}).created == "2026-11-21T11:00:00Z"


def stamp(seconds_ago: float) -> str:
    return (dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds_ago)).isoformat()


def request(*reached: tuple[str, float], asked: float) -> Request:
    """A request that was made and reached its conditions so many seconds ago."""
    conditions: list[dict[str, Any]] = [
        {"type": kind, "status": "True", "reason": kind, "message": kind, "lastTransitionTime": stamp(ago)}
        for kind, ago in reached
    ]
    found = Request.parse(
        {
            "metadata": {"name": "r", "namespace": "research", "uid": "r", "creationTimestamp": stamp(asked)},
            "spec": {"provisioningClassName": "queued-provisioning.gke.io", "podSets": []},
            "status": {"conditions": conditions},
        }
    )
    assert found is not None
    return found


async def seen(asked_for: Request, now: float) -> Queue:
    """What a provisioner that was just started makes of it."""

    async def resize(*_: Any) -> bool:
        return False

    async with aclosing(Api("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")) as api:
        return await Provisioner(api, resize, 60).look([asked_for], now)


async def test_a_request_has_the_age_of_its_creation_time() -> None:
    asked_for = request(("Accepted", 90_000), ("Provisioned", 80_000), ("BookingExpired", 79_000), asked=100_000)
    queue = await seen(asked_for, 500.0)
    assert queue.asked_at(asked_for) == pytest.approx(-99_500, abs=60)
    assert queue.at(asked_for, "Provisioned") == pytest.approx(-79_500, abs=60)


async def test_the_wait_for_a_pool_begins_again_because_the_pool_is_restored_too() -> None:
    asked_for = request(("Accepted", 90_000), asked=100_000)
    assert (await seen(asked_for, 500.0)).at(asked_for, "Accepted") == 500.0
