"""The rules of the two slice controllers, which the twin emulates."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.labels import BLOCK_LABEL, DYNAMIC_SLICE_LABEL, TOPOLOGY_LABEL, partition_label, partition_state_label
from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.slice_jobs import mutate
from tpuplane_twin.slices.admission import CONTROLLER, failure_condition, step
from tpuplane_twin.slices.formation import RETRY, SHAPES, Host, Slice, following, labels, level, next_times
from tpuplane_twin.slices.formation import states as partition_states

pytestmark = pytest.mark.unit

TIMES = Times(speed=1)
SIZES = dict(zip(SHAPES, (16, 8, 4, 2, 1), strict=True))


def cube(name: str, block: str = "one", bad: tuple[int, ...] = (), links: str = "") -> list[Host]:
    return [
        Host(
            f"{name}-{number}",
            {BLOCK_LABEL: block}
            | {partition_label(shape): f"{name}-{number // size}" for shape, size in SIZES.items()},
            number not in bad,
            links,
        )
        for number in range(16)
    ]


def made(state: str, topology: str = "4x4x4", *ids: str, name: str = "s", aged: float = 0, **more: Any) -> Slice:
    condition = {"reason": state, "message": "why"} if state else {}
    return Slice(
        name,
        topology,
        list(ids or ["a-0"]),
        more.pop("annotations", {}),
        more.pop("deleted", False),
        condition,
        aged,
        **more,
    )


RETRIES = {RETRY: "true"}


@pytest.mark.parametrize(
    ("found", "others", "hosts", "state"),
    [
        (made(""), [], cube("a"), "SliceNotCreated"),
        (made("SliceNotCreated"), [], cube("a"), "ACTIVATING"),
        (made("SliceNotCreated"), [], cube("a")[1:], "SliceCreationFailed"),
        (made("SliceNotCreated"), [], cube("a", bad=(3,)), "SliceCreationFailed"),
        (made("SliceNotCreated"), [made("ACTIVE", "2x2x2", "a-3", name="other")], cube("a"), "SliceCreationFailed"),
        (made("SliceNotCreated", "2x2x2", "a-2"), [made("ACTIVE", "2x2x2", "a-3", name="o")], cube("a"), "ACTIVATING"),
        (made("SliceCreationFailed"), [], cube("a"), None),
        (made("SliceCreationFailed", annotations=RETRIES), [], cube("a"), "ACTIVATING"),
        (made("SliceNotCreated", "4x4x8", "a-0", "b-0"), [], [*cube("a"), *cube("b", "two")], "FAILED"),
        (made("ACTIVATING", aged=59), [], cube("a"), None),
        (made("ACTIVATING", aged=60), [], cube("a"), "ACTIVE"),
        (made("ACTIVATING", aged=60), [], cube("a")[1:], None),
        (made("ACTIVATING", aged=600), [], [], "FAILED"),
        (made("ACTIVATING", aged=60), [], cube("a", links="degraded"), "ACTIVE_DEGRADED"),
        (made("ACTIVATING", aged=599), [], cube("a", links="stuck"), None),
        (made("ACTIVATING", aged=600), [], cube("a", links="stuck"), "FAILED"),
        (made("ACTIVE"), [], cube("a", bad=(3,)), "FAILED"),
        (made("ACTIVE"), [], cube("a")[1:], "FAILED"),
        (made("ACTIVE", deleted=True), [], cube("a"), "DEACTIVATING"),
        (made("DEACTIVATING", deleted=True, aged=29), [], cube("a"), None),
        (made("DEACTIVATING", deleted=True, aged=30), [], cube("a"), "INCOMPLETE"),
        (made("DEACTIVATING", deleted=True, aged=9999), [], cube("a", links="stuck"), None),
        (made("FAILED"), [], cube("a"), None),
    ],
)
def test_states_of_a_slice(found: Slice, others: list[Slice], hosts: list[Host], state: str | None) -> None:
    answer = following(found, [found, *others], hosts, TIMES)
    assert (answer[0] if answer else None) == state


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (made("SliceNotCreated"), [360]),
        (made("ACTIVATING", aged=20, unready=30), [330, 40, 580]),
        (made("ACTIVATING", aged=100, unready=360), [500]),
        (made("DEACTIVATING", aged=10, deleted=True), [20]),
        (made("ACTIVE", aged=10), []),
        (made("FAILED", unready=400), []),
    ],
)
def test_the_clock_knows_when_a_slice_changes_next(found: Slice, left: list[float]) -> None:
    assert list(next_times(found, TIMES)) == left


def test_a_bad_host_spoils_its_partitions_alone() -> None:
    found = partition_states(cube("a", bad=(5,)))
    bad = {key for key, state in found.items() if state == "UNHEALTHY"}
    assert bad == {(partition_label(shape), f"a-{5 // size}") for shape, size in SIZES.items()}
    missing = partition_states(cube("a")[:-1])
    assert [state for state in missing.values() if state == "INCOMPLETE"] == ["INCOMPLETE"] * 4
    assert len(missing) == 1 + 2 + 4 + 8 + 15


def test_hosts_name_their_slice_while_it_is_active() -> None:
    hosts = cube("a", links="degraded")
    own = labels(hosts, [made("ACTIVE", "2x2x2", "a-3"), made("ACTIVATING", "2x2x2", "a-4", name="later")])
    assert {name for name, values in own.items() if values[DYNAMIC_SLICE_LABEL] == "s"} == {"a-6", "a-7"}
    assert {values[TOPOLOGY_LABEL] for values in own.values()} == {"2x2x2", None}
    assert {values[partition_state_label("4x4x4")] for values in own.values()} == {"DEGRADED"}
    assert {values[partition_state_label("2x4x4")] for values in own.values()} == {"HEALTHY"}


def workload(topology: str, hosts: list[str], state: str = "Pending", replicas: int = 1, **more: Any) -> dict[str, Any]:
    template = {
        "metadata": {"annotations": {"cloud.google.com/gke-tpu-slice-topology": topology}},
        "spec": {"nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu7x"}},
    }
    values = [{"individual": {"prefix": "", "roots": hosts}}]
    placed = {"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": len(hosts), "valuesPerLevel": values}]}
    status = {
        "conditions": [{"type": "QuotaReserved", "status": "True"}],
        "admission": {"podSetAssignments": [{"name": "job", "topologyAssignment": placed}]},
        "admissionChecks": [{"name": "check", "state": state, "message": ""}],
    }
    pod_sets = [{"name": "job", "template": template, "topologyRequest": {"subGroupCount": replicas}}]
    metadata = {"name": more.pop("name", "w"), "namespace": "ns", "finalizers": [CONTROLLER]}
    return {"metadata": metadata, "spec": {"podSets": pod_sets}, "status": {**status, **more}}


def test_a_jobset_has_a_slice_for_each_replica() -> None:
    found = step(
        workload("2x2x2", ["a-0", "a-1", "a-6", "a-7"], replicas=2), ["check"], [], cube("a"), TIMES, ended=False
    )
    assert [(item["metadata"]["name"], item["spec"]["partitionIds"]) for item in found.create] == [
        ("ns-w-job-0", ["a-0"]),
        ("ns-w-job-1", ["a-3"]),
    ]
    assert found.check == {"name": "check", "state": "Pending", "message": "Slices are in states: 2 CREATED"}


def test_names_have_at_most_49_characters() -> None:
    long = workload("2x2x2", ["a-0", "a-1"], name="w" * 60)
    (item,) = step(long, ["check"], [], cube("a"), TIMES, ended=False).create
    assert len(item["metadata"]["name"]) == 49


@pytest.mark.parametrize(
    ("state", "own", "answer"),
    [
        ("Pending", made("ACTIVE", "2x2x2", "a-0", name="ns-w-job-0"), "Ready"),
        ("Pending", made("ACTIVE_DEGRADED", "2x2x2", "a-0", name="ns-w-job-0"), "Ready"),
        ("Pending", made("ACTIVATING", "2x2x2", "a-0", name="ns-w-job-0", unready=359), "Pending"),
        ("Pending", made("ACTIVATING", "2x2x2", "a-0", name="ns-w-job-0", unready=360), "Retry"),
        ("Pending", made("SliceCreationFailed", "2x2x2", "a-0", name="ns-w-job-0"), "Retry"),
        ("Pending", made("SliceCreationFailed", "2x2x2", "a-0", name="ns-w-job-0", annotations=RETRIES), "Pending"),
        ("Ready", made("FAILED", "2x2x2", "a-0", name="ns-w-job-0"), "Retry"),
        ("Ready", made("ACTIVE", "2x2x2", "a-0", name="ns-w-job-0", deleted=True), "Retry"),
    ],
)
def test_answers_of_the_check(state: str, own: Slice, answer: str) -> None:
    found = step(workload("2x2x2", ["a-0", "a-1"], state), ["check"], [own], cube("a"), TIMES, ended=False)
    assert found.check is not None
    assert found.check["state"] == answer
    assert found.create == []
    assert bool(found.failure) == (answer == "Retry")


@pytest.mark.parametrize(
    ("own", "message", "reason"),
    [
        (made("FAILED", "2x2x2", "a-0", name="ns-w-job-0"), "1 FAILED. Errors: ns-w-job-0: why", "RuntimeFailure"),
        (
            made("ACTIVATING", "2x2x2", "a-0", name="ns-w-job-0", unready=360),
            "1 STALE. Errors: ns-w-job-0: why (stale)",
            "FormationTimeout",
        ),
    ],
)
def test_a_failure_is_a_condition_until_the_next_try(own: Slice, message: str, reason: str) -> None:
    tried = workload("2x2x2", ["a-0", "a-1"])
    found = step(tried, ["check"], [own], cube("a"), TIMES, ended=False)
    assert found.check is not None
    assert found.check["message"] == f"Slices are in states: {message}"
    condition = failure_condition(tried, found)
    assert condition == {
        "type": "TPUSliceFailure",
        "status": "True",
        "reason": reason,
        "message": found.check["message"],
    }
    tried["status"]["conditions"].append(condition)
    again = step(tried, ["check"], [], cube("a"), TIMES, ended=False)
    later = failure_condition(tried, again)
    assert later is not None
    assert (later["status"], later["message"]) == ("False", f"Previously: {condition['message']}")


@pytest.mark.parametrize(("kind", "names"), [("LeaderWorkerSet", ["worker"]), ("JobSet", ["leader", "worker"])])
def test_the_leader_of_a_group_is_on_the_slice_of_its_workers(kind: str, names: list[str]) -> None:
    group = workload("2x2x2", ["a-0"])
    (own,), (placed,) = group["spec"]["podSets"], group["status"]["admission"]["podSetAssignments"]
    group["spec"]["podSets"] = [{**own, "name": "leader"}, {**own, "name": "worker"}]
    group["status"]["admission"]["podSetAssignments"] = [{**placed, "name": "leader"}, {**placed, "name": "worker"}]
    group["metadata"]["ownerReferences"] = [{"kind": kind, "name": "w"}]
    found = step(group, ["check"], [], cube("a"), TIMES, ended=False)
    assert [item["metadata"]["name"] for item in found.create] == [f"ns-w-{name}-0" for name in names]


def test_slices_end_after_the_pods() -> None:
    evicted = workload("2x2x2", ["a-0"], conditions=[{"type": "Evicted", "status": "True"}])
    own = [made("ACTIVE", "2x2x2", "a-0", name="ns-w-job-0")]
    assert step(evicted, ["check"], own, cube("a"), TIMES, ended=False).delete == []
    assert step(evicted, ["check"], own, cube("a"), TIMES, ended=True).delete == ["ns-w-job-0"]
    assert step(evicted, ["check"], [], cube("a"), TIMES, ended=True).finalizer is False


def test_a_slice_that_kueue_moved_is_deleted() -> None:
    own = [made("ACTIVATING", "2x2x2", "a-5", name="ns-w-job-0")]
    found = step(workload("2x2x2", ["a-0", "a-1"]), ["check"], own, cube("a"), TIMES, ended=False)
    assert found.delete == ["ns-w-job-0"]
    assert level("4x4x8") == "4x4x4"


POD = {
    "metadata": {"annotations": {"cloud.google.com/gke-tpu-slice-topology": "4x4x4"}},
    "spec": {"nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu7x"}, "containers": []},
}
QUEUED = {"name": "serve", "labels": {"kueue.x-k8s.io/queue-name": "research"}}


def group(leader: dict[str, Any] | None, size: int = 2) -> dict[str, Any]:
    template = {"workerTemplate": POD, "size": size} | ({"leaderTemplate": leader} if leader else {})
    return {"kind": "LeaderWorkerSet", "metadata": QUEUED, "spec": {"leaderWorkerTemplate": template}}


def test_leader_and_workers_are_in_one_partition() -> None:
    changed = mutate(group(POD))["spec"]["leaderWorkerTemplate"]
    for key in ("leaderTemplate", "workerTemplate"):
        annotations = changed[key]["metadata"]["annotations"]
        assert annotations["kueue.x-k8s.io/podset-required-topology"] == partition_label("4x4x4")
        assert annotations["kueue.x-k8s.io/podset-group-name"] == "lws-super-slice-group"
        assert changed[key]["spec"]["affinity"]
    (alone,) = [mutate(group(None))["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"]]
    assert "kueue.x-k8s.io/podset-group-name" not in alone


@pytest.mark.parametrize(
    "item",
    [
        group({"metadata": {}, "spec": {"containers": []}}, size=17),
        {"kind": "Job", "metadata": {"name": "alone"}, "spec": {"template": POD, "parallelism": 8}},
    ],
    ids=["a leader without chips", "a job without a queue"],
)
def test_other_jobs_are_not_changed(item: dict[str, Any]) -> None:
    assert mutate(copy.deepcopy(item)) == item
