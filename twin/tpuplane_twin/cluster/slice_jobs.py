"""Jobs on dynamic slices, as the webhook of Kueue's slice controller changes them at their creation. Emulated. Pure.

The rules follow its source: AI-Hypercomputer/xpk, branch slice-main, slice/internal/webhooks and internal/topology.
"""

import copy
import math
import re
from collections.abc import Iterator
from typing import Any

from tpuplane.labels import (
    ACCELERATOR_LABEL,
    BLOCK_LABEL,
    QUEUE_LABEL,
    SLICE_TOPOLOGY,
    partition_label,
    partition_state_label,
)
from tpuplane.tpu import catalogue

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.tpu_webhook.pods import Rejected, chips

_CUBE, *_PARTS = catalogue().generation("tpu7x").partitions
_TOPOLOGY = re.compile(r"\d+x\d+x\d+")
_KUEUE = "kueue.x-k8s.io/podset-"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def mutate(item: Object) -> Object:
    """The Job, JobSet or LeaderWorkerSet with Kueue's annotations and an affinity to partitions that are not bad.

    One without a queue of Kueue is not changed. Raises `Rejected`.
    """
    if not item["metadata"].get("labels", {}).get(QUEUE_LABEL):
        return item
    item = copy.deepcopy(item)
    if item["kind"] == "LeaderWorkerSet":
        _place_group(item["spec"]["leaderWorkerTemplate"])
        return item
    try:
        for template, pods in _templates(item):
            if is_relevant(template):
                _place(template, pods)
    except Rejected as rejection:
        raise Rejected(f'invalid {item["kind"].lower()} "{item["metadata"].get("name", "")}": {rejection}') from None
    return item


def is_relevant(template: Object) -> bool:
    """Whether the pods run on a dynamic slice: they select tpu7x, and their annotation has its topology."""
    topology = template.get("metadata", {}).get("annotations", {}).get(SLICE_TOPOLOGY, "")
    required = {key: values[0] for key, values in _required(template["spec"]) if len(values) == 1}
    selected = required | (template["spec"].get("nodeSelector") or {})
    return bool(_TOPOLOGY.fullmatch(topology)) and selected.get(ACCELERATOR_LABEL) == "tpu7x"


def _required(spec: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The labels and values of the required node affinity."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms", ()):
        for found in term.get("matchExpressions", ()):
            yield found["key"], found.get("values", [])


def _templates(item: Object) -> Iterator[tuple[Object, int]]:
    """The pod templates with the pods of one slice; 0 if their number is missing."""
    spec = item["spec"]
    jobs = [job["template"]["spec"] for job in spec["replicatedJobs"]] if item["kind"] == "JobSet" else [spec]
    for job in jobs:
        yield job["template"], job.get("parallelism", 0)


def _place_group(group: Object) -> None:
    """Place each group of a LeaderWorkerSet within one partition; none if some of its pods run elsewhere."""
    templates = [group[key] for key in ("workerTemplate", "leaderTemplate") if group.get(key)]
    if not all(map(is_relevant, templates)):
        return
    shape = _shape(templates[0]["metadata"]["annotations"][SLICE_TOPOLOGY])
    for template in templates:
        _avoid_bad(template["spec"], shape)
        template["metadata"].setdefault("annotations", {}).update(
            {f"{_KUEUE}required-topology": partition_label(shape), "cloud.google.com/skip-tpu-webhook-check": "true"}
        )
        if "leaderTemplate" in group:
            template["metadata"]["annotations"][f"{_KUEUE}group-name"] = "lws-super-slice-group"


def _place(template: Object, pods: int) -> None:
    annotations = template["metadata"]["annotations"]
    topology = annotations[SLICE_TOPOLOGY]
    size = _size(topology, pods, sum(map(chips, template["spec"].get("containers", []))))
    shape = _shape(topology)
    _avoid_bad(template["spec"], shape)
    annotations |= {
        f"{_KUEUE}required-topology": BLOCK_LABEL,
        f"{_KUEUE}slice-required-topology": partition_label(shape),
        f"{_KUEUE}slice-size": str(size),
    }


def _shape(topology: str) -> str:
    """The topology of the partitions of a slice."""
    return topology if topology in _PARTS else _CUBE


def _avoid_bad(spec: Object, shape: str) -> None:
    """Require partitions that are not bad, unless the pods select a state themselves."""
    state = partition_state_label(shape)
    if state in (spec.get("nodeSelector") or {}) or state in dict(_required(spec)):
        return
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = affinity.setdefault(_REQUIRED, {}).setdefault("nodeSelectorTerms", [{}])
    for term in terms:
        usable = {"key": state, "operator": "In", "values": ["HEALTHY", "DEGRADED"]}
        term["matchExpressions"] = [*term.get("matchExpressions", ()), usable]


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
