"""Known changes: their class, the node pools that they reach, and the clause that applies."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.diff import Change, Diff, diff
from tpuplane.spec import PlatformSpec, parse_platform
from tpuplane.spec.core.errors import dotted

from tests.support.diff.changed import ONE, PLATFORM, TRAINER, changed, only
from tests.support.diff.every_field import PLATFORMS, with_value

pytestmark = pytest.mark.unit


def pools(change: Change) -> dict[str, str]:
    return {node_pool.name: node_pool.done for node_pool in change.node_pools}


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
        (f"{ONE}.pools.nightly.slices", 1, "nothing", {}),
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
        (f"{ONE}.gpuPools.l4s.zones", ["us-central1-c", "us-central1-a"], "nothing", {}),
        (f"{ONE}.gpuPools.flexible.flexStart.maxRunDuration", "168h", "nothing", {}),
        (f"{ONE}.systemPool.machineType", "e2-standard-8", "rolls-nodes", {"system": "rolled"}),
        (f"{ONE}.gpuPools.l4s.zones", ["us-central1-a"], "deletes-nodes", {"l4s": "resized"}),
        ("reservations.nightly.project", "tpuplane-shared", "replaces-pools", {"nightly-0": "replaced"}),
        ("reservations.nightly.maintenanceInterval", "PERIODIC", "replaces-pools", {"nightly-0": "replaced"}),
        ("reservations.spare.project", "tpuplane-shared", "in-place", {}),  # a class names it
        ("reservations.spare.chips", 128, "nothing", {}),
        (f"{ONE}.network.nodesCidr", "10.0.0.0/19", "in-place", {}),
        (f"{ONE}.namespaces", ["tools"], "deletes-work", {}),
        (f"{ONE}.namespaces", ["tools", "docs", "papers"], "nothing", {}),  # a team has it
        ("teams.research.namespaces", ["research", "papers", "docs"], "in-place", {}),  # no team has it
        ("classes.batch", None, "deletes-work", {}),
        ("classes.batch.autoscalingPolicy", None, "in-place", {}),  # a part that is removed removes no class
        ("teams.research.queue", "main", "deletes-work", {}),
        ("classes.processors.clusters", [], "deletes-work", {}),
        ("queues.priorities.low", None, "deletes-work", {}),
        ("quotas.us-central1", None, "nothing", {}),
        (f"{ONE}.addons.jobset", None, "deletes-work", {}),
        (f"{ONE}.addons.monitoring", None, "deletes-work", {}),  # with a frontend
        ("observability", None, "deletes", {}),
        ("observability.dashboard", False, "deletes", {}),
        ("observability.alerts", {"idleChips": {"enabled": False}}, "deletes", {}),
        ("images.mirror", None, "deletes", {}),
        ("images.mirror.remote", "quay.io", "deletes", {}),
        ("images.mirror.forAddons", True, "in-place", {}),
        (f"{ONE}.version", "1.34", "in-place", {}),
        (f"{ONE}.version", None, "in-place", {}),
        (f"{ONE}.releaseChannel", "STABLE", "in-place", {}),
    ],
)
def test_a_change_has_a_class_and_reaches_node_pools(path: str, value: Any, kind: str, reached: dict[str, str]) -> None:
    change = only((path, value))
    assert dotted(change.path).startswith(path)
    assert (change.kind, pools(change)) == (kind, reached)
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
    assert sum(node_pool.chips for node_pool in change.node_pools) == changed().before.plan.chips


def test_a_renamed_pool_is_a_deletion_and_a_creation() -> None:
    pool = PLATFORM["clusters"]["central1"]["pools"]["serving"]
    found = changed((f"{ONE}.pools.serving", None), (f"{ONE}.pools.answers", pool))
    assert [(change.kind, pools(change)) for change in found.changes] == [
        ("deletes-nodes", {"serving": "deleted"}),
        ("creates", {"answers": "created"}),
    ]


@pytest.mark.parametrize("key", ["pools.trainer", "pools.serving", "pools.cubes", "gpuPools.l4s"])
def test_a_pool_with_its_former_name_keeps_its_node_pools(key: str) -> None:
    kind, _, name = key.partition(".")
    cluster = {**PLATFORM["clusters"]["central1"], "teams": {}}
    pool = cluster[kind].get(name) or {"generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"}
    described = copy.deepcopy({**PLATFORM, "teams": {}})
    pools = described["clusters"]["central1"][kind]
    pools[name] = pool
    before = parse_platform(described)
    pools["renamed"] = pools.pop(name)
    (advised,) = diff(before, parse_platform(described)).advice
    assert f"add `formerly: {name}` to renamed." in advised.steps
    pools["renamed"] = {**pool, "formerly": name}
    found = diff(before, parse_platform(described))
    assert [(change.kind, change.node_pools) for change in found.changes] == [("in-place", ())] * 2
    assert not found.advice
    pools["again"] = pools.pop("renamed")
    assert [change.kind for change in diff(before, parse_platform(described)).changes] == ["in-place"] * 2
    later = parse_platform(described)
    del pools["again"]
    pools[name] = {**pool, "diskSizeGb": 200}  # its first key again
    (first, *moves) = diff(later, parse_platform(described)).changes
    assert (dotted(first.path), {each.done for each in first.node_pools}) == (f"{ONE}.{key}.diskSizeGb", {"rolled"})
    assert [(change.kind, change.node_pools) for change in moves] == [("in-place", ())] * 2


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"nodeLabels": {"a": "b"}}, [("nodeLabels", "in-place", {})]),
        ({"diskSizeGb": 200}, [("diskSizeGb", "rolls-nodes", {"trainer-0": "rolled", "trainer-1": "rolled"})]),
        ({"topology": "4x8"}, [("topology", "replaces-pools", {"trainer-0": "replaced", "trainer-1": "replaced"})]),
        (
            {"topology": "2x2", "nodeLabels": {"a": "b"}},
            [
                ("topology", "replaces-pools", {"trainer-0": "deleted", "trainer-1": "deleted", "trainer": "created"}),
                ("nodeLabels", "in-place", {}),
            ],
        ),
        ({"slices": 1}, [("slices", "deletes-nodes", {"trainer-1": "deleted"})]),
        ({"slices": 3}, [("slices", "creates", {"trainer-2": "created"})]),
    ],
)
def test_a_renamed_pool_shows_its_other_changes_under_its_new_name(
    other: dict[str, Any], expected: list[tuple[str, str, dict[str, str]]]
) -> None:
    described = copy.deepcopy({**PLATFORM, "teams": {}})
    cluster = described["clusters"]["central1"]
    before = parse_platform(described)
    cluster["pools"]["renamed"] = {**cluster["pools"].pop("trainer"), **other, "formerly": "trainer"}
    found = diff(before, parse_platform(described))
    keys = [(dotted(change.path).removeprefix(f"{ONE}.pools."), change.kind, pools(change)) for change in found.changes]
    assert sorted(keys) == sorted(
        [
            ("renamed", "in-place", {}),
            ("trainer", "in-place", {}),
            *((f"renamed.{field}", kind, reached) for field, kind, reached in expected),
        ]
    )
    if expected[0][1] == "replaces-pools":
        (advised,) = found.advice
        assert "1. Keep trainer, add the new pool under another key, such as renamed, with" in advised.steps
        assert "3. Remove trainer with its quotas" in advised.steps


def test_a_pool_takes_the_key_of_another_one() -> None:
    """The node pools have the names that the former keys gave them, as the engine knows them."""

    def shown(**pools_: dict[str, Any]) -> tuple[list[tuple[str, str, dict[str, str]]], list[str]]:
        described = copy.deepcopy({**PLATFORM, "teams": {}})
        own = described["clusters"]["central1"]["pools"]
        trainer, serving = own["trainer"], own["serving"]
        before = parse_platform(described)
        del own["trainer"], own["serving"]
        own |= {
            key: {**(trainer if value.get("formerly") == "trainer" else serving), **value}
            for key, value in pools_.items()
        }
        found = diff(before, parse_platform(described))
        changes = [
            (dotted(change.path).removeprefix(f"{ONE}.pools."), change.kind, pools(change)) for change in found.changes
        ]
        return changes, [advised.steps for advised in found.advice]

    gone = ("serving", "deletes-nodes", {"serving": "deleted"})
    moves = [("serving", "in-place", {}), ("trainer", "in-place", {})]
    drain = "To let running work end first, run `tpuplane drain serving` before `pulumi up`."
    assert shown(serving={"formerly": "trainer"}) == ([gone, *moves], [drain])
    changes, steps = shown(serving={"formerly": "trainer", "topology": "4x8"})
    replaced = ("serving.topology", "replaces-pools", {"trainer-0": "replaced", "trainer-1": "replaced"})
    assert changes == [gone, replaced, *moves]
    assert steps[0] == drain
    assert "under another key, such as trainer-next" in steps[1]
    swapped, steps = shown(serving={"formerly": "trainer"}, trainer={"formerly": "serving"})
    assert (swapped, steps) == ([*moves[:1] * 2, *moves[1:] * 2], [])
    changes, _ = shown(serving={"formerly": "trainer", "topology": "4x8"}, trainer={"formerly": "another"})
    assert changes == [gone, replaced, ("trainer", "creates", {"another": "created"}), *moves]


def test_a_machine_family_that_is_in_fewer_zones_deletes_nodes() -> None:
    def described(machine: str) -> PlatformSpec:
        cluster = {"location": "asia-northeast1", "systemPool": {"machineType": machine}}
        return parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"tokyo": cluster}})

    (change,) = diff(described("e2-standard-4"), described("c2d-standard-4")).changes
    assert (change.kind, pools(change), change.node_pools[0].nodes) == ("deletes-nodes", {"system": "resized"}, 6)


def test_the_steps_that_lose_nothing() -> None:
    def steps(*settings: tuple[str, Any]) -> str:
        (advised,) = changed(*settings).advice
        assert dotted(advised.path).count(".") == 3
        return advised.steps

    first = steps((f"{TRAINER}.topology", "4x8"))
    assert "1. Keep trainer, add the new pool under another key, such as trainer-next" in first
    assert "2. Run `tpuplane drain trainer-0 trainer-1`. 3. Remove trainer" in first
    assert "There is no room for both" in steps((f"{ONE}.pools.nightly.topology", "8x8"))
    larger = {"generation": "v6e", "zone": "us-central1-b", "chips": 256}
    moved = [(f"{ONE}.pools.nightly.reservation.name", "next"), ("reservations.next", larger)]
    assert "1. Keep nightly" in steps(*moved)
    assert not changed((f"{TRAINER}.topology", "4x8"), (f"{ONE}.network.podsCidr", "10.128.0.0/14")).advice
    assert steps((f"{TRAINER}.slices", 1)).endswith("run `tpuplane drain trainer-1` before `pulumi up`.")
    assert not changed((f"{TRAINER}.slices", 3)).advice


def test_a_replaced_pool_has_the_steps_also_if_another_change_rolls_its_nodes() -> None:
    (alone,) = changed((f"{TRAINER}.maxPodsPerNode", 64)).advice
    (both,) = changed((f"{TRAINER}.maxPodsPerNode", 64), (f"{TRAINER}.diskSizeGb", 200)).advice
    assert "`tpuplane drain trainer-0 trainer-1`" in both.steps
    assert both == alone


def test_an_adopted_pool_keeps_its_node_pools_under_another_key() -> None:
    pool = {**PLATFORM["clusters"]["central1"]["pools"]["burst"], "adopted": {"names": ["a", "b"]}}
    before = changed((f"{ONE}.pools.burst", pool)).after.spec

    def kinds(**other: Any) -> list[str]:
        renamed = changed((f"{ONE}.pools.burst", None), (f"{ONE}.pools.spot", pool | other)).after.spec
        return [change.kind for change in diff(before, renamed).changes]

    assert kinds() == ["in-place", "in-place"]
    assert kinds(topology="4x8") == ["deletes-nodes", "creates"]
    partly = changed(
        (f"{ONE}.pools.burst", None), (f"{ONE}.pools.spot", PLATFORM["clusters"]["central1"]["pools"]["burst"])
    )
    assert [pools(change) for change in partly.changes] == [{"burst-1": "deleted"}, {"spot-1": "created"}]


def test_the_deletion_of_an_adopted_pool_is_rejected_while_its_cluster_is_protected() -> None:
    pool = PLATFORM["clusters"]["central1"]["pools"]["burst"]
    adopted = changed((f"{ONE}.pools.burst", pool | {"adopted": {"names": ["burst-0"]}})).after.spec
    for protected in (True, False):
        before = adopted.model_copy(
            update={
                "clusters": {
                    **adopted.clusters,
                    "central1": adopted.clusters["central1"].model_copy(update={"deletion_protection": protected}),
                }
            }
        )
        found = diff(before, changed((f"{ONE}.pools.burst", None), (f"{ONE}.deletionProtection", protected)).after.spec)
        (change,) = found.changes
        own = [rejection for rejection in found.rejected if "protects adopted node pools" in rejection.why]
        assert [rejection.path for rejection in own] == [change.path] * protected
        assert found.reaches("rejected") or not protected
        assert {node_pool.name: node_pool.protected for node_pool in change.node_pools} == {
            "burst-0": protected,
            "burst-1": False,
        }


def test_the_worst_change_is_the_first() -> None:
    found = changed((f"{TRAINER}.topology", "4x8"), (f"{ONE}.namespaces", ["tools"]), ("labels", {"a": "b"}))
    assert [change.kind for change in found.changes] == ["deletes-work", "replaces-pools", "in-place"]
    assert found.reaches("rolls-nodes")
    assert found.reaches("deletes-work")
    assert not found.reaches("replaces-cluster")


@pytest.mark.parametrize(("field", "value"), [("version", "1.36"), ("releaseChannel", "RAPID")])
def test_an_upgrade_recreates_the_nodes_of_every_pool(field: str, value: str) -> None:
    change = only((f"{ONE}.{field}", value))
    assert change.kind == "rolls-nodes"
    assert set(pools(change).values()) == {"rolled"}
    assert {"system", "trainer-0", "notebooks", "l4s"} <= pools(change).keys()


def of_company(path: str, value: object) -> list[tuple[str, str]]:
    """The class of each change of a value of the company, and what the diff says of it."""
    described = PLATFORMS["company"]
    changed = with_value(described, tuple(path.split(".")), value)
    return [(change.kind, change.why) for change in diff(parse_platform(described), parse_platform(changed)).changes]


def test_ram_disks_for_checkpoints_are_replaced_and_never_changed() -> None:
    own = "clusters.other.multiTierCheckpointing"
    assert of_company(f"{own}.pools.small.ramDiskGb", 33) == [
        ("deletes-work", "A change deletes the RAM disks with their checkpoints, and creates others.")
    ]
    assert of_company(f"{own}.pools.large", {"ramDiskGb": 8}) == [("creates", "A new name creates the RAM disk.")]
    assert of_company(f"{own}.pools.small", None) == [("deletes-work", "A removed name deletes the RAM disk.")]
    assert of_company(own, None) == [
        ("deletes-work", "Removing it deletes the RAM disks with their checkpoints. The add-on stays on.")
    ]


def test_another_name_of_their_bucket_replaces_ram_disks_too() -> None:
    said = "If RAM disks of `multiTierCheckpointing` use the bucket, another bucket name replaces them "
    said += "too, and deletes the bucket if tpuplane created it."
    assert of_company("storage.buckets.steps.name", "acme-steps") == [("deletes-work", said)]
    assert of_company("storage.buckets.steps", {"purpose": "checkpoints", "existing": "acme"})[0] == (
        "deletes-work",
        said,
    )
    assert of_company("storage.buckets.epochs.name", "acme-epochs") == [
        ("deletes", "A change deletes the bucket and creates another one.")
    ]


@pytest.mark.parametrize(
    ("kind", "name", "change", "can"),
    [
        ("lustre", "files", {"capacityGib": 54000}, None),
        ("lustre", "files", {"capacityGib": 18000}, "has 36000 GiB and can only grow, to 3060000 GiB at most"),
        ("lustre", "files", {"capacityGib": 3168000}, "has 36000 GiB and can only grow, to 3060000 GiB at most"),
        ("lustre", "files", {"capacityGib": 18000, "filesystem": "other"}, None),  # another instance
        ("filestore", "home", {"capacityGib": 2561}, None),
        ("filestore", "home", {"capacityGib": 1024}, "has 2560 GiB and can only grow, to 65433 GiB at most"),
        ("filestore", "notes", {"capacityGib": 1280}, None),
        ("filestore", "notes", {"capacityGib": 10240}, "has 1024 GiB and can change, to 10239 GiB at most"),
    ],
)
def test_an_instance_changes_its_capacity_within_its_range(
    kind: str, name: str, change: dict[str, Any], can: str | None
) -> None:
    described = copy.deepcopy(PLATFORMS["company"])
    before = parse_platform(described)
    described["storage"][kind][name] |= change
    found = [str(rejection) for rejection in diff(before, parse_platform(described)).rejected]
    remedy = "For another capacity, declare a second instance, copy the files, and remove this one."
    assert found == ([] if can is None else [f"Google rejects this: the instance {name} {can}. {remedy}"])


def test_a_pool_without_upgrades_keeps_its_nodes() -> None:
    described = copy.deepcopy(PLATFORMS["company"])
    described["clusters"]["other"]["pools"]["cubes"]["autoUpgrade"] = False
    described["clusters"]["other"]["gpuPools"]["racks"]["autoUpgrade"] = True
    before = parse_platform(described)
    described["clusters"]["other"]["version"] = "1.37"
    (change,) = diff(before, parse_platform(described)).changes
    assert change.kind == "rolls-nodes"
    assert pools(change) == {"system": "rolled", "racks": "rolled"}


def test_what_only_describes_an_existing_cluster_changes_nothing() -> None:
    described = copy.deepcopy(PLATFORMS["company"])
    before = parse_platform(described)
    described["clusters"]["guest"] |= {"version": "1.36", "releaseChannel": "RAPID"}
    assert {change.kind for change in diff(before, parse_platform(described)).changes} == {"nothing"}


@pytest.mark.parametrize(("kueue", "kind"), [({}, "in-place"), ({"integrations": ["batch/job"]}, "nothing")])
def test_rays_mode_of_an_existing_cluster_is_known_to_kueue(kueue: dict[str, Any], kind: str) -> None:
    described = copy.deepcopy(PLATFORMS["company"])
    described["clusters"]["guest"]["addons"] = {"kueue": kueue}
    before = parse_platform(described)
    described["clusters"]["guest"]["addons"]["ray"] = {"mode": "none"}
    assert [change.kind for change in diff(before, parse_platform(described)).changes] == [kind]


@pytest.mark.parametrize(
    ("path", "value", "nodes", "of_nodes", "chips", "chosen"),
    [
        (f"{ONE}.pools.notebooks.slices", 1, 1, 2, 4, True),
        (f"{ONE}.gpuPools.l4s.nodes", 1, 2, 4, 0, True),  # one of two in each of two zones
        (f"{ONE}.gpuPools.l4s.zones", ["us-central1-a"], 2, 4, 0, False),
    ],
)
def test_a_resized_pool_counts_the_nodes_that_are_deleted(
    path: str, value: Any, nodes: int, of_nodes: int, chips: int, chosen: bool
) -> None:
    (pool,) = only((path, value)).node_pools
    assert (pool.done, pool.nodes, pool.of_nodes, pool.chips, pool.chosen) == (
        "resized",
        nodes,
        of_nodes,
        chips,
        chosen,
    )


def test_a_multi_host_slice_is_recreated_at_once() -> None:
    assert {node_pool.at_a_time for node_pool in only((f"{TRAINER}.diskSizeGb", 200)).node_pools} == {4}
    assert {node_pool.at_a_time for node_pool in only((f"{ONE}.pools.notebooks.diskSizeGb", 200)).node_pools} == {1}


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        (
            [(f"{ONE}.namespaces", ["tools", "docs", "more"]), ("teams.research", None)],
            {f"{ONE}.namespaces": "creates", "teams.research": "deletes-work"},
        ),
        (
            [(f"{ONE}.namespaces", ["tools"]), ("teams.added", {"clusters": {"central1": {}}})],
            {f"{ONE}.namespaces": "deletes-work", "teams.added": "creates"},
        ),
        # The namespace remains, as one of the team.
        (
            [(f"{ONE}.namespaces", ["docs"]), ("teams.tools", {"clusters": {"central1": {}}})],
            {f"{ONE}.namespaces": "in-place", "teams.tools": "creates"},
        ),
        (
            [(f"{ONE}.namespaces", ["tools", "docs", "papers"]), ("teams.research.namespaces", ["research", "more"])],
            {f"{ONE}.namespaces": "in-place", "teams.research.namespaces": "in-place"},
        ),
    ],
)
def test_namespaces_and_a_team_in_one_edit(settings: list[tuple[str, Any]], kinds: dict[str, str]) -> None:
    assert {dotted(change.path): change.kind for change in changed(*settings).changes} == kinds


@pytest.mark.parametrize(
    ("one", "other", "kind", "why"),
    [
        (["worker"], ["worker", "spare"], "in-place", "A new worker or another order of the workers is set in place."),
        (
            ["worker", "spare"],
            ["spare", "worker"],
            "in-place",
            "A new worker or another order of the workers is set in place.",
        ),
        (["worker", "spare"], ["worker"], "deletes-work", "Removing a worker ends the manager's access to it."),
        (["worker"], ["spare"], "deletes-work", "Removing a worker ends the manager's access to it."),
    ],
)
def test_jobs_in_a_removed_worker_are_no_longer_the_managers(
    one: list[str], other: list[str], kind: str, why: str
) -> None:
    before, after = (
        parse_platform(with_value(PLATFORMS["company"], ("queues", "multiKueue", "workers"), workers))
        for workers in (one, other)
    )
    (change,) = diff(before, after).changes
    assert change.kind == kind
    assert change.why.startswith(why)


def test_monitoring_and_observability_come_and_go_without_work() -> None:
    bare = changed((f"{ONE}.addons.monitoring", None), ("observability", None)).after.spec
    plain = changed((f"{ONE}.addons.monitoring", {})).after.spec
    assert {change.kind for change in diff(bare, plain).changes} == {"creates"}
    assert {change.kind for change in diff(plain, bare).changes} == {"deletes"}


def test_the_driver_of_disks_takes_their_storage_classes_with_it() -> None:
    driver = f"{ONE}.storage.persistentDisk"
    disks = ("storage.disks", {"cache": {"type": "hyperdisk-balanced", "sizeGib": 100}})
    assert only((driver, False)).kind == "in-place"  # the platform declares no disks
    ranges = {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.4.0.0/14", "servicesCidr": "10.0.32.0/20"}
    other = ("clusters.other", {"location": "us-central1", "network": ranges})  # with the driver
    on, off = changed(disks, other).after.spec, changed(disks, other, (driver, False)).after.spec
    assert [change.kind for change in diff(on, off).changes] == ["deletes"]
    assert [change.kind for change in diff(off, on).changes] == ["creates"]


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (f"{ONE}.pools.serving", None, "A removed name deletes the pool."),
        (f"{ONE}.pools.added", {"generation": "v6e", "topology": "2x2"}, "A new name creates the pool."),
        (f"{ONE}.gpuPools.l4s.machineType", "g2-standard-24", "Another GPU model or number replaces the pool."),
        (f"{ONE}.gpuPools.l4s.machineType", "g2-standard-16", "A change rolls the nodes."),
        (f"{TRAINER}.slices", 3, "A higher number adds slices after the existing ones."),
        (f"{TRAINER}.slices", 1, "A lower number deletes slices."),
        (f"{TRAINER}.machineType", "ct6e-standard-4t", "The planned value stays the same."),
        ("quotas.us-central1", None, "A change affects only the checks."),
        (
            "teams.research",
            None,
            "A removed name deletes the team's namespaces and queues with their work. A namespace that the file lists "
            "elsewhere keeps its work.",
        ),
        (f"{ONE}.security.secretsEncryption", {}, "Added in place. GKE encrypts all Secrets with the key."),
    ],
)
def test_only_the_clause_that_applies_is_shown(path: str, value: Any, why: str) -> None:
    assert only((path, value)).why == why


def test_a_class_that_reserves_an_existing_pool_says_so() -> None:
    fast = {"clusters": ["central1"], "priorities": [{"nodepools": ["serving"]}]}
    said = " Outside of queues, pods that do not select the class no longer start on serving."
    new = only(("classes.fast", fast))
    assert (new.kind, new.why) == ("in-place", f"Added in place.{said}")
    more = only(("classes.batch.priorities", [{"nodepools": ["notebooks"]}, {"nodepools": ["serving"]}]))
    assert more.why == f"Changed in place, for new nodes.{said}"
    own = only((f"{ONE}.pools.serving.computeClass", "processors"))
    assert (own.kind, own.why) == ("in-place", f"Changed in place.{said}")
    elsewhere = {**fast, "clusters": []}
    added = diff(changed(("classes.fast", elsewhere)).after.spec, changed(("classes.fast", fast)).after.spec)
    assert [(change.kind, change.why) for change in added.changes] == [("in-place", f"Changed in place.{said}")]


def test_a_cluster_without_a_channel_waits_for_no_newer_version() -> None:
    within = copy.deepcopy(PLATFORMS["company"])
    within["clusters"]["desk"]["releaseChannel"] = "STABLE"
    one, other = parse_platform(PLATFORMS["company"]), parse_platform(within)
    joins, leaves = (diff(*pair).changes[0] for pair in ((one, other), (other, one)))
    assert (leaves.kind, leaves.why) == ("in-place", "With UNSPECIFIED, the cluster keeps its version.")
    assert joins.kind == "rolls-nodes"
    assert joins.why.startswith("A cluster that joins a channel is upgraded, and GKE recreates its nodes")


def test_the_deletion_of_a_protected_repository_is_rejected() -> None:
    images = PLATFORM["images"]
    for protected in (True, False):
        mirror = {**images["mirror"], "deletionProtection": protected}
        before = changed(("images.mirror", mirror), ("labels", {})).after.spec
        found = diff(before, changed(("images.mirror", None)).after.spec)
        said = [str(rejection) for rejection in found.rejected if rejection.path[0] == "images"]
        assert ("First set images.mirror.deletionProtection: false" in "".join(said)) == protected


def of_data(protected: bool, path: str, value: Any) -> Diff:
    """A change to the storage of a platform whose data are protected or not."""
    before, after = copy.deepcopy(PLATFORMS["company"]), copy.deepcopy(PLATFORMS["company"])
    _, group, key, *field = path.split(".")
    for described in (before, after):
        described["storage"][group][key]["deletionProtection"] = protected
    if field:
        after["storage"][group][key][field[0]] = value
    else:
        del after["storage"][group][key]
    return diff(parse_platform(before), parse_platform(after))


@pytest.mark.parametrize("protected", [True, False])
@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("storage.buckets.data", None, "objects of the bucket data"),
        ("storage.buckets.models.name", "other-models", "objects of the bucket models"),
        ("storage.buckets.steps.name", "other-steps", "objects of the bucket steps"),
        ("storage.lustre.cold", None, "files of the instance cold"),
        ("storage.lustre.files.filesystem", "other", "files of the instance files"),
        ("storage.filestore.home.share", "files", "files of the instance home"),
    ],
)
def test_a_change_that_deletes_protected_data_is_rejected(path: str, value: Any, what: str, protected: bool) -> None:
    said = " ".join(map(str, of_data(protected, path, value).rejected))
    first = f"First set {'.'.join(path.split('.')[:3])}.deletionProtection: false"
    assert (f"protects the {what}. {first}" in said) == protected


def test_readers_and_writers_open_and_close_data() -> None:
    path = "storage.buckets.data.readers"
    more = of_data(False, path, ["product", "research"])
    assert ([dotted(mark.path) for mark in more.opens], list(more.closes)) == ([path], [])
    for path in ("storage.lustre.files.readers", "storage.filestore.home.readers"):
        fewer = of_data(False, path, [])
        assert ([dotted(mark.path) for mark in fewer.closes], list(fewer.opens)) == ([path], [])
