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


async def test_the_location_tells_clusters_of_one_name_apart(tmp_path: Path) -> None:
    store, places = Store(tmp_path / "store.db"), ("us-east5", "us-west4")
    keys = [f"projects/acme/locations/{place}/clusters/lab" for place in places]
    async with small_api() as api:
        for key in keys:
            store.put(CLUSTER, key, {"name": "lab"})
            store.put(POOL, f"{key}/nodePools/train", {"name": "train"})
        api.lists["/api/v1/nodes"] = [node("gke-lab-train-0", "train", "us-east5-a/0")]
        targets = Targets(store, lambda cluster: api.client)
        for name in ("train/0", "gke-lab-train-0"):
            for cluster in ("", "lab"):
                message = "several clusters .* choose one with --cluster: us-east5/lab, us-west4/lab$"
                with pytest.raises(ApiError, match=message):
                    await targets.hosts("host-error", name, cluster, one=True)
            for key, place in zip(keys, places, strict=True):
                for cluster in (f"{place}/lab", f"gke_acme_{place}_lab"):
                    found = await targets.hosts("host-error", name, cluster, one=True)
                    assert found.pool == f"{key}/nodePools/train"
        planes = {f"gke_acme_{place}_lab": SimpleNamespace(processes=lambda _: ()) for place in places}
        with pytest.raises(ApiError, match="choose a cluster with --cluster: us-east5/lab, us-west4/lab"):
            await Disruptions(cast(Any, planes))._begin({"kind": "etcd-full", "cluster": "lab"})
        assert list(Disruptions(cast(Any, planes))._chosen({"cluster": "us-west4/lab"})) == ["gke_acme_us-west4_lab"]


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
        await Disruptions(cast(Any, {"gke_acme_us-east5_lab": plane}))._begin(asked)
