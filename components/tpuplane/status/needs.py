"""The slices and nodes that the pods of a job need, and the node pools where they fit. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tpuplane.labels import TPU
from tpuplane.status.fitting import HOSTNAME, Hosts, Pods
from tpuplane.status.objects import Node, PodSpec
from tpuplane.status.pools import slice_of
from tpuplane.tpu import Slice


def needs(
    specs: Iterable[tuple[int, PodSpec]], nodes: Sequence[Node], pools: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each node selector of the pods: pods, chips, slices, and the node pools where they fit on empty hosts.

    `specs` are specs of pods, each with its number of pods. `pools` are rows of `describe_pools`.
    """
    hosts = [(it.pool, host) for it, host in zip(nodes, Hosts.of(nodes, ()).all, strict=True)]
    pods: Counter[frozenset[tuple[str, str]]] = Counter()
    chips: Counter[frozenset[tuple[str, str]]] = Counter()
    fitting: dict[frozenset[tuple[str, str]], set[str]] = {}
    for count, it in specs:
        # Kueue's topology-aware scheduling adds the host to the node selector.
        selector = frozenset(it.node_selector.items() - {(HOSTNAME, it.node_selector.get(HOSTNAME))})
        pods[selector] += count
        free = replace(Pods.of(1, it), selector=dict(selector))
        fitting.setdefault(selector, set()).update(pool for pool, host in hosts if free.suit(host))
        chips[selector] += count * it.asked(TPU) // 1000
    known = {pool for pool, _ in hosts}
    rows = []
    for each in pods:
        wanted, shape = dict(sorted(each)), slice_of(dict(each))
        rows.append(
            {
                "pods": pods[each],
                "chips": chips[each],
                "slice": str(shape or ""),
                "slices": -(-chips[each] // shape.chips) if shape and shape.multi_host else None,
                "nodeSelector": wanted,
                "nodePools": [it for it in pools if it["name"] in fitting[each] or _would_fit(it, shape, known)],
            }
        )
    return [it for it in rows if it["nodeSelector"] or it["chips"]] or rows


def _would_fit(pool: Mapping[str, Any], shape: Slice | None, known: Collection[str]) -> bool:
    """Whether a pool without nodes, of which GKE has the state, has such slices."""
    return bool(shape and pool["state"] and pool["name"] not in known and pool["slice"] == str(shape))
