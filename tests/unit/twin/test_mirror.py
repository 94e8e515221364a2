"""A mirror of objects: a watch that ends goes on from where it was, and one that cannot starts again with a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.mirror import Mirror

from tests.support.eventually import eventually
from tests.support.small_api import SmallApi, small_api

pytestmark = pytest.mark.unit
NODES = "/api/v1/nodes"


def node(name: str) -> Object:
    return {"metadata": {"name": name, "resourceVersion": "1"}}


@pytest.fixture
async def api() -> AsyncIterator[SmallApi]:
    async with small_api() as api:
        api.lists[NODES] = [node("one")]
        yield api


@pytest.fixture
async def mirror(api: SmallApi) -> AsyncIterator[Mirror[Object]]:
    mirror: Mirror[Object] = Mirror(api.client, "Node", lambda item: item, asyncio.Event())
    following = asyncio.create_task(mirror.run())
    await mirror.synced.wait()
    yield mirror
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def test_a_watch_that_ends_is_followed_by_another_one_without_a_list(
    api: SmallApi, mirror: Mirror[Object]
) -> None:
    for watches in (2, 3):
        api.end_watches()
        await eventually(lambda: api.watched, until=watches.__eq__)
    assert api.listed == 1
    assert mirror.items.keys() == {"/one"}


async def test_a_version_that_is_too_old_is_followed_by_a_list(api: SmallApi, mirror: Mirror[Object]) -> None:
    api.change(NODES, node("two"))
    await eventually(lambda: not mirror.synced.is_set(), pause=0.01)
    await mirror.synced.wait()
    assert mirror.items.keys() == {"/two"}
    assert api.listed == 2
