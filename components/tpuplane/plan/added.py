"""The node pools of one pool that is added to a cluster which no platform describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from tpuplane.plan.model import NodePoolPlan
from tpuplane.plan.parts import ACCOUNT, KEY, own_labels, planned
from tpuplane.spec import Mistake, SpecError
from tpuplane.spec.errors import Path
from tpuplane.spec.network_paths import UNKNOWN_PROJECT

Kind = Literal["pools", "gpuPools"]


def added_pools(
    name: str,
    pool: Mapping[str, Any],
    *,
    kind: Kind = "pools",
    location: str,
    version: str | None = None,
    project: str | None = None,
    reservations: Mapping[str, Any] | None = None,
) -> tuple[NodePoolPlan, ...]:
    """Plan the node pools of one pool of TPU slices or of GPU nodes. Pure, and by the same rules as a platform's pools.

    Args:
        name: Name of the pool, the front of its node pools' names.
        pool: The pool, as in a platform's `pools` or `gpuPools`.
        kind: Which of the two.
        location: Region or zone of the cluster.
        version: GKE version of the cluster; None leaves version rules out.
        project: Project of the cluster; None where it is not known yet.
        reservations: Reservations that the pool may draw on, as in a platform's `reservations`.

    Raises:
        SpecError: with every mistake there is; paths begin with a field of the pool, `reservations` or `cluster`.

    """
    cluster: dict[str, Any] = {
        "location": location,
        "existing": {"name": KEY},
        "nodeServiceAccount": ACCOUNT,
        kind: {name: pool},
    }
    if version is not None:
        cluster["version"] = version
    description = {
        "name": KEY,
        "project": project or UNKNOWN_PROJECT,
        "reservations": dict(reservations or {}),
        "clusters": {KEY: cluster},
    }
    at: Path = ("clusters", KEY)
    moves: list[tuple[Path, Path]] = [
        ((*at, kind, name), ()),
        ((*at, "location"), ("cluster", "location")),
        ((*at, "version"), ("cluster", "version")),
    ]
    pools = planned(description, moves).clusters[0].pools
    if project is None and any(UNKNOWN_PROJECT in (it.reservation or "") for it in pools):
        raise SpecError([Mistake(("reservations",), "project is required, for a block is named by it")])
    return tuple(
        replace(
            it,
            workload_policy=it.workload_policy and it.workload_policy.removeprefix(f"{KEY}-"),
            resource_labels=own_labels(it.resource_labels),
        )
        for it in pools
    )
