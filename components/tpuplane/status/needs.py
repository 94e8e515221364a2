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
    hosts = [(node.pool, host) for node, host in zip(nodes, Hosts.of(nodes, ()).all, strict=True)]
    pods: Counter[frozenset[tuple[str, str]]] = Counter()
    chips: Counter[frozenset[tuple[str, str]]] = Counter()
    fitting: dict[frozenset[tuple[str, str]], set[str]] = {}
    for count, spec in specs:
        # Kueue's topology-aware scheduling adds the host to the node selector.
        selector = frozenset(spec.node_selector.items() - {(HOSTNAME, spec.node_selector.get(HOSTNAME))})
        pods[selector] += count
        free = replace(Pods.of(1, spec), selector=dict(selector))
        fitting.setdefault(selector, set()).update(pool for pool, host in hosts if free.suit(host))
        chips[selector] += count * spec.asked(TPU) // 1000
    known = {pool for pool, _ in hosts}
    rows = []
    for selector, names in fitting.items():
        labels = dict(sorted(selector))
        shape = slice_of(labels)
        rows.append(
            {
                "pods": pods[selector],
                "chips": chips[selector],
                "slice": str(shape or ""),
                "slices": -(-chips[selector] // shape.chips) if shape and shape.multi_host else None,
                "nodeSelector": labels,
                "nodePools": [pool for pool in pools if pool["name"] in names or _would_fit(pool, shape, known)],
            }
        )
    return [row for row in rows if row["nodeSelector"] or row["chips"]] or rows


def _would_fit(pool: Mapping[str, Any], shape: Slice | None, known: Collection[str]) -> bool:
    """Whether a pool without nodes has such slices, and GKE reports its state."""
    return bool(shape and pool["state"] and pool["name"] not in known and pool["slice"] == str(shape))
