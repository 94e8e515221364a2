"""Pods that ask for more than any host of their queue has: no waiting helps them. Pure."""

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
    """That pods of a workload ask for more chips or GPUs than a host of any flavor of their queue has; "" otherwise.

    It is "" too where the hosts of a flavor are not known: what an autoscaled pool will bring may be larger.
    """
    flavors = list(flavors)
    for pod in (it["template"] for it in workload.get("spec", {}).get("podSets", ())):
        for resource, unit in _UNITS.items():
            wanted = asked(pod, resource)
            most = [_most(resource, it, pod, nodes) for it in flavors if wanted and _may_take(it, pod)]
            known = [it for it in most if it is not None]
            if known and len(known) == len(most) and 0 < max(known) < wanted:
                asks, have = whole_or_part(wanted), whole_or_part(max(known))
                return f"asks for {asks} {unit} in each pod, and its hosts have {have}"
    return ""


def _may_take(flavor: Object, pod: Object) -> bool:
    """Whether nothing that the pod selects by is otherwise on the flavor's nodes."""
    labels = _labels(flavor)
    return all(labels.get(key, value) == value for key, value in pod["spec"].get("nodeSelector", {}).items())


def _most(resource: str, flavor: Object, pod: Object, nodes: Sequence[Object]) -> int | None:
    """How much the flavor's largest host has, in thousandths; None where that is not known."""
    labels = _labels(flavor)
    if resource == TPU and _ACCELERATOR in labels:
        if _COUNT in labels:
            return thousandths(labels[_COUNT])
        with contextlib.suppress(SliceError, KeyError):  # no machine is named, or one newer than the catalogue
            return 1000 * catalogue().machine(labels[MACHINE_LABEL])[1].chips
    hosts = [it for it in nodes if labels.items() <= it["metadata"].get("labels", {}).items()]
    if flavor.get("spec", {}).get("topologyName"):
        # Kueue places on hosts itself, and no others come for the job.
        wanted = pod["spec"].get("nodeSelector", {}).items()
        return _largest(resource, [it for it in hosts if wanted <= it["metadata"].get("labels", {}).items()])
    # Others that come are of the same kind: without the resource, where these are.
    return 0 if hosts and _largest(resource, hosts) == 0 else None


def _largest(resource: str, hosts: Iterable[Object]) -> int:
    return max((thousandths(it.get("status", {}).get("capacity", {}).get(resource, 0)) for it in hosts), default=0)


def _labels(flavor: Object) -> Mapping[str, str]:
    found: Mapping[str, str] = flavor.get("spec", {}).get("nodeLabels", {})
    return found
