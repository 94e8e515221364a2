"""The hosts and control planes that a user names, and the messages about others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane_twin.cluster.nodes import ORDINAL
from tpuplane_twin.failures.disruptions import Disruptions
from tpuplane_twin.failures.incidents import Incidents
from tpuplane_twin.failures.routes import Failures
from tpuplane_twin.failures.targets import Targets
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.errors import ApiError
from tpuplane_twin.gcp.store import Store

from tests.support.small_api import small_api

pytestmark = pytest.mark.unit

KEY = "projects/acme/locations/us-east5/clusters/lab"


def node(name: str, pool: str, ordinal: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {GKE_POOL_LABEL: pool}, "annotations": {ORDINAL: ordinal}}}


@pytest.fixture
async def targets(tmp_path: Path) -> AsyncIterator[Targets]:
    store = Store(tmp_path / "store.db")
    store.put(CLUSTER, KEY, {"name": "lab"})
    for pool in ("system", "train"):
        store.put(POOL, f"{KEY}/nodePools/{pool}", {"name": pool})
    async with small_api() as api:
        system = [node(f"gke-lab-system-{zone}", "system", f"us-east5-{zone}/0") for zone in "cab"]
        train = [node(f"gke-lab-train-{number}", "train", f"us-east5-a/{number}") for number in (0, 1)]
        api.lists["/api/v1/nodes"] = [*system, *train]
        yield Targets(store, lambda cluster: api.client)


@pytest.mark.parametrize(
    ("name", "cluster", "message"),
    [
        ("system/0", "", "name one of them: gke-lab-system-a, gke-lab-system-b, gke-lab-system-c"),
        ("train", "lab", "name one of them: train/0, train/1"),
        ("train/0", "lba", "'lba' is not a cluster; allowed: lab"),
        ("tran/0", "lab", "there is no node pool or node 'tran'; the nearest is 'train'"),
    ],
)
async def test_a_message_leads_to_a_host(targets: Targets, name: str, cluster: str, message: str) -> None:
    with pytest.raises(ApiError, match=message):
        await targets.hosts("host-error", name, cluster, one=True)
    if cluster == "lba":
        with pytest.raises(ApiError, match=message):
            await targets.passing_pool("train", cluster)


@pytest.mark.parametrize("notice", [30, "30", [30]])
async def test_a_notice_without_a_unit_is_rejected(targets: Targets, notice: object) -> None:
    routes = Failures(cast(Incidents, None), targets)
    with pytest.raises(ApiError, match=r"notice: .* is not a duration; give numbers with s, m, h or d"):
        await routes._begin({"kind": "maintenance", "target": "train/0", "notice": notice})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "webhook-late"}, "webhook-late needs the namespace of an operator; running: kueue-system"),
        ({"kind": "webhook-late", "namespace": "kueue"}, "'kueue' is not the namespace of a running operator"),
        ({"kind": "etcd-full", "namespace": "kueue-system"}, "etcd-full is a fault of the control plane; leave out"),
        ({"kind": "api-server-late", "namespace": "kueue-system"}, "is a fault of the control plane; leave out"),
    ],
)
async def test_a_disruption_of_an_operator_needs_its_namespace(asked: dict[str, str], message: str) -> None:
    plane = SimpleNamespace(operators=lambda: {"kueue-system": [1]})
    with pytest.raises(ApiError, match=message):
        await Disruptions(cast(Any, {"lab": plane}))._begin(asked)
