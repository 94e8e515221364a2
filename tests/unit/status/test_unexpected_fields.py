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
from tpuplane.status.objects import Item, Unreadable
from tpuplane.status.snapshot import Objects
from tpuplane.status.watching import State
from tpuplane.ui.view import view
from typer.testing import CliRunner

from tests.support.status.api_server import kubeconfig, serving
from tests.support.status.recording import (
    BATCH,
    EVENT_LIST,
    FLAVORS,
    JOBSETS,
    KUEUE,
    NODES,
    PODS,
    QUEUES,
    WORKLOADS,
    item,
    lists,
    on,
)

pytestmark = pytest.mark.unit


LISTS = lists()


def recorded(path: str, *names: str) -> list[Any]:
    return [item(LISTS, path, name_) for name_ in names]


CRASHED = {"name": "train", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
EVERY: dict[str, list[dict[str, Any]]] = {
    "nodes": recorded(NODES, on("holds-slice")[0]),
    "pods": [
        *recorded(PODS, "combo", "disk-0"),
        {**recorded(PODS, "holds-slice")[0], "status": {"containerStatuses": [CRASHED]}},
    ],
    "Job": recorded(BATCH, "combo", "holds", "rooted"),
    "JobSet": recorded(JOBSETS, "giant"),
    "StatefulSet": recorded("/apis/apps/v1/statefulsets", "disk"),
    "queues": LISTS[QUEUES],
    "local_queues": LISTS[KUEUE + "localqueues"],
    "flavors": recorded(FLAVORS, "v6e-4x4"),
    "cohorts": LISTS[KUEUE + "cohorts"],
    "workloads": recorded(WORKLOADS, "jobset-giant", "jobset-holds"),
    "warnings": recorded(EVENT_LIST, "combo", "rooted"),
    "claims": LISTS["/api/v1/persistentvolumeclaims"],
    "storageClasses": recorded("/apis/storage.k8s.io/v1/storageclasses", "standard-rwo"),
    "drivers": LISTS["/apis/storage.k8s.io/v1/csidrivers"],
    "priorityClasses": recorded("/apis/scheduling.k8s.io/v1/priorityclasses", "system-node-critical"),
    "computeClasses": LISTS["/apis/cloud.google.com/v1/computeclasses"],
}
Place = tuple[str, int, tuple[str | int, ...]]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in below:
        yield (*path, key)
        yield from places(inside, (*path, key))


PLACES: list[Place] = [
    (name, at, path) for name, contents in EVERY.items() for at, raw in enumerate(contents) for path in places(raw)
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
    objects = Objects.of(
        "lab", "https://10.0.0.1", {name: [read(name, raw) for raw in listed] for name, listed in lists.items()}
    )
    status = objects.described()
    print_clusters([status])
    json.dumps([status, view(State("lab", objects, ""), status)])
    for kind in ("JobSet", "Job", "StatefulSet"):
        for job in objects.jobs.get(kind, ()):
            found = explain(objects, status, Found(kind, job))
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
    with serving({path: [*those, *bad.get(path, ())] for path, those in LISTS.items()}, page_size=50) as server:
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
