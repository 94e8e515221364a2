"""A compute class that is added to a cluster which no platform describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tpuplane.plan.class_model import ComputeClassPlan
from tpuplane.plan.parts import ACCOUNT, planned
from tpuplane.spec import Mistake, SpecError
from tpuplane.spec.errors import Path
from tpuplane.spec.network_paths import UNKNOWN_PROJECT

_KEY = "cluster"
_PLATFORMS_OWN = ("clusters", "default_namespaces", "defaultNamespaces")


def added_class(
    name: str,
    compute_class: Mapping[str, Any],
    *,
    location: str,
    version: str | None = None,
    project: str | None = None,
    reservations: Mapping[str, Any] | None = None,
) -> ComputeClassPlan:
    """Plan one compute class. Pure, and by the same rules as a platform's classes.

    Args:
        name: Name of the class.
        compute_class: The class, as in a platform's `classes`; its node pools are named as GKE knows them.
        location: Region or zone of the cluster.
        version: GKE version of the cluster; None leaves version rules out.
        project: Project of the cluster; None where it is not known yet.
        reservations: Reservations that the class may draw on, as in a platform's `reservations`.

    Raises:
        SpecError: with every mistake there is; paths begin with a field of the class, `reservations` or `cluster`.

    """
    foreign = [key for key in _PLATFORMS_OWN if key in compute_class]
    if foreign:
        raise SpecError(Mistake((key,), "belongs to a platform's classes; remove it") for key in foreign)
    cluster: dict[str, Any] = {
        "location": location,
        "existing": {"name": _KEY},
        "nodeServiceAccount": ACCOUNT,
        **({"version": version} if version is not None else {}),
    }
    description = {
        "name": _KEY,
        "project": project or UNKNOWN_PROJECT,
        "reservations": dict(reservations or {}),
        "clusters": {_KEY: cluster},
        "classes": {name: dict(compute_class)},
    }
    moves: list[tuple[Path, Path]] = [(("classes", name), ()), (("clusters", _KEY), ("cluster",))]
    try:
        return planned(description, moves).clusters[0].compute_classes[0]
    except SpecError as error:
        # What is wrong with the class as a whole is said of its name: it is no argument itself.
        raise SpecError(replace(it, path=it.path or ("className",)) for it in error.mistakes) from None
