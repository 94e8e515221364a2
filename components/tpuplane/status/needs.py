"""The slices and nodes that the pods of a job need, and the node pools that have them. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.labels import TPU
from tpuplane.status.objects import Node, PodSpec
from tpuplane.status.pools import slice_of
from tpuplane.tpu import Slice

_HOST = "kubernetes.io/hostname"  # Kueue's topology-aware scheduling adds it to the node selector

Labels = Mapping[str, str]


def needs(
    specs: Iterable[tuple[int, PodSpec]], nodes: Iterable[Node], pools: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each node selector of the pods: pods, chips, slices, the node pools with such nodes, and labels of no node.

    `specs` are specs of pods, each with its number of pods. `pools` are rows of `describe_pools`.
    """
    pods: Counter[frozenset[tuple[str, str]]] = Counter()
    chips: Counter[frozenset[tuple[str, str]]] = Counter()
    for count, it in specs:
        selector = frozenset(it.node_selector.items() - {(_HOST, it.node_selector.get(_HOST))})
        pods[selector] += count
        chips[selector] += count * it.asked(TPU) // 1000
    hosts = [(it.pool, it.labels) for it in nodes]
    known = {pool for pool, _ in hosts}
    rows = []
    for each in pods:
        wanted, shape = dict(sorted(each)), slice_of(dict(each))
        fitting = {pool for pool, labels in hosts if each <= labels.items()}
        rows.append(
            {
                "pods": pods[each],
                "chips": chips[each],
                "slice": str(shape or ""),
                "slices": -(-chips[each] // shape.chips) if shape and shape.multi_host else None,
                "nodeSelector": wanted,
                "nodePools": [it for it in pools if it["name"] in fitting or _would_fit(it, shape, known)],
                "missing": list(_missing(wanted, [labels for _, labels in hosts])) if hosts and not fitting else [],
            }
        )
    return [it for it in rows if it["nodeSelector"] or it["chips"]] or rows


def _would_fit(pool: Mapping[str, Any], shape: Slice | None, known: Collection[str]) -> bool:
    """Whether a pool without nodes, of which GKE has the state, has such slices."""
    return bool(shape and pool["state"] and pool["name"] not in known and pool["slice"] == str(shape))


def _missing(selector: Labels, hosts: Sequence[Labels]) -> Iterator[dict[str, Any]]:
    """Labels that no node has. The values are those of nodes that have the rest of the selector."""
    for key, value in selector.items():
        rest = selector.items() - {(key, value)}
        others = {it[key] for it in hosts if key in it and rest <= it.items()}
        if others or not any(it.get(key) == value for it in hosts):
            yield {"label": key, "value": value, "nodesHave": sorted(others or {it[key] for it in hosts if key in it})}
