"""The objects of a cluster of the twin, as its API server had them, with changes.

`tests/e2e/local_stack/test_recorded_status.py` writes the recording; its first line has the versions of the programs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from tpuplane.status.asking import EVENTS, Ask, read
from tpuplane.status.finding import find
from tpuplane.status.google import Project
from tpuplane.status.job import explain
from tpuplane.status.objects import Event
from tpuplane.status.pool_states import with_states
from tpuplane.status.snapshot import Objects

from tests.support import TESTS

RECORDED: dict[str, Any] = json.loads((TESTS / "unit/status/recorded/central1.json").read_text())
Lists = dict[str, list[Any]]
NODES, PODS, EVENT_LIST = "/api/v1/nodes", "/api/v1/pods", "/api/v1/events"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2/"
QUEUES, LOCAL_QUEUES, WORKLOADS, FLAVORS = (
    KUEUE + name for name in ("clusterqueues", "localqueues", "workloads", "resourceflavors")
)
JOBSETS, BATCH = "/apis/jobset.x-k8s.io/v1alpha2/jobsets", "/apis/batch/v1/jobs"


class _Discovery(Ask):
    """An `Ask` of the recorded groups."""

    def __call__(self, path: str, shape: Any, **_: str) -> Any:
        return shape.model_validate({"groups": RECORDED["groups"]})


ASK = _Discovery(None)


def lists() -> Lists:
    """The recorded objects by path, for changes."""
    return deepcopy(RECORDED["lists"])


def objects(answers: Lists | None = None) -> Objects:
    """The objects as the commands read them."""
    answers = RECORDED["lists"] if answers is None else answers
    every: dict[str, list[Any]] = {}
    for name, (path, _) in (ASK.sources() | ASK.details()).items():
        every[name] = [read(name, raw) for raw in answers[path]]
    events = [warning for warning in every["warnings"] if isinstance(warning, Event)]
    every |= {name: [] for name in EVENTS} | {"warnings": [event for event in events if event.type == "Warning"]}
    return Objects.of("lab", "https://10.0.0.1", every)


def why(
    job: str, kind: str | None = None, answers: Lists | None = None, pools: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """The explanation of a job, NAMESPACE/NAME. `pools` are node pools of the cluster in Google's API."""
    answers = RECORDED["lists"] if answers is None else answers
    namespace, _, name = job.partition("/")

    def named(kind: str, path: str, name: str | None, namespace: str | None) -> list[Any]:
        same = (found_object for found_object in answers.get(path, ()) if found_object["metadata"]["name"] == name)
        return [
            read(kind, found_object)
            for found_object in same
            if namespace in (None, found_object["metadata"]["namespace"])
        ]

    all_of_it = objects(answers)
    status = all_of_it.described()
    if pools:
        cluster = {"name": "central1", "location": "us-central1", "nodePools": pools}
        status["nodePools"] = with_states(status["nodePools"], cluster, Project("lab", (cluster,)), None)
        status["gke"] = cluster
    return explain(all_of_it, status, find(ASK.kinds(), named, name, namespace, kind))


def item(answers: Lists, path: str, name: str) -> Any:
    """An object by the beginning of its name."""
    return next(found_object for found_object in answers[path] if found_object["metadata"]["name"].startswith(name))


def changed(path: str, name: str, change: Callable[[Any], Any]) -> Lists:
    """The recorded lists with a change of the objects whose names begin so."""
    answers = lists()
    for found_object in answers[path]:
        if found_object["metadata"]["name"].startswith(name):
            change(found_object)
    return answers


def on(name: str) -> list[str]:
    """The nodes of the pods whose names begin so."""
    return sorted(pod["spec"]["nodeName"] for pod in lists()[PODS] if pod["metadata"]["name"].startswith(name))
