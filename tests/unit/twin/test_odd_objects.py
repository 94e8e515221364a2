"""One odd object in a cluster, or a cluster that goes, does not take the twin's status away."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Api
from tpuplane_twin.cluster.control_plane import ControlPlane
from tpuplane_twin.cluster.errors import ClusterError
from tpuplane_twin.cluster.pools import NodeSummary
from tpuplane_twin.fleet import Fleet
from tpuplane_twin.paths import TwinPaths
from tpuplane_twin.ports import PortBook
from tpuplane_twin.processes import ProcessManager
from tpuplane_twin.tools import Tools

pytestmark = pytest.mark.unit

NAME = "gke_acme_us-east5_trainers"


class OddApi(Api):
    """A server whose answers are not as foreseen."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")

    async def request(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"items": [{"metadata": {}}]}


class FleetOfOne(Fleet):
    """A fleet with one control plane, of which nothing runs but its client."""

    def __init__(self, paths: TwinPaths, api: Api) -> None:
        tools = Tools({}, {}, ray=paths.root)
        super().__init__(paths, ProcessManager(), PortBook(paths.ports), tools, "token", lambda _: None)
        plane = self._planes[NAME] = self._new_plane(NAME)
        plane._api = api


async def test_a_node_of_somebody_elses_may_say_nothing_of_itself() -> None:
    assert NodeSummary().plus({"metadata": {"name": "bare"}}) == NodeSummary(nodes=1)


async def test_what_nobody_foresaw_is_logged_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def odd(self: ControlPlane) -> dict[str, NodeSummary]:
        raise KeyError("conditions")

    monkeypatch.setattr(ControlPlane, "nodes", odd)
    async with OddApi() as api:
        fleet = FleetOfOne(TwinPaths("local", tmp_path / "local").make(), api)
        assert (await fleet.nodes(NAME), await fleet.queues(NAME), await fleet.ray(NAME)) == ({}, [], None)
    assert [record.getMessage() for record in caplog.records] == [f"{NAME} could not be read for the status"] * 3


async def test_a_client_that_was_closed_says_why_it_does_not_answer(tmp_path: Path) -> None:
    api = Api("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")
    fleet = FleetOfOne(TwinPaths("local", tmp_path / "local").make(), api)
    await api.close()
    with pytest.raises(ClusterError, match=r"the API server at http://127\.0\.0\.1:1 is being stopped"):
        await api.list("Node")
    assert (await fleet.nodes(NAME), await fleet.queues(NAME)) == ({}, [])
