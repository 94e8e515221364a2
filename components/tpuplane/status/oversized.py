"""Pods that request more than any host of their queue has. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence

from tpuplane.labels import GPU, MACHINE_LABEL, TPU
from tpuplane.quantities import thousandths, whole_or_part
from tpuplane.status.objects import Object, asked
from tpuplane.tpu import SliceError, catalogue

_ACCELERATOR, _COUNT = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-accelerator-count"
_UNITS = {TPU: "chips", GPU: "GPUs"}


def too_large(workload: Object, flavors: Iterable[Object], nodes: Sequence[Object]) -> str:
    """A message if a pod requests more chips or GPUs than the hosts of all flavors of its queue have; otherwise "".

    Also "" if the hosts of a flavor are unknown, because an autoscaled pool can add larger ones.
    """
    flavors = list(flavors)
    for pod in (it["template"] for it in workload.get("spec", {}).get("podSets", ())):
        for resource, unit in _UNITS.items():
            wanted = asked(pod, resource)
            most = [_most(resource, it, pod, nodes) for it in flavors if wanted and _may_take(it, pod)]
            known = [it for it in most if it is not None]
            if known and len(known) == len(most) and 0 < max(known) < wanted:
                asks, have = whole_or_part(wanted), whole_or_part(max(known))
                return f"requests {asks} {unit} in each pod, but its hosts have {have}"
    return ""


def _may_take(flavor: Object, pod: Object) -> bool:
    """Whether the node selector of the pod does not contradict the labels of the flavor."""
    labels = _labels(flavor)
    return all(labels.get(key, value) == value for key, value in pod["spec"].get("nodeSelector", {}).items())


def _most(resource: str, flavor: Object, pod: Object, nodes: Sequence[Object]) -> int | None:
    """The resource of the flavor's largest host, in thousandths; None if it is unknown."""
    labels = _labels(flavor)
    if resource == TPU and _ACCELERATOR in labels:
        if _COUNT in labels:
            return thousandths(labels[_COUNT])
        with contextlib.suppress(SliceError, KeyError):  # no machine type, or one that is not in the catalogue
            return 1000 * catalogue().machine(labels[MACHINE_LABEL])[1].chips
    hosts = [it for it in nodes if labels.items() <= it["metadata"].get("labels", {}).items()]
    if flavor.get("spec", {}).get("topologyName"):
        # Kueue assigns existing hosts, and the autoscaler adds none for the job.
        wanted = pod["spec"].get("nodeSelector", {}).items()
        return _largest(resource, [it for it in hosts if wanted <= it["metadata"].get("labels", {}).items()])
    # New hosts have the same machine type: if existing ones lack the resource, so do new ones.
    return 0 if hosts and _largest(resource, hosts) == 0 else None


def _largest(resource: str, hosts: Iterable[Object]) -> int:
    return max((thousandths(it.get("status", {}).get("capacity", {}).get(resource, 0)) for it in hosts), default=0)


def _labels(flavor: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = flavor.get("spec", {}).get("nodeLabels", {})
    return found
