"""The node pools of one pool that is added to a cluster which no platform describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from tpuplane.plan.hosts import PLATFORM_LABEL
from tpuplane.plan.model import NodePoolPlan
from tpuplane.plan.planner import plan
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.errors import Path

Kind = Literal["pools", "gpuPools"]

# The rest of the description that the pool is checked in. Nothing of it is made; `_PROJECT` stands where the project
# is not known before the engine runs.
_KEY = "cluster"
_PROJECT = "not-known-yet"
_NOT_NAMED_HERE: tuple[tuple[Path, Path], ...] = (
    (("clusters", _KEY, "location"), ("cluster", "location")),
    (("clusters", _KEY, "version"), ("cluster", "version")),
)


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
        "existing": {"name": _KEY},
        "nodeServiceAccount": f"nodes@{_PROJECT}.iam.gserviceaccount.com",
        kind: {name: pool},
    }
    if version is not None:
        cluster["version"] = version
    description = {
        "name": _KEY,
        "project": project or _PROJECT,
        "reservations": dict(reservations or {}),
        "clusters": {_KEY: cluster},
    }
    try:
        planned = plan(PlatformSpec.parse(description)).clusters[0].pools
    except SpecError as error:
        raise SpecError(replace(mistake, path=_own(mistake.path, kind, name)) for mistake in error.mistakes) from None
    if project is None and any(_PROJECT in (it.reservation or "") for it in planned):
        raise SpecError([Mistake(("reservations",), "project is required, for a block is named by it")])
    return tuple(
        replace(
            it,
            workload_policy=it.workload_policy and it.workload_policy.removeprefix(f"{_KEY}-"),
            resource_labels={key: value for key, value in it.resource_labels.items() if key != PLATFORM_LABEL},
        )
        for it in planned
    )


def _own(path: Path, kind: str, name: str) -> Path:
    """The path as the arguments have it."""
    pool: Path = ("clusters", _KEY, kind, name)
    for theirs, ours in ((pool, ()), *_NOT_NAMED_HERE):
        if path[: len(theirs)] == theirs:
            return (*ours, *path[len(theirs) :])
    return path
