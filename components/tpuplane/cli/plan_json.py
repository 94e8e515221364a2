"""`tpuplane plan --json`: the plan and its cost as plain values. Amounts are in US dollars, rounded to cents."""

from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from tpuplane.cli.plan_queues import queues_as_json
from tpuplane.cli.render import pool_as_json, values_of
from tpuplane.cost import Amount, PlatformCost, Rate, Sum, charging, citation
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.summary import RangeUse, system_nodes

_BUCKET = ("key", "name", "purpose", "existing", "location", "readers", "writers")
_LUSTRE = ("key", "name", "zone", "capacity_gib", "throughput", "readers", "writers")
_FILESTORE = ("key", "name", "location", "tier", "capacity_gib", "share", "readers", "writers")


def plan_as_json(platform: PlatformPlan, costs: PlatformCost) -> dict[str, Any]:
    """The whole plan."""
    return {
        "ok": True,
        **values_of(platform, "name", "project"),
        "network": platform.network.name,
        **values_of(platform, "chips", "gpus"),
        "images": [{to_camel(key): value for key, value in asdict(own).items()} for own in platform.images],
        "buckets": [values_of(own, *_BUCKET) | {"location": own.location or None} for own in platform.storage],
        "lustre": [values_of(own, *_LUSTRE) for own in platform.lustre],
        "filestore": [values_of(own, *_FILESTORE) for own in platform.filestore],
        "clusters": [_cluster(cluster, costs) for cluster in platform.clusters],
        "cost": {
            "currency": "USD",
            "hoursPerMonth": charging().hours_per_month,
            **_sum(costs.total),
            "byCapacity": {name: _sum(amounts) for name, amounts in costs.by_capacity.items()},
            "oldestPrice": costs.oldest,
            "sources": {key: citation(key) for key in costs.sources},
            "notes": costs.notes,
            "notIncluded": list(charging().not_included),
        },
    }


def _cluster(cluster: ClusterPlan, costs: PlatformCost) -> dict[str, Any]:
    system = cluster.system_pool
    low, high = system_nodes(cluster)
    return {
        **values_of(cluster, "key", "name", "location", "region"),
        "addresses": {use.name: {"cidr": use.cidr, "size": use.size, "used": use.used} for use in RangeUse.of(cluster)},
        "existing": cluster.existing is not None,
        "disks": [values_of(own, "name", "type", "size") for own in cluster.disks],
        "systemPool": system
        and {"machineType": system.machine_type, "zones": list(system.zones), "minNodes": low, "maxNodes": high},
        "pools": _pools(cluster, costs, slices=True),
        "gpuPools": _pools(cluster, costs, slices=False),
        "computeClasses": [
            {
                **values_of(own_class, "name", "default_namespaces"),
                "priorities": [asdict(priority) for priority in own_class.priorities],
                "spec": own_class.spec,
            }
            for own_class in cluster.compute_classes
        ],
        "autoProvisioning": _auto_provisioning(cluster, costs),
        "queues": queues_as_json(cluster),
        "cost": _sum(costs.of_cluster(cluster.name)),
    }


def _auto_provisioning(cluster: ClusterPlan, costs: PlatformCost) -> dict[str, Any] | None:
    """Limits and maximum cost of node auto-provisioning; null if it is off."""
    if (plan := cluster.auto_provisioning) is None:
        return None
    return {
        **values_of(plan, "zones", "autoscaling_profile", "cpu", "memory_gb"),
        "tpu": [
            {
                **values_of(cost.limit, "resource_type", "generation", "maximum", "up_to"),
                "price": _rate(cost.rate),
                "costUpTo": _amount(cost.up_to),
            }
            for cost in costs.provisioned
            if cost.cluster == cluster.name
        ],
    }


def _pools(cluster: ClusterPlan, costs: PlatformCost, *, slices: bool) -> list[dict[str, Any]]:
    return [
        {**pool_as_json(cost.pool), "price": _rate(cost.rate), "cost": _sum(cost.sum)}
        for cost in costs.pools
        if cost.cluster == cluster.name and cost.pool.has_slices == slices
    ]


def _rate(rate: Rate) -> dict[str, Any]:
    """The price, or the reason for a missing one."""
    if rate.price is None:
        return {"reason": rate.reason}
    price = {to_camel(key): value for key, value in asdict(rate.price).items() if key != "generation"}
    return {**price, "standIn": rate.stand_in}


def _sum(amounts: Sum) -> dict[str, Any]:
    return {"min": _amount(amounts.min), "max": _amount(amounts.max)}


def _amount(amount: Amount) -> dict[str, Any]:
    """`perHour` and `perMonth` are null if no pool has a price. `missing` names the pools without one."""
    return {
        "perHour": round(amount.usd_per_hour, 2) if amount.known else None,
        "perMonth": round(amount.usd_per_month, 2) if amount.known else None,
        **values_of(amount, "estimated", "missing"),
    }
