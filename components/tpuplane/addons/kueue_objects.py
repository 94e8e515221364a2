"""Kueue's objects as manifests, from the plan."""

from typing import Any

from tpuplane.data_files import filled, read_data
from tpuplane.plan import queue_model as model
from tpuplane.quantities import canonical

API_VERSION = "kueue.x-k8s.io/v1beta2"

Spec = dict[str, Any]


def flavor_spec(flavor: model.FlavorPlan) -> Spec:
    """`spec` of a ResourceFlavor."""
    spec: Spec = {"nodeLabels": flavor.node_labels}
    if flavor.tolerated_taints:
        spec["tolerations"] = [
            {"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in flavor.tolerated_taints
        ]
    if flavor.topology is not None:
        spec["topologyName"] = flavor.topology
    return spec


def cohort_spec(queues: model.QueuesPlan) -> Spec:
    """`spec` of the Cohort, with quota that no team owns."""
    return {"resourceGroups": _groups(queues, queues.shared)} if queues.shared else {}


def cluster_queue_spec(queues: model.QueuesPlan, queue: model.ClusterQueuePlan) -> Spec:
    """`spec` of a ClusterQueue, with explicit preemption."""
    spec: Spec = {
        "cohortName": queues.cohort,
        "queueingStrategy": queues.strategy,
        "namespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(queue.namespaces)}
            ]
        },
        "preemption": {
            "withinClusterQueue": queues.preemption.within_cluster_queue,
            "reclaimWithinCohort": queues.preemption.reclaim_within_cohort,
            "borrowWithinCohort": {"policy": queues.preemption.borrow_within_cohort},
        },
        "resourceGroups": _groups(queues, queue.flavors),
    }
    if queue.weight is not None:
        # Kueue treats a weight of 0 differently: other teams would always reclaim quota from this team first.
        spec["fairSharing"] = {"weight": canonical(f"{max(queue.weight, 0.001):f}")}
    if queue.checks:
        spec["admissionChecksStrategy"] = {
            "admissionChecks": [
                {"name": check.check, **({"onFlavors": list(check.flavors)} if check.flavors else {})}
                for check in queue.checks
            ]
        }
    return spec


def check_spec(controller: str, kind: str, config: str) -> Spec:
    """`spec` of an AdmissionCheck of one of Kueue's controllers, which an object of this kind configures."""
    parameters = {"apiGroup": API_VERSION.partition("/")[0], "kind": kind, "name": config}
    return {"controllerName": f"kueue.x-k8s.io/{controller}", "parameters": parameters}


def slice_check_spec() -> Spec:
    """`spec` of the AdmissionCheck of Kueue's slice controller, which has no parameters."""
    return {"controllerName": "accelerator.gke.io/slice"}


def provisioning_spec(plan: model.ProvisioningPlan) -> Spec:
    """`spec` of a ProvisioningRequestConfig."""
    values = {"$resources": list(plan.managed_resources), "$seconds": str(plan.max_run_seconds)}
    return dict(filled(read_data("tpuplane.addons", "provisioning"), values))


def _groups(queues: model.QueuesPlan, quotas: tuple[model.FlavorQuotaPlan, ...]) -> list[Spec]:
    """One group, because a pod set gets the resources of a group from one flavor: chips and CPUs of the same hosts."""
    of_flavors = [{"name": quota.flavor, "resources": list(map(_quota, quota.resources))} for quota in quotas]
    return [{"coveredResources": list(queues.covered), "flavors": of_flavors}]


def _quota(quota: model.ResourceQuotaPlan) -> Spec:
    values: Spec = {"name": quota.resource, "nominalQuota": quota.quantity(quota.nominal)}
    if quota.borrowing_limit is not None:
        values["borrowingLimit"] = quota.quantity(quota.borrowing_limit)
    if quota.lending_limit is not None:
        values["lendingLimit"] = quota.quantity(quota.lending_limit)
    return values
