"""Add-ons: from what the user wants to releases, namespaces and chart values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.queue_model import ManagerPlan, QueuesPlan
from tpuplane.spec import (
    CertManagerSpec,
    ClusterSpec,
    JobSetSpec,
    KueueSpec,
    OperatorResourcesSpec,
    RaySpec,
    WaitForPodsReadySpec,
)
from tpuplane.spec.addons.catalogue import Addon, Chart, Probe, addon_catalogue
from tpuplane.spec.addons.checks import frameworks, installed

NAMESPACE_LABELS = {
    "app.kubernetes.io/managed-by": "tpuplane",
    # Operators ask for no more than this.
    "pod-security.kubernetes.io/enforce": "restricted",
}


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """The object that is sent as a dry run until the API server accepts it: then CRDs and webhooks answer."""

    group: str  # "kueue.x-k8s.io"
    version: str
    plural: str  # "resourceflavors"
    namespace: str | None  # None: it lives outside namespaces
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AddonPlan:
    """An operator that the platform installs by its Helm chart."""

    key: str  # key in the user's file: "kueue", "jobset", "ray", "rayTpuWebhook", …
    title: str
    chart: Chart
    namespace: str
    values: Mapping[str, Any]  # the chart's values
    after: tuple[str, ...]  # keys of those of this cluster that must be ready before
    probe: ProbePlan | None  # None: it brings no kinds
    namespace_by_chart: bool = False  # else the platform makes it
    secret: str | None = None  # in its namespace, made by no program: its pods wait for it, and no deployment does


PROBE_NAME = "tpuplane-probe"

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Context:
    """What an add-on's values are made from, in addition to its own data."""

    cluster: ClusterSpec
    node_selector: Values
    fair_sharing: bool
    manager: ManagerPlan | None


def addon_plans(
    cluster: ClusterSpec,
    system_pool: NodePoolPlan | None,
    queues: QueuesPlan | None,
    manager: ManagerPlan | None,
) -> tuple[AddonPlan, ...]:
    """The add-ons that the platform installs in a cluster, in their order.

    They run on the nodes of `system_pool`; in an existing cluster, which has no system pool, anywhere.
    """
    addons = installed(cluster)
    present = {addon.key for addon in addons}
    place = {GKE_POOL_LABEL: system_pool.name} if system_pool is not None else {}
    fair = queues is not None and queues.fair_sharing
    context = _Context(cluster, place, fair_sharing=fair, manager=manager)
    return tuple(
        AddonPlan(
            key=addon.key,
            title=addon.title,
            chart=addon.chart,
            namespace=addon.namespace,
            values=_VALUES[addon.key](addon, context),
            after=tuple(key for key in addon.after if key in present),
            probe=_probe(addon, addon.probe) if addon.probe else None,
            namespace_by_chart=addon.namespace_by_chart,
            secret=addon.secret,
        )
        for addon in addons
    )


def _probe(addon: Addon, probe: Probe) -> ProbePlan:
    metadata = {"name": PROBE_NAME, **({"namespace": addon.namespace} if probe.namespaced else {})}
    group, _, version = probe.api_version.partition("/")
    return ProbePlan(
        group=group,
        version=version,
        plural=probe.plural,
        namespace=addon.namespace if probe.namespaced else None,
        manifest={"apiVersion": probe.api_version, "kind": probe.kind, "metadata": metadata, "spec": probe.spec},
    )


def _resources(addon: Addon, wanted: OperatorResourcesSpec) -> Values:
    return {
        "requests": {**addon.requests, **wanted.requests.model_dump(exclude_none=True)},
        "limits": {**addon.limits, **wanted.limits.model_dump(exclude_none=True)},
    }


def _image(addon: Addon) -> Values:
    # A release never changes under its tag.
    return {"repository": addon.image.repository, "tag": addon.image.pinned, "pullPolicy": "IfNotPresent"}


def _budget(replicas: int) -> Values:
    # One replica under a budget would hold up every drain of its node.
    return {"enabled": replicas > 1, "minAvailable": 1}


def _gates(wanted: Mapping[str, bool]) -> list[Values]:
    return [{"name": name, "enabled": on} for name, on in wanted.items()]


def _jobset(addon: Addon, context: _Context) -> Values:
    spec = context.cluster.addons.jobset or JobSetSpec()
    return {
        "image": _image(addon),
        "controller": {
            "replicas": spec.replicas,
            "resources": _resources(addon, spec.resources),
            "podSecurityContext": {"runAsUser": addon.user},
            "nodeSelector": context.node_selector,
            "podDisruptionBudget": _budget(spec.replicas),
        },
    }


def _ray(addon: Addon, context: _Context) -> Values:
    spec: RaySpec = context.cluster.addons.ray
    values: Values = {
        "image": _image(addon),
        "replicas": spec.replicas,
        "resources": _resources(addon, spec.resources),
        "nodeSelector": context.node_selector,
        # The chart takes the list as a whole.
        "featureGates": _gates({**addon_catalogue().feature_gates["ray"], **spec.feature_gates}),
    }
    if spec.batch_scheduler is not None:
        values["batchScheduler"] = {"name": spec.batch_scheduler}
    if spec.watch_namespaces:
        values["watchNamespace"] = list(spec.watch_namespaces)
    return values


