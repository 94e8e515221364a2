"""`tpuplane plan --json`: the plan and its cost as plain values. Amounts are in US dollars, rounded to cents."""

from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from tpuplane.cli.plan_queues import queues_as_json
from tpuplane.cli.render import pool_as_json
from tpuplane.cost import Amount, PlatformCost, Rate, Sum, charging, citation
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.filestore import FilestorePlan
from tpuplane.plan.lustre import LustrePlan
from tpuplane.plan.storage import BucketPlan
from tpuplane.plan.summary import RangeUse, system_nodes


def plan_as_json(platform: PlatformPlan, costs: PlatformCost) -> dict[str, Any]:
    """The whole plan."""
    return {
        "ok": True,
        "name": platform.name,
        "project": platform.project,
        "network": platform.network.name,
        "chips": platform.chips,
        "gpus": platform.gpus,
        "images": [{to_camel(key): value for key, value in asdict(own).items()} for own in platform.images],
        "buckets": [_bucket(own) for own in platform.storage],
        "lustre": [_lustre(own) for own in platform.lustre],
        "filestore": [_filestore(own) for own in platform.filestore],
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


def _bucket(bucket: BucketPlan) -> dict[str, Any]:
    fields = _fields(bucket, "key", "name", "purpose", "existing", "location", "readers", "writers")
    return {**fields, "location": bucket.location or None}


def _lustre(instance: LustrePlan) -> dict[str, Any]:
    return _fields(instance, "key", "name", "zone", "capacity_gib", "throughput", "readers", "writers")


def _filestore(instance: FilestorePlan) -> dict[str, Any]:
    return _fields(instance, "key", "name", "location", "tier", "capacity_gib", "share", "readers", "writers")


def _fields(plan: BucketPlan | LustrePlan | FilestorePlan, *names: str) -> dict[str, Any]:
    return {to_camel(name): getattr(plan, name) for name in names}


def _cluster(cluster: ClusterPlan, costs: PlatformCost) -> dict[str, Any]:
    system = cluster.system_pool
    low, high = system_nodes(cluster)
    return {
        "key": cluster.key,
        "name": cluster.name,
        "location": cluster.location,
        "region": cluster.region,
        "addresses": {use.name: {"cidr": use.cidr, "size": use.size, "used": use.used} for use in RangeUse.of(cluster)},
        "existing": cluster.existing is not None,
        "disks": [{"name": own.name, "type": own.type, "size": own.size} for own in cluster.disks],
        "systemPool": system
        and {"machineType": system.machine_type, "zones": list(system.zones), "minNodes": low, "maxNodes": high},
        "pools": _pools(cluster, costs, slices=True),
        "gpuPools": _pools(cluster, costs, slices=False),
        "computeClasses": [
            {
                "name": own_class.name,
                "defaultNamespaces": list(own_class.default_namespaces),
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
        "zones": list(plan.zones),
        "autoscalingProfile": plan.autoscaling_profile,
        "cpu": plan.cpu,
        "memoryGb": plan.memory_gb,
        "tpu": [
            {
                "resourceType": cost.limit.resource_type,
                "generation": cost.limit.generation,
                "maximum": cost.limit.maximum,
                "upTo": cost.limit.up_to,
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
        "estimated": list(amount.estimated),
        "missing": list(amount.missing),
    }
