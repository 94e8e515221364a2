"""The slices and nodes that the pods of a job need, and the node pools where they fit. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tpuplane.labels import ACCELERATOR_LABEL, HOSTNAME, MACHINE_LABEL, TPU
from tpuplane.status.fitting import Hosts, Pods
from tpuplane.status.objects import Node, PodSpec
from tpuplane.status.pools import slice_of
from tpuplane.tpu import Slice, SliceError

_Need = tuple[frozenset[tuple[str, str]], str]
"""A node selector, and the topology of a part of a slice or of a slice of cubes."""


def needs(
    specs: Iterable[tuple[int, PodSpec, str]], nodes: Sequence[Node], pools: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each node selector of the pods: pods, chips, slices, and the node pools where they fit on empty hosts.

    `specs` are specs of pods, each with its number of pods and the topology of their part of a slice, or of their slice
    of cubes; empty for whole slices. `pools` are rows of `describe_pools`.
    """
    hosts = [(node.pool, host) for node, host in zip(nodes, Hosts.of(nodes, ()).all, strict=True)]
    pods: Counter[_Need] = Counter()
    chips: Counter[_Need] = Counter()
    fitting: dict[_Need, set[str]] = {}
    judged: set[tuple[_Need, str]] = set()  # a job of 12,736 equal pods on as many nodes is judged once
    for count, spec, part in specs:
        # Kueue's topology-aware scheduling adds the host to the node selector.
        selector = frozenset(spec.node_selector.items() - {(HOSTNAME, spec.node_selector.get(HOSTNAME))})
        need = selector, part
        pods[need] += count
        free = replace(Pods.of(1, spec), selector=dict(selector))
        if (need, free.key) not in judged:
            judged.add((need, free.key))
            fitting.setdefault(need, set()).update(pool for pool, host in hosts if free.suit(host))
        chips[need] += count * spec.asked(TPU) // 1000
    known = {pool for pool, _ in hosts}
    rows = []
    for (selector, part), names in fitting.items():
        need, labels = (selector, part), dict(sorted(selector))
        whole = slice_of(labels)
        shape = _part(labels, whole, part) or whole
        rows.append(
            {
                "pods": pods[need],
                "chips": chips[need],
                "slice": str(shape or ""),
                "slices": -(-chips[need] // shape.chips) if shape and shape.multi_host else None,
                "nodeSelector": labels,
                "nodePools": [pool for pool in pools if pool["name"] in names or _would_fit(pool, whole, known)],
            }
        )
    return [row for row in rows if row["nodeSelector"] or row["chips"]] or rows


def _part(labels: Mapping[str, str], whole: Slice | None, topology: str) -> Slice | None:
    """The part of this topology, with the machine type of the whole slice; None if it does not exist."""
    machine = whole.machine.name if whole else labels.get(MACHINE_LABEL)
    with suppress(KeyError, SliceError):
        part = Slice.of(labels[ACCELERATOR_LABEL], topology, machine)
        return part if whole is None or part.chips < whole.chips else None
    return None


def _would_fit(pool: Mapping[str, Any], shape: Slice | None, known: Collection[str]) -> bool:
    """Whether a pool without nodes has such slices, and GKE reports its state."""
    return bool(shape and pool["state"] and pool["name"] not in known and pool["slice"] == str(shape))
