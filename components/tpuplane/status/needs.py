"""The slices and nodes that the pods of a job need, and the node pools that have them. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL, GPU, TPU
from tpuplane.status.objects import Object, asked
from tpuplane.tpu import Slice, SliceError

_ACCELERATOR, _TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
_HOST = "kubernetes.io/hostname"

Row = Mapping[str, Any]


def needs(
    templates: Iterable[tuple[int, Object]], nodes: Sequence[Object], pools: Iterable[Row]
) -> list[dict[str, Any]]:
    """For each node selector of the pods: pods, slices, chips, GPUs, matching node pools, and labels of no node.

    `templates` are pods or pod templates, each with its number of pods. `pools` are rows of `describe_pools`.
    """
    alike: Counter[tuple[tuple[tuple[str, str], ...], int, int]] = Counter()
    for count, it in templates:
        selector = tuple(sorted(_selector(it).items()))
        alike[selector, asked(it, TPU) // 1000, asked(it, GPU) // 1000] += count
    rows = [_need(count, dict(kind), chips, gpus, nodes, pools) for (kind, chips, gpus), count in alike.items()]
    return [it for it in rows if it["nodeSelector"] or it["chips"] or it["gpus"]] or rows


def _selector(pod: Object) -> dict[str, str]:
    """Without the host that Kueue's topology-aware scheduling has chosen."""
    selector = pod["spec"].get("nodeSelector") or {}
    return {key: value for key, value in selector.items() if key != _HOST}


def _need(
    pods: int, selector: Mapping[str, str], chips: int, gpus: int, nodes: Sequence[Object], pools: Iterable[Row]
) -> dict[str, Any]:
    labels = [it["metadata"].get("labels", {}) for it in nodes]
    fitting = {it.get(GKE_POOL_LABEL) for it in labels if selector.items() <= it.items()}
    shape = _slice(selector, chips)
    return {
        "pods": pods,
        "slice": str(shape) if shape else "",
        "slices": -(-pods * chips // shape.chips) if shape and shape.multi_host else None,
        "chips": pods * chips,
        "gpus": pods * gpus,
        "nodeSelector": selector,
        "nodePools": [
            {key: it[key] for key in ("name", "hosts", "hostsReady", "heldBy")} for it in pools if it["name"] in fitting
        ],
        "missing": list(_missing(selector, labels)) if nodes and not fitting else [],
    }


def _slice(selector: Mapping[str, str], chips: int) -> Slice | None:
    try:
        return Slice.for_nodes(selector[_ACCELERATOR], selector[_TOPOLOGY], chips_per_node=chips or None)
    except (KeyError, SliceError):
        return None


def _missing(selector: Mapping[str, str], labels: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Labels that no node has. The values are those of nodes that have the rest of the selector."""
    for key, value in selector.items():
        rest = selector.items() - {(key, value)}
        others = {it[key] for it in labels if key in it and rest <= it.items()}
        if others or not any(it.get(key) == value for it in labels):
            yield {"label": key, "value": value, "nodesHave": sorted(others or {it[key] for it in labels if key in it})}
