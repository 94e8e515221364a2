"""Jobs on dynamic slices, as the webhook of Kueue's slice controller changes them at their creation. Emulated. Pure.

The rules follow its source: AI-Hypercomputer/xpk, branch slice-main, slice/internal/webhooks and internal/topology.
"""

import copy
import math
import re
from collections.abc import Iterator
from typing import Any

from tpuplane.labels import BLOCK_LABEL, SLICE_TOPOLOGY, partition_label, partition_state_label
from tpuplane.tpu import catalogue

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.tpu_webhook.pods import ACCELERATOR, Rejected, chips

_CUBE, *_PARTS = catalogue().generation("tpu7x").partitions
_TOPOLOGY = re.compile(r"\d+x\d+x\d+")
_KUEUE = "kueue.x-k8s.io/podset-"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def mutate(item: Object) -> Object:
    """The Job, JobSet or LeaderWorkerSet with Kueue's annotations and an affinity to partitions that are not bad.

    Raises `Rejected`.
    """
    item = copy.deepcopy(item)
    try:
        for template, pods in _templates(item):
            if is_relevant(template):
                _place(template, pods, whole=item["kind"] == "LeaderWorkerSet")
    except Rejected as rejection:
        raise Rejected(f'invalid {item["kind"].lower()} "{item["metadata"].get("name", "")}": {rejection}') from None
    return item


def is_relevant(template: Object) -> bool:
    """Whether the pods run on a dynamic slice: they select tpu7x, and their annotation has its topology."""
    topology = template.get("metadata", {}).get("annotations", {}).get(SLICE_TOPOLOGY, "")
    required = {key: values[0] for key, values in _required(template["spec"]) if len(values) == 1}
    selected = required | (template["spec"].get("nodeSelector") or {})
    return bool(_TOPOLOGY.fullmatch(topology)) and selected.get(ACCELERATOR) == "tpu7x"


def _required(spec: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The labels and values of the required node affinity."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms", ()):
        for found in term.get("matchExpressions", ()):
            yield found["key"], found.get("values", [])


def _templates(item: Object) -> Iterator[tuple[Object, int]]:
    """The pod templates with the pods of one slice; 0 if their number is missing."""
    spec = item["spec"]
    if item["kind"] == "LeaderWorkerSet":
        template = spec["leaderWorkerTemplate"]
        yield template["workerTemplate"], template.get("size", 1)
        return
    jobs = [job["template"]["spec"] for job in spec["replicatedJobs"]] if item["kind"] == "JobSet" else [spec]
    for job in jobs:
        yield job["template"], job.get("parallelism", 0)


def _place(template: Object, pods: int, *, whole: bool) -> None:
    topology = template["metadata"]["annotations"][SLICE_TOPOLOGY]
    size = _size(topology, pods, sum(map(chips, template["spec"].get("containers", []))))
    shape = topology if topology in _PARTS else _CUBE
    state, spec = partition_state_label(shape), template["spec"]
    if state not in (spec.get("nodeSelector") or {}) and state not in dict(_required(spec)):
        affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        terms = affinity.setdefault(_REQUIRED, {}).setdefault("nodeSelectorTerms", [{}])
        for term in terms:
            usable = {"key": state, "operator": "In", "values": ["HEALTHY", "DEGRADED"]}
            term["matchExpressions"] = [*term.get("matchExpressions", ()), usable]
    if whole:  # a group of a LeaderWorkerSet is within one partition
        template["metadata"]["annotations"] |= {
            f"{_KUEUE}required-topology": partition_label(shape),
            "cloud.google.com/skip-tpu-webhook-check": "true",
        }
        return
    template["metadata"]["annotations"] |= {
        f"{_KUEUE}required-topology": BLOCK_LABEL,
        f"{_KUEUE}slice-required-topology": partition_label(shape),
        f"{_KUEUE}slice-size": str(size),
    }


def _size(topology: str, pods: int, requested: int) -> int:
    """The pods in one partition. Raises `Rejected` if they do not use all its chips."""
    sides = [int(side) for side in topology.split("x")]
    if not pods:
        raise Rejected("parallelism must be set")
    if topology in _PARTS:
        size, full = pods, math.prod(sides)
    elif any(side % 4 or not side for side in sides):
        raise Rejected(f"topology {topology}: each side must be a multiple of 4, or one of {', '.join(_PARTS)}")
    elif sides != sorted(sides):
        raise Rejected(f"topology {topology}: the sides must be in ascending order")
    else:
        size, full = pods * 64 // math.prod(sides), 64
    if requested * size != full:
        where = "" if topology in _PARTS else " per cube"
        raise Rejected(
            f"configuration results in {requested * size} TPUs requested{where}, but must be exactly {full} TPUs "
            "(full utilization)"
        )
    return size
