"""Parts of a platform that are made on their own: each is planned as the platform that has nothing else.

So the same rules hold, in the same words. What a part does not say (its project is an output, its network somebody
else's) has a stand-in in that platform, which nothing that is made shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tpuplane.labels import PLATFORM_LABEL, POOL_LABEL
from tpuplane.plan.model import ClusterPlan, NodePoolPlan, PlatformPlan, ServiceAccountPlan
from tpuplane.plan.network_model import NetworkPlan
from tpuplane.plan.planner import NODE_ROLES, plan
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.errors import Path, dotted, shown
from tpuplane.spec.fields import Name
from tpuplane.spec.locations import is_zone, region_of
from tpuplane.spec.names import check_account_id
from tpuplane.spec.network_paths import UNKNOWN_PROJECT

PLATFORM = "part"
KEY = "it"
ACCOUNT = f"nodes@{UNKNOWN_PROJECT}.iam.gserviceaccount.com"
Moves = Iterable[tuple[Path, Path]]

# Ranges that hold any cluster and that no control plane is in: the sizes of somebody else's are not known.
_ANY_RANGES = {"nodesCidr": "240.0.0.0/6", "podsCidr": "244.0.0.0/6", "servicesCidr": "248.0.0.0/20"}


def planned(description: Mapping[str, Any], moves: Moves) -> PlatformPlan:
    """Plan a description. `moves` says where its parts stand in the arguments: (path there, path here).

    Raises `SpecError` with the paths of the arguments.
    """
    try:
        return plan(PlatformSpec.parse(description))
    except SpecError as error:
        raise SpecError(
            replace(mistake, path=_moved(mistake.path, moves), message=_told(mistake.message, moves))
            for mistake in error.mistakes
        ) from None


def network_plan(name: str, subnets: Mapping[str, Mapping[str, Any]]) -> NetworkPlan:
    """Plan a VPC called `name` with these subnetworks, by their keys: `region`, and ranges as a platform's clusters.

    Raises `SpecError`; paths begin with `network_name` or `subnets`.
    """
    mistakes = _bad_name(name, ("network_name",))
    mistakes += [
        Mistake(("subnets", key, "region"), f"{shown(region)} is a zone; allowed: its region {region_of(region)}")
        for key, subnet in subnets.items()
        if isinstance(region := subnet.get("region"), str) and is_zone(region)
    ]
    if mistakes:
        raise SpecError(mistakes)
    clusters = {
        key: {
            **({"location": subnet["region"]} if "region" in subnet else {}),
            "network": {field: value for field, value in subnet.items() if field != "region"},
            "nodeServiceAccount": ACCOUNT,
        }
        for key, subnet in subnets.items()
    }
    moves: list[tuple[Path, Path]] = [(("name",), ("network_name",)), (("clusters",), ("subnets",))]
    for key in subnets:
        moves.insert(0, (("clusters", key, "network"), ("subnets", key)))
        moves.insert(0, (("clusters", key, "location"), ("subnets", key, "region")))
    return planned({"name": name, "project": UNKNOWN_PROJECT, "clusters": clusters}, moves).network


def cluster_plan(
    name: str,
    settings: Mapping[str, Any],
    *,
    pods_range: str,
    services_range: str,
    makes_account: bool,
) -> ClusterPlan:
    """Plan a cluster called `name` in somebody's network; `settings` are as those of a platform's cluster.

    Raises `SpecError`; paths begin with `cluster_name` or a setting.
    """
    at: Path = ("cluster_name",)
    if mistakes := _bad_name(name, at) or (list(check_account_id(at, name)) if makes_account else []):
        raise SpecError(mistakes)
    cluster = {**settings, "network": _ANY_RANGES, "nodeServiceAccount": ACCOUNT}
    (made,) = planned(_alone(cluster), [(("clusters", KEY), ())]).clusters
    if made.subnet is None or made.system_pool is None:
        raise ValueError(f"{name}: a cluster that exists already is no cluster to plan")
    if made.addons:
        raise SpecError(
            Mistake(("addons", addon.key), "is installed by a Platform, not by a cluster alone; remove it here")
            for addon in made.addons
        )
    account = ServiceAccountPlan(account_id=name, display_name=f"Nodes of GKE cluster {name}", roles=NODE_ROLES)
    return replace(
        made,
        name=name,
        subnet=replace(made.subnet, pods_range=pods_range, services_range=services_range),
        service_account=account if makes_account else None,
        node_service_account=None,
        resource_labels=own_labels(made.resource_labels),
        system_pool=replace(made.system_pool, resource_labels=own_labels(made.system_pool.resource_labels)),
    )


def system_pool_plan(
    name: str, settings: Mapping[str, Any], *, location: object, labels: Mapping[str, str] | None = None
) -> NodePoolPlan:
    """Plan a CPU pool called `name`; `settings` are as those of a cluster's `system_pool`.

    Raises `SpecError`; paths begin with `pool_name`, `cluster`, `labels` or a setting.
    """
    if mistakes := _bad_name(name, ("pool_name",)):
        raise SpecError(mistakes)
    at: Path = ("clusters", KEY)
    cluster = {
        "location": location,
        "systemPool": settings,
        "labels": dict(labels or {}),
        "network": _ANY_RANGES,
        "nodeServiceAccount": ACCOUNT,
    }
    moves = [((*at, "systemPool"), ()), ((*at, "location"), ("cluster", "location")), ((*at, "labels"), ("labels",))]
    pool = planned(_alone(cluster), moves).clusters[0].system_pool
    if pool is None:
        raise ValueError(f"{name}: the cluster has no system pool")
    return replace(
        pool,
        name=name,
        pool=name,
        node_labels={**pool.node_labels, POOL_LABEL: name},
        resource_labels={**own_labels(pool.resource_labels), POOL_LABEL: name},
    )


def _alone(cluster: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": PLATFORM, "project": UNKNOWN_PROJECT, "clusters": {KEY: cluster}}


def own_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels without that of the platform, which there is not."""
    return {key: value for key, value in labels.items() if key != PLATFORM_LABEL}


def _bad_name(name: str, at: Path) -> list[Mistake]:
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError as error:
        return [Mistake(at, detail["msg"]) for detail in error.errors(include_url=False)]
    return []


def _told(message: str, moves: Moves) -> str:
    """The message with the places that it mentions as the arguments have them."""
    for there, here in moves:
        if len(there) > 1:  # a single name is a word like any other
            place, front = dotted(there), dotted(here)
            message = message.replace(f"{place}.", f"{front}." if front else "").replace(place, front or "this")
    return message


def _moved(path: Path, moves: Moves) -> Path:
    for there, here in moves:
        if path[: len(there)] == there:
            return (*here, *path[len(there) :])
    return path
