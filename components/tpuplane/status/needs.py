"""The slices and nodes that the pods of a job need, and the node pools that have them. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL, GPU, TPU
from tpuplane.status.objects import Node, PodSpec
from tpuplane.status.pools import slice_of

_HOST = "kubernetes.io/hostname"  # Kueue's topology-aware scheduling adds it to the node selector

Row = Mapping[str, Any]


def needs(specs: Iterable[tuple[int, PodSpec]], nodes: Iterable[Node], pools: Iterable[Row]) -> list[dict[str, Any]]:
    """For each node selector of the pods: pods, slices, chips, GPUs, matching node pools, and labels of no node.

    `specs` are specs of pods, each with its number of pods. `pools` are rows of `describe_pools`.
    """
    alike: Counter[tuple[frozenset[tuple[str, str]], tuple[int, int]]] = Counter()
    for count, it in specs:
        selector = frozenset(it.node_selector.items() - {(_HOST, it.node_selector.get(_HOST))})
        alike[selector, (it.asked(TPU) // 1000, it.asked(GPU) // 1000)] += count
    labels = [it.labels for it in nodes]
    rows = [_need(count, dict(sorted(it)), devices, labels, pools) for (it, devices), count in alike.items()]
    return [it for it in rows if it["nodeSelector"] or it["chips"] or it["gpus"]] or rows


def _need(
    pods: int, selector: Row, devices: tuple[int, int], labels: Sequence[Mapping[str, str]], pools: Iterable[Row]
) -> dict[str, Any]:
    chips, gpus = devices
    fitting = {it.get(GKE_POOL_LABEL) for it in labels if selector.items() <= it.items()}
    shape = slice_of(selector, chips or None)
    return {
        "pods": pods,
        "slice": str(shape or ""),
        "slices": -(-pods * chips // shape.chips) if shape and shape.multi_host else None,
        "chips": pods * chips,
        "gpus": pods * gpus,
        "nodeSelector": selector,
        "nodePools": [
            {key: it[key] for key in ("name", "hosts", "hostsReady", "heldBy")} for it in pools if it["name"] in fitting
        ],
        "missing": list(_missing(selector, labels)) if labels and not fitting else [],
    }


def _missing(selector: Row, labels: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Labels that no node has. The values are those of nodes that have the rest of the selector."""
    for key, value in selector.items():
        rest = selector.items() - {(key, value)}
        others = {it[key] for it in labels if key in it and rest <= it.items()}
        if others or not any(it.get(key) == value for it in labels):
            yield {"label": key, "value": value, "nodesHave": sorted(others or {it[key] for it in labels if key in it})}