def _kueue(addon: Addon, context: _Context) -> Values:
    spec = context.cluster.addons.kueue or KueueSpec()
    configuration = _kueue_configuration(spec, context)
    return {
        "enableCertManager": spec.certificates == "cert-manager",
        "controllerManager": {
            "replicas": spec.replicas,
            "featureGates": _gates(spec.feature_gates),
            "manager": {
                "image": _image(addon),
                "resources": _resources(addon, spec.resources),
                "podSecurityContext": {"runAsUser": addon.user},
            },
            "nodeSelector": context.node_selector,
            "podDisruptionBudget": _budget(spec.replicas),
        },
        # The chart wants it as text. Sorted, so that it is the same text from one run to the next.
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(configuration, sort_keys=True)},
    }


def _kueue_configuration(spec: KueueSpec, context: _Context) -> Values:
    known = addon_catalogue()
    found: Values = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **copy.deepcopy(known.kueue["configuration"]),
        "integrations": {"frameworks": list(spec.integrations or frameworks(context.cluster))},
        "manageJobsWithoutQueueName": spec.manage_jobs_without_queue_name,
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": _system_namespaces()}
            ]
        },
    }
    found["metrics"]["enableClusterQueueResources"] = spec.metrics
    if spec.certificates == "cert-manager":
        found["internalCertManagement"] = {"enable": False}
    if context.fair_sharing:
        found["fairSharing"] = dict(known.kueue["fairSharing"])
    if context.manager is not None:
        found["multiKueue"] = {
            "dispatcherName": context.manager.dispatcher,
            "workerLostTimeout": context.manager.worker_lost_timeout,
            # By this name workers know whose jobs they run, and a manager finds those that it no longer has.
            "origin": context.manager.name,
        }
    if spec.wait_for_pods_ready is not None:
        found["waitForPodsReady"] = _wait_for_pods_ready(spec.wait_for_pods_ready)
    return found


def _system_namespaces() -> list[str]:
    """Namespaces that Kueue leaves alone: GKE's and the add-ons' own, whether this cluster has them or not."""
    known = addon_catalogue()
    return [*known.kueue["systemNamespaces"], *(addon.namespace for addon in known.addons.values())]


def _wait_for_pods_ready(spec: WaitForPodsReadySpec) -> Values:
    requeuing = spec.requeuing
    return {
        "timeout": spec.timeout,
        "recoveryTimeout": spec.recovery_timeout or spec.timeout,
        "blockAdmission": spec.block_admission,
        "requeuingStrategy": {
            "backoffLimitCount": requeuing.backoff_limit_count,
            "backoffBaseSeconds": requeuing.backoff_base_seconds,
            "backoffMaxSeconds": requeuing.backoff_max_seconds,
        },
    }


def _launch_agent(addon: Addon, context: _Context) -> Values:
    spec = context.cluster.addons.launch_agent
    if spec is None:
        raise ValueError("the cluster has no Launch agent")
    config: Values = {"queues": list(spec.queues), "max_jobs": spec.max_jobs, "builder": {"type": "noop"}}
    if spec.entity is not None:
        config["entity"] = spec.entity
    return {
        "namespace": addon.namespace,
        "baseUrl": spec.base_url,
        "launchConfig": yaml.safe_dump(config, sort_keys=True),
        # Its role includes every Secret of a namespace: in other namespaces the platform gives it a role.
        "additionalTargetNamespaces": [],
        "agent": {
            "useExternalWandbSecret": True,
            "image": f"{addon.image.repository}:{addon.image.pinned}",
            "imagePullPolicy": "IfNotPresent",
            "resources": _resources(addon, spec.resources),
            "nodeSelector": context.node_selector,
            # A budget that keeps the only replica would hold up every drain of its node.
            "minAvailable": 0,
        },
    }


def _cert_manager(addon: Addon, context: _Context) -> Values:
    spec = context.cluster.addons.cert_manager or CertManagerSpec()
    part = {"podDisruptionBudget": _budget(spec.replicas), "nodeSelector": context.node_selector}
    return {
        "crds": {"enabled": True},
        "global": {"leaderElection": {"namespace": addon.namespace}},
        # A job that waits for the webhook after an installation; the gate does.
        "startupapicheck": {"enabled": False},
        **part,
        "replicaCount": spec.replicas,
        "image": _image(addon),
        "resources": _resources(addon, spec.resources),
        "webhook": {**part, "replicaCount": spec.replicas},
        "cainjector": {**part, "replicaCount": spec.replicas},
    }


def _ray_tpu_webhook(addon: Addon, _context: _Context) -> Values:
    """The chart knows no node selector; TPU and GPU nodes have taints that it tolerates not."""
    return {
        "tpuWebhook": {
            "namespace": {"name": addon.namespace, "labels": NAMESPACE_LABELS},
            "image": _image(addon),
            "deployment": {"podSecurityContext": {"runAsNonRoot": True}},
        }
    }


_VALUES: Mapping[str, Callable[[Addon, _Context], Values]] = {
    "certManager": _cert_manager,
    "rayTpuWebhook": _ray_tpu_webhook,
    "jobset": _jobset,
    "ray": _ray,
    "kueue": _kueue,
    "launchAgent": _launch_agent,
}
