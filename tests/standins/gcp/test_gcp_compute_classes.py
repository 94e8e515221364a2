"""What compute classes ask of Google's API: pools with their label and taint, and a default class of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import deploy_platform
from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, Deployed, Driver
from tests.support.providers.platform_on_api import deploy_on
from tests.support.spec.class_rules import described

pytestmark = pytest.mark.twin

KEY = "cloud.google.com/compute-class"
NAMED = {"priorities": [{"nodepools": ["trainer"]}, {"machineFamily": "n2"}]}
ELSEWHERE = {"priorities": [{"machineFamily": "n2"}], "nodePoolAutoCreation": {"enabled": True}}


def made(driver: Driver, kind: str, **classes: Any) -> Deployed:
    """The cluster, or the pool of slices, of a platform with these classes."""
    found = (created.resource for created in deploy_on(driver, described({"classes": classes}), {}))
    return next(
        resource for resource in found if resource.urn.type == kind and not resource.urn.name.endswith("-system")
    )


def asked(kind: str, field: str, **classes: Any) -> Any:
    registered = deploy_platform(described({"classes": classes})).all(kind)
    return next(resource.inputs[field] for resource in registered if not resource.name.endswith("-system"))


def test_a_pool_joins_and_leaves_a_class_in_place(driver: Driver) -> None:
    pool = made(driver, NODE_POOL, other=ELSEWHERE)
    account = pool.inputs["nodeConfig"]["serviceAccount"]
    for classes in ({"steady": NAMED}, {"other": NAMED}, {"other": ELSEWHERE}):
        config = {**asked(NODE_POOL, "nodeConfig", **classes), "serviceAccount": account}
        changes = driver.diff(pool, nodeConfig=config).changes
        assert changes
        assert not any(change.replaces for change in changes.values()), changes
        pool = driver.update(pool, nodeConfig=config)
        found = driver.refresh(pool)
        assert found is not None
        assert not driver.diff(found, nodeConfig=config).changes
        owner = next((name for name, class_ in classes.items() if class_ is NAMED), None)
        state = found.state["nodeConfig"]
        assert state["labels"].get(KEY) == owner
        taints = {
            taint["key"]: (taint["value"], taint["effect"])
            for taint in state.get("taints") or []
            if taint["key"] == KEY
        }
        assert taints == ({KEY: (owner, "NO_SCHEDULE")} if owner else {})


def test_the_default_class_is_switched_in_place(driver: Driver) -> None:
    cluster = made(driver, CLUSTER, other=ELSEWHERE)
    for classes, on in (({"default": ELSEWHERE}, True), ({"other": ELSEWHERE}, False)):
        block = asked(CLUSTER, "clusterAutoscaling", **classes)
        changes = driver.diff(cluster, "nodeConfig", clusterAutoscaling=block).changes
        assert changes
        assert not any(change.replaces for change in changes.values()), changes
        cluster = driver.update(cluster, "nodeConfig", clusterAutoscaling=block)
        found = driver.refresh(cluster)
        assert found is not None
        assert not driver.diff(found, "nodeConfig", clusterAutoscaling=block).changes
        assert bool(found.state["clusterAutoscaling"].get("defaultComputeClassEnabled")) is on
