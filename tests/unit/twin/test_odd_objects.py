"""Unreadable contents of a cluster are unknown, and do not fail the status of the twin."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.cli import show
from tpuplane_twin.cli.clusters import with_clusters
from tpuplane_twin.cluster.api import Api, ClusterError

from tests.support.status.api_server import ApiServer, kubeconfig, serving
from tests.support.status.lists import LISTS
from tests.support.twin_status import cluster, pool, status

pytestmark = pytest.mark.unit


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(LISTS) as made:
        yield made


def lab(context: str = "lab") -> dict[str, Any]:
    return cluster(context=context, nodePools=[pool(name="trainer-0"), pool(name="empty", chips=0, nodes=0)])


def read(server: ApiServer, folder: Path, *clusters: dict[str, Any]) -> list[dict[str, Any]]:
    found = with_clusters(status(clusters=clusters, realRay=True), kubeconfig(folder, server.server_port))["clusters"]
    assert json.dumps(found)
    return list(found)


def test_the_contents_of_a_cluster(server: ApiServer, tmp_path: Path) -> None:
    (found,) = read(server, tmp_path, lab())
    assert [each_pool["nodesReady"] for each_pool in found["nodePools"]] == [4, 0]
    assert [queue["name"] for queue in found["queues"]] == ["research"]
    assert (found["ray"]["pods"], found["unread"]) == (0, "")


def test_unreadable_contents_are_unknown(server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.rejection = 500
    found = read(server, tmp_path, lab(), lab("starts"))
    for cluster_ in found:
        assert [one["nodesReady"] for one in cluster_["nodePools"]] == [None, None]
        assert (cluster_["queues"], cluster_["outsideQueues"], cluster_["ray"]) == (None, None, None)
    assert "answers 500: nodes is forbidden" in found[0]["unread"]
    assert found[1]["unread"] == "its control plane has not started"
    show.print_status(status(clusters=found[:1]))
    shown = capsys.readouterr().out
    assert "16 chips; unknown of 4 TPU hosts ready" in shown
    assert "main: http" in shown


def test_an_odd_object_takes_nothing_else_away(server: ApiServer, tmp_path: Path) -> None:
    server.lists["/api/v1/nodes"] = [{"metadata": {}}]
    (found,) = read(server, tmp_path, lab())
    assert found["unread"] == "Node without a name cannot be read: metadata.name: Field required"
    assert [queue["name"] for queue in found["queues"]] == ["research"]


async def test_a_client_that_was_closed_says_why_it_does_not_answer() -> None:
    api = Api("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")
    await api.aclose()
    with pytest.raises(ClusterError, match=r"the API server at http://127\.0\.0\.1:1 is being stopped"):
        await api.list("Node")
