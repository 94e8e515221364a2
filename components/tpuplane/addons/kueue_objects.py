"""Kueue's objects as manifests, from the plan and the templates in `data/kueue.yaml`."""

from typing import Any

from tpuplane.data_files import filled, read_data
from tpuplane.plan import queue_model as model
from tpuplane.quantities import canonical

API_VERSION = "kueue.x-k8s.io/v1beta2"

Spec = dict[str, Any]

_TEMPLATES: dict[str, Spec] = read_data("tpuplane.addons", "kueue")


def _spec(template: str, **values: Any) -> Spec:
    return dict(filled(_TEMPLATES[template], {f"${name}": value for name, value in values.items()}))


def flavor_spec(flavor: model.FlavorPlan) -> Spec:
    """`spec` of a ResourceFlavor."""
    tolerated = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in flavor.tolerated_taints]
    return _spec("flavor", labels=flavor.node_labels, tolerations=tolerated or None, topology=flavor.topology)


def cohort_spec(queues: model.QueuesPlan) -> Spec:
    """`spec` of the Cohort, with quota that no team owns."""
    return {"resourceGroups": _groups(queues, queues.shared)} if queues.shared else {}


def cluster_queue_spec(queues: model.QueuesPlan, queue: model.ClusterQueuePlan) -> Spec:
    """`spec` of a ClusterQueue."""
    # Kueue treats a weight of 0 differently: other teams would always reclaim quota from this team first.
    weight = None if queue.weight is None else canonical(f"{max(queue.weight, 0.001):f}")
    checks = [
        {"name": check.check, **({"onFlavors": list(check.flavors)} if check.flavors else {})} for check in queue.checks
    ]
    return _spec(
        "clusterQueue",
        cohort=queues.cohort,
        strategy=queues.strategy,
        namespaces=list(queue.namespaces),
        within=queues.preemption.within_cluster_queue,
        reclaim=queues.preemption.reclaim_within_cohort,
        borrow=queues.preemption.borrow_within_cohort,
        groups=_groups(queues, queue.flavors),
        sharing=weight and {"weight": weight},
        checks={"admissionChecks": checks} if checks else None,
    )


def check_spec(controller: str, kind: str, config: str) -> Spec:
    """`spec` of an AdmissionCheck of one of Kueue's controllers, which an object of this kind configures."""
    return _spec("check", controller=f"kueue.x-k8s.io/{controller}", kind=kind, config=config)


def slice_check_spec() -> Spec:
    """`spec` of the AdmissionCheck of Kueue's slice controller, which has no parameters."""
    return _spec("sliceCheck")


def provisioning_spec(plan: model.ProvisioningPlan) -> Spec:
    """`spec` of a ProvisioningRequestConfig."""
    resources, seconds = list(plan.managed_resources), str(plan.max_run_seconds)
    return _spec("provisioningRequestConfig", resources=resources, seconds=seconds)


def _groups(queues: model.QueuesPlan, quotas: tuple[model.FlavorQuotaPlan, ...]) -> list[Spec]:
    """One group, because a pod set gets the resources of a group from one flavor: chips and CPUs of the same hosts."""
    of_flavors = [{"name": quota.flavor, "resources": list(map(_quota, quota.resources))} for quota in quotas]
    return [{"coveredResources": list(queues.covered), "flavors": of_flavors}]


def _quota(quota: model.ResourceQuotaPlan) -> Spec:
    limits = {"borrowingLimit": quota.borrowing_limit, "lendingLimit": quota.lending_limit}
    given = {name: quota.quantity(limit) for name, limit in limits.items() if limit is not None}
    return {"name": quota.resource, "nominalQuota": quota.quantity(quota.nominal), **given}
