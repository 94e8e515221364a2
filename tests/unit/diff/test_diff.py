"""Known changes: their class, the node pools that they reach, and what they open."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.diff import Change, Diff, diff
from tpuplane.spec import parse_platform
from tpuplane.spec.core.errors import dotted

from tests.unit.diff.every_field import PLATFORMS

pytestmark = pytest.mark.unit

PLATFORM = PLATFORMS["lab"]

TRAINER = "clusters.central1.pools.trainer"
ONE = "clusters.central1"


def changed(*settings: tuple[str, Any]) -> Diff:
    """The difference that other values make; None removes one."""
    after = copy.deepcopy(PLATFORM)
    for path, value in settings:
        *above, last = path.split(".")
        part = after
        for name in above:
            part = part.setdefault(name, {})
        if value is None:
            del part[last]
        else:
            part[last] = value
    return diff(parse_platform(PLATFORM), parse_platform(after))


def only(*settings: tuple[str, Any]) -> Change:
    (change,) = changed(*settings).changes
    return change


def pools(change: Change) -> dict[str, str]:
    return {it.name: it.done for it in change.node_pools}


@pytest.mark.parametrize(
    ("path", "value", "kind", "reached"),
    [
        (f"{TRAINER}.topology", "4x8", "replaces-pools", {"trainer-0": "replaced", "trainer-1": "replaced"}),
        (
            f"{TRAINER}.topology",
            "2x2",
            "replaces-pools",
            {"trainer-0": "deleted", "trainer-1": "deleted", "trainer": "created"},
        ),
        (f"{TRAINER}.slices", 1, "deletes-nodes", {"trainer-1": "deleted"}),
        (f"{TRAINER}.slices", 3, "creates", {"trainer-2": "created"}),
        (f"{TRAINER}.machineType", "ct6e-standard-4t", "nothing", {}),
        (f"{TRAINER}.diskSizeGb", 200, "rolls-nodes", {"trainer-0": "rolled", "trainer-1": "rolled"}),
        (f"{TRAINER}.nodeLabels", {"a": "b"}, "in-place", {}),
        (f"{ONE}.pools.notebooks.slices", 1, "deletes-nodes", {"notebooks": "resized"}),
        (f"{ONE}.pools.notebooks.slices", 3, "in-place", {}),
        (f"{ONE}.pools.empty.topology", "8x8", "nothing", {}),
        (f"{ONE}.pools.burst", None, "deletes-nodes", {"burst-0": "deleted", "burst-1": "deleted"}),
        (
            f"{ONE}.pools.burst.adopted.names",
            ["moved", "burst-1"],
            "replaces-pools",
            {"burst-0": "deleted", "moved": "created"},
        ),
        (f"{ONE}.pools.burst.adopted.names", ["burst-1", "burst-0"], "nothing", {}),
        (f"{ONE}.pools.serving.autoscaling.maxSlices", 2, "in-place", {}),
        (f"{ONE}.gpuPools.l4s.machineType", "g2-standard-16", "rolls-nodes", {"l4s": "rolled"}),
        (f"{ONE}.gpuPools.l4s.machineType", "g2-standard-24", "replaces-pools", {"l4s": "replaced"}),
        (f"{ONE}.gpuPools.l4s.zones", ["us-central1-a"], "deletes-nodes", {"l4s": "resized"}),
        ("reservations.nightly.project", "tpuplane-shared", "replaces-pools", {"nightly-0": "replaced"}),
        ("reservations.nightly.maintenanceInterval", "PERIODIC", "replaces-pools", {"nightly-0": "replaced"}),
        ("reservations.spare.project", "tpuplane-shared", "in-place", {}),  # a class names it
        ("reservations.spare.chips", 128, "nothing", {}),
        (f"{ONE}.network.nodesCidr", "10.0.0.0/19", "in-place", {}),
        (f"{ONE}.namespaces", ["tools"], "deletes-work", {}),
        (f"{ONE}.namespaces", ["tools", "docs", "papers"], "nothing", {}),  # a team has it
        ("classes.batch", None, "deletes-work", {}),
        ("classes.batch.autoscalingPolicy", None, "in-place", {}),  # a part that is removed removes no class
        ("teams.research.queue", "main", "deletes-work", {}),
        ("classes.processors.clusters", [], "deletes-work", {}),
        ("queues.priorities.low", None, "deletes-work", {}),
        ("quotas.us-central1", None, "nothing", {}),
        (f"{ONE}.addons.jobset", None, "deletes-work", {}),
    ],
)
def test_a_change_has_a_class_and_reaches_node_pools(path: str, value: Any, kind: str, reached: dict[str, str]) -> None:
    change = only((path, value))
    assert (dotted(change.path), change.kind, pools(change)) == (path, kind, reached)
    assert change.source


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        (f"{ONE}.network.podsCidr", "10.128.0.0/14", "replaces-cluster"),
        (f"{ONE}.network.nodesCidr", "10.4.0.0/20", "replaces-cluster"),
        ("name", "other", "replaces-everything"),
    ],
)
def test_a_replaced_cluster_takes_all_of_its_pools(path: str, value: Any, kind: str) -> None:
    change = only((path, value))
    assert change.kind == kind
    assert set(pools(change).values()) == {"replaced"}
    assert {"system", "trainer-0", "l4s"} <= pools(change).keys()
    assert sum(it.chips for it in change.node_pools) == changed().before.plan.chips


def test_a_renamed_pool_is_a_deletion_and_a_creation() -> None:
    pool = PLATFORM["clusters"]["central1"]["pools"]["serving"]
    found = changed((f"{ONE}.pools.serving", None), (f"{ONE}.pools.answers", pool))
    assert [(it.kind, pools(it)) for it in found.changes] == [
        ("deletes-nodes", {"serving": "deleted"}),
        ("creates", {"answers": "created"}),
    ]


def test_an_adopted_pool_keeps_its_node_pools_under_another_key() -> None:
    pool = {**PLATFORM["clusters"]["central1"]["pools"]["burst"], "adopted": {"names": ["a", "b"]}}
    before = changed((f"{ONE}.pools.burst", pool)).after.spec

    def kinds(**other: Any) -> list[str]:
        renamed = changed((f"{ONE}.pools.burst", None), (f"{ONE}.pools.spot", pool | other)).after.spec
        return [it.kind for it in diff(before, renamed).changes]

    assert kinds() == ["in-place", "in-place"]
    assert kinds(topology="4x8") == ["deletes-nodes", "creates"]
    partly = changed(
        (f"{ONE}.pools.burst", None), (f"{ONE}.pools.spot", PLATFORM["clusters"]["central1"]["pools"]["burst"])
    )
    assert [pools(it) for it in partly.changes] == [{"burst-1": "deleted"}, {"spot-1": "created"}]


def test_the_worst_change_is_the_first() -> None:
    found = changed((f"{TRAINER}.topology", "4x8"), (f"{ONE}.namespaces", ["tools"]), ("labels", {"a": "b"}))
    assert [it.kind for it in found.changes] == ["deletes-work", "replaces-pools", "in-place"]
    assert found.reaches("rolls-nodes")
    assert found.reaches("deletes-work")
    assert not found.reaches("replaces-cluster")


@pytest.mark.parametrize(
    ("path", "value", "opened"),
    [
        (f"{ONE}.controlPlane.publicEndpoint", True, True),
        (f"{ONE}.controlPlane.dnsEndpoint", True, True),
        (f"{ONE}.controlPlane.authorizedNetworks", [{"cidr": "10.9.0.0/16", "name": "lab"}], True),
        (f"{ONE}.controlPlane.authorizedNetworks", [], False),
        ("teams.research.members", ["user:one@example.com", "user:two@example.com"], True),
        ("teams.research.members", [], False),
        ("teams.research.podSecurity", "privileged", True),
        ("teams.research.podSecurity", "restricted", False),
        (f"{ONE}.security.anonymousAuthentication", "ENABLED", True),
        ("classes.processors.nodePoolConfig.ipType", "public", True),
        (f"{ONE}.addons.launchAgent", {"queues": ["night"], "teams": ["research"]}, True),
        (f"{ONE}.costAllocation", False, False),
    ],
)
def test_what_opens_something_is_marked(path: str, value: Any, opened: bool) -> None:
    found = changed((path, value))
    assert bool(found.opens) == opened
    assert all(dotted(it.path).startswith(path) for it in found.opens)


def test_a_new_team_opens_its_namespaces_to_its_members() -> None:
    team = {"members": ["group:new@example.com"], "clusters": {"central1": {}}}
    security = (f"{ONE}.security.securityGroup", "gke-security-groups@example.com")
    found = changed(("teams.added", team), security)
    assert {dotted(it.path) for it in found.opens} == {"teams.added.members", security[0]}
