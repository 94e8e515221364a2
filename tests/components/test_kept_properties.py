"""The properties of each planned value that an adopted resource can keep, by `diff/data/kept.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from tpuplane.data_files import read_data
from tpuplane.diff.kept import updated
from tpuplane.diff.node_pools import Platform, planned
from tpuplane.plan import ClusterPlan, PlatformPlan

from tests.support.components.deployment import Registration, deploy_platform
from tests.support.diff.every_field import NAMES, changes, platform_spec

pytestmark = pytest.mark.components

VALUES = read_data("tpuplane.diff", "kept")["values"]
TYPES = {"cluster": "gcp:container/cluster:Cluster", "nodePool": "gcp:container/nodePool:NodePool"}


@functools.cache
def plans() -> list[tuple[Platform, Platform]]:
    """Both sides of every change that can reach a property."""
    former = {name: planned(platform_spec(name)) for name in NAMES}
    # Of the add-ons, only GKE's Ray operator is a property of the cluster.
    own = [
        change
        for change in changes()
        if change.place[0] == "clusters" and {"addons", "ray"} & {*change.place} != {"addons"}
    ]
    return [(former[change.platform], planned(change.spec)) for change in own]


def keeping(kind: str, names: tuple[str, ...], platform: Platform) -> Platform:
    """The platform with these properties kept by all clusters or node pools, and no other ones."""

    def with_kept(cluster: ClusterPlan) -> ClusterPlan:
        of_cluster, of_pool = (names, ()) if kind == "cluster" else ((), names)
        pools = tuple(replace(pool, kept=of_pool) for pool in cluster.pools)
        system = cluster.system_pool and replace(cluster.system_pool, kept=of_pool)
        return replace(cluster, kept=of_cluster, pools=pools, system_pool=system)

    clusters = tuple(map(with_kept, platform.plan.clusters))
    return platform._replace(plan=replace(platform.plan, clusters=clusters))


def deployed(plan: PlatformPlan) -> dict[str, Registration]:
    """Every resource."""
    with patch("tpuplane.platform.platform.planned_platform", return_value=plan):
        return dict(deploy_platform({}).registrations)


def differences(kind: str, names: tuple[str, ...]) -> Iterator[set[tuple[str, str]]]:
    """For each change: the properties that differ if these keep their former values."""
    of_parts = {name.split(".")[0] for name in names if "." in name}
    for before, changed in plans():
        after = keeping(kind, names, changed)
        if (kept := updated(before, after)).plan == after.plan:
            continue
        news, olds = deployed(after.plan), deployed(kept.plan)
        assert news.keys() == olds.keys()
        if found := {
            (new.type, f"{field}.{part}" if field in of_parts else field)
            for urn, new in news.items()
            for field in new.inputs.keys() | olds[urn].inputs.keys()
            if field not in set(new.request.ignoreChanges) - {*names}
            for part in parts(new.inputs.get(field), olds[urn].inputs.get(field))
        }:
            yield found


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in VALUES.items() for value in values])
def test_the_former_value_changes_only_the_kept_properties(kind: str, value: str) -> None:
    names = VALUES[kind][value]
    own = {(TYPES[kind], name) for name in names}
    found: set[tuple[str, str]] = set()
    for each in differences(kind, tuple(names)):
        assert each <= own
        found |= each
        if found == own:
            break
    assert found == own


def parts(new: Any, old: Any) -> Iterator[str]:
    """The differing fields of an object; one without a name of another value."""
    if isinstance(new, dict) or isinstance(old, dict):
        new, old = new or {}, old or {}
        yield from (key for key in new.keys() | old.keys() if new.get(key) != old.get(key))
    elif new != old:
        yield ""
