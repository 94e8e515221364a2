"""Objects with missing, null and unexpected fields are read, or left out by name: no command ends with a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tpuplane.cli import app
from tpuplane.cli.status_table import print_clusters
from tpuplane.status.asking import read
from tpuplane.status.finding import Found
from tpuplane.status.job import explain
from tpuplane.status.job_text import rows, title
from tpuplane.status.objects import Item, Job, Unreadable
from tpuplane.status.reading import Objects
from tpuplane.status.watching import State
from tpuplane.ui.view import view
from typer.testing import CliRunner

from tests.unit.status.api_server import kubeconfig, serving
from tests.unit.status.test_placing import FAILED, event
from tests.unit.status.test_placing import pod as unplaced
from tests.unit.status.test_pool_status import HOSTS
from tests.unit.status.test_queue_status import LOCAL_QUEUE, QUEUE, WORDS, workload
from tests.unit.status.test_status_command import LISTS
from tests.unit.status.test_why import pod

pytestmark = pytest.mark.unit


def checked() -> dict[str, Any]:
    """A workload with quota, an admission check and an eviction."""
    found = workload("checked", "research", QuotaReserved=("True", ""), Evicted=("True", "by a test"))
    found["metadata"]["annotations"] = {"kueue.x-k8s.io/is-group-workload": "true"}
    found["spec"]["priorityClassRef"] = {"name": "high"}
    assigned = [{"name": "main", "count": 1, "flavors": {"google.com/tpu": "v6e-4x4"}}]
    found["status"] |= {
        "admissionChecks": [{"name": "provisioning", "state": "Pending", "message": "no capacity"}],
        "admission": {"podSetAssignments": assigned},
        "nominatedClusterNames": ["a"],
        "clusterName": "",
    }
    return found


CRASHED = {"name": "train", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
EVERY: dict[str, list[dict[str, Any]]] = {
    "nodes": HOSTS[:2],
    "pods": [
        unplaced("p0", gates=("kueue.x-k8s.io/topology",)),
        pod("p1", "crashes", containerStatuses=[{**CRASHED, "lastState": {"terminated": {"exitCode": 1}}}]),
    ],
    "Job": [{"metadata": {"name": "typo", "namespace": "research", "labels": {"kueue.x-k8s.io/queue-name": "a"}}}],
    "queues": [QUEUE],
    "local_queues": [LOCAL_QUEUE],
    "flavors": [{"metadata": {"name": "v6e-4x4"}, "spec": {"nodeLabels": {"a": "b"}, "topologyName": "slices"}}],
    "workloads": [checked(), workload("waits", "research", QuotaReserved=("False", WORDS[0]["kueue"]))],
    "warnings": [FAILED, event("crashes", "FailedCreate", "forbidden", kind="Job")],
}
Place = tuple[str, int, tuple[str | int, ...]]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in below:
        yield (*path, key)
        yield from places(inside, (*path, key))


PLACES: list[Place] = [
    (name, at, path) for name, of in EVERY.items() for at, it in enumerate(of) for path in places(it)
]
ODD = [None, {}, [], "", "odd", 7, -1.5, True, [None], {"odd": None}, [[]], {"odd": {}}]


def changed(place: Place, value: Any) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = json.loads(json.dumps(EVERY))  # no part is shared
    name, at, path = place
    within = lists[name][at]
    for key in path[:-1]:
        within = within[key]
    if value == "dropped":
        del within[path[-1]]
    else:
        within[path[-1]] = value
    return lists


def shown(lists: dict[str, list[Any]]) -> dict[str, Any]:
    """What all commands and the page make of the objects."""
    objects = Objects.of("lab", "https://10.0.0.1", {name: [read(name, it) for it in of] for name, of in lists.items()})
    status = objects.described()
    print_clusters([status])
    json.dumps([status, view(State("lab", objects, ""), status)])
    for kind, name in (("JobSet", "waits"), ("JobSet", "crashes"), ("Pod", "p0"), ("Job", "typo")):
        found = explain(objects, status, Found(kind, Job.model_construct(namespace="research", name=name)))
        json.dumps([found, title(found), *rows(found)])
    return status


@settings(max_examples=400, deadline=None)
@given(place=st.sampled_from(PLACES), value=st.sampled_from([*ODD, "dropped"]))
def test_any_field_may_be_missing_null_or_of_another_type(place: Place, value: Any) -> None:
    lists = changed(place, value)
    status = shown(lists)
    name, at, _ = place
    item = read(name, lists[name][at])
    assert isinstance(item, Item) or status["problems"] == [str(item)]


def test_objects_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    bad = {
        "/api/v1/nodes": [
            {"metadata": {"name": name}, "status": {"capacity": {"google.com/tpu": "four"}}} for name in ("odd", "too")
        ],
        "/api/v1/pods": [{"metadata": {"name": "null", "namespace": "research"}, "spec": {"containers": None}}],
    }
    with serving({path: [*those, *bad.get(path, ())] for path, those in LISTS.items()}) as server:
        file = str(kubeconfig(tmp_path, server.server_port))
        result = CliRunner().invoke(app, ["status", "--kubeconfig", file])
    assert result.exit_code == 0
    assert (
        "problem: Node odd cannot be read: status.capacity.google.com/tpu: "
        "Value error, 'four' is not a quantity (and 1 more)" in result.stdout
    )
    assert "trainer-0" in result.stdout
    assert "research/null" in result.stdout


def test_an_unreadable_job_is_named() -> None:
    found = read("JobSet", {"metadata": {"name": "odd", "namespace": "a"}, "spec": {"suspend": "maybe"}})
    assert isinstance(found, Unreadable)
    assert str(found).startswith("JobSet a/odd cannot be read: spec.suspend: ")
