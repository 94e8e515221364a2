"""What simulated nodes and pods do by themselves: kwok's own stages, with the changes that the twin needs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from tpuplane.data_files import read_data

from tpuplane_twin.cluster.runner.images import selector

FAULT_ANNOTATION = "twin.tpuplane.dev/fault"
"""A node that bears it keeps the conditions it was given: kwok does not make it Ready again."""

RUN_FOR_ANNOTATION = "pod-complete.stage.kwok.x-k8s.io/delay"
"""How long a Job's pod runs before it succeeds, as a Go duration ("5s"); without it the pod never ends."""

_FOLDER = Path("kustomize") / "stage"
_UNCHANGED = (
    "pod/fast/pod-ready.yaml",
    "pod/chaos/pod-container-running-failed.yaml",
)
_IP = ".status.podIP"
_LIVING = ["Pending", "Running"]


def stages(module: Path, *, ray: bool = False) -> list[dict[str, Any]]:
    """The stages for kwok's configuration, read from kwok's own module folder; `ray`: Ray's pods are processes."""
    templates = read_data("tpuplane_twin.cluster", "stages")
    folder = module / _FOLDER
    node = _load(folder / "node" / "fast" / "node-initialize.yaml")
    _matches(node).append({"key": f'.metadata.annotations["{FAULT_ANNOTATION}"]', "operator": "DoesNotExist"})
    # kwok ships a pod-complete that ends every Job after a few seconds; training runs until its duration is set.
    complete = _load(folder / "pod" / "general" / "pod-complete.yaml")
    for jitter in ("jitterDurationMilliseconds", "jitterDurationFrom"):
        complete["spec"]["delay"].pop(jitter, None)
    # KubeRay keeps a RayCluster with its state in Redis until its cleanup Job has emptied that, or for five minutes.
    cleaned = copy.deepcopy(complete)
    cleaned["metadata"]["name"] = "redis-cleaned"
    _matches(complete).append({"key": f'.metadata.annotations["{RUN_FOR_ANNOTATION}"]', "operator": "Exists"})
    _matches(cleaned).append(
        {"key": '.metadata.labels["ray.io/node-type"]', "operator": "In", "values": ["redis-cleanup"]}
    )
    # kwok deletes a pod as it runs. A kubelet ends it first, and the Job controller waits for that where a Job has a
    # podFailurePolicy. Of the stages that match, kwok draws one: so these two exclude each other.
    delete = _load(folder / "pod" / "fast" / "pod-delete.yaml")
    terminate = copy.deepcopy(delete)
    terminate["metadata"]["name"] = "pod-terminate"
    terminate["spec"]["next"] = {"statusTemplate": templates["ended"]}
    _matches(terminate).append({"key": ".status.phase", "operator": "In", "values": _LIVING})
    _matches(delete).append({"key": ".status.phase", "operator": "NotIn", "values": _LIVING})
    simulated = [*(_load(folder / name) for name in _UNCHANGED), complete, cleaned, terminate, delete]
    for stage in simulated:
        _matches(stage).append({**selector(ray=ray), "operator": "NotIn"})
    # A pod that the runner runs gets its address here, and everything else there.
    process = _stage("pod-process", templates["placed"], selector(ray=ray), {"key": _IP, "operator": "DoesNotExist"})
    # kwok keeps the addresses of pods for which it has played a stage. So it plays one, without a change, for those
    # that it finds at its start. Any other stage that matches has a weight, and is played first.
    found = _stage("pod-found", templates["found"], {"key": _IP, "operator": "Exists"})
    return [node, *simulated, process, found]


def _stage(name: str, template: str, *expressions: dict[str, Any]) -> dict[str, Any]:
    """A stage of pods that are not being deleted."""
    living = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [*expressions, living]},
            "next": {"statusTemplate": template},
        },
    }


def _load(path: Path) -> dict[str, Any]:
    stage: dict[str, Any] = yaml.safe_load(path.read_text())
    return stage


def _matches(stage: dict[str, Any]) -> list[dict[str, Any]]:
    expressions: list[dict[str, Any]] = stage["spec"]["selector"]["matchExpressions"]
    return expressions
