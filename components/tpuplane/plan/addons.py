"""Add-ons: from the description to releases, namespaces and chart values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane.data_files import filled
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.queue_model import ManagerPlan, QueuesPlan
from tpuplane.spec import ClusterSpec
from tpuplane.spec.addons.addons import KueueSpec, LaunchAgentSpec, RaySpec, WaitForPodsReadySpec
from tpuplane.spec.addons.catalogue import Addon, Chart, addon_catalogue
from tpuplane.spec.addons.checks import awaited, frameworks, installed, kueue_gates, settings_of
from tpuplane.spec.core.yaml_writer import yaml_text

NAMESPACE_LABELS = {
    "app.kubernetes.io/managed-by": "tpuplane",
    # Operators ask for no more than this.
    "pod-security.kubernetes.io/enforce": "restricted",
}


Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AddonPlan:
    """An operator that the platform installs in a cluster."""

    key: str  # in the user's file; rayTpuWebhook is part of ray
    title: str
    chart: Chart
    values: Values  # of the chart
    namespace: str
    namespace_by_chart: bool  # the chart creates it
    after: tuple[str, ...]  # add-ons of the cluster that are ready before
    probe: Values | None  # a request that the API server accepts only after the webhooks answer; None without kinds
    secret: str | None  # of the user, that its pods wait for
    definition: Values | None = None  # of an operator that tpuplane does not ship
    build: str | None = None  # what `tpuplane-twin build --addon` names; None if every twin has it, or none can


def addon_plans(
    cluster: ClusterSpec,
    system_pool: NodePoolPlan | None,
    queues: QueuesPlan | None,
    manager: ManagerPlan | None,
    sources: Mapping[str, str],
) -> tuple[AddonPlan, ...]:
    """The add-ons that the platform installs in a cluster, in their order, with the values of their charts.

    They run on the nodes of `system_pool`; in an existing cluster, which has no system pool, anywhere.
    `sources` are the addresses of remote repositories, instead of the hosts in the names of their images.
    """
    addons, wanted = installed(cluster), cluster.addons
    own = {key: addon.definition.model_dump(by_alias=True, exclude_unset=True) for key, addon in wanted.custom.items()}
    values = {"ray": _ray(wanted.ray)}
    if wanted.kueue is not None:
        values["kueue"] = _kueue(wanted.kueue, cluster, queues, manager)
    if wanted.kueue_slice_controller is not None and wanted.kueue_slice_controller.image is not None:
        values["kueueSliceController"] = {"$imageName": wanted.kueue_slice_controller.image}
    if wanted.launch_agent is not None:
        values["launchAgent"] = _launch_agent(wanted.launch_agent)
    place = {GKE_POOL_LABEL: system_pool.name} if system_pool is not None else {}
    return tuple(
        AddonPlan(
            key=addon.key,
            title=addon.title,
            chart=addon.chart,
            values=filled(
                addon.values, {"$nodeSelector": place, **_common(addon, cluster, sources), **values.get(addon.key, {})}
            ),
            namespace=addon.namespace,
            namespace_by_chart=addon.namespace_by_chart,
            after=awaited(addon, addons),
            probe=addon.probe_request,
            secret=addon.secret,
            definition=own.get(addon.key),
            build=("DEFINITION" if addon.key in own else addon.key) if addon.go_module else None,
        )
        for addon in addons
    )


def _common(addon: Addon, cluster: ClusterSpec, sources: Mapping[str, str]) -> Values:
    image, spec = addon.image, settings_of(cluster.addons, addon.key)
    found: Values = {"$namespace": addon.namespace, "$namespaceLabels": NAMESPACE_LABELS, "$user": addon.user}
    if image is not None:
        # A release never changes under its tag.
        repository = image.repository
        host, _, path = repository.partition("/")
        if host != "localhost" and not {".", ":"} & set(host):
            host, path = "docker.io", repository  # as container runtimes complete it
        if host in sources:
            repository = f"{sources[host]}/{path}"
        found["$image"] = {"repository": repository, "tag": image.pinned, "pullPolicy": "IfNotPresent"}
        found["$imageName"] = f"{repository}:{image.pinned}"
        found |= {"$imageRepository": repository, "$imageTag": image.pinned}
    if spec is not None:
        replicas, wanted = getattr(spec, "replicas", 1), spec.resources
        found["$replicas"] = replicas
        # One replica under a budget would hold up every drain of its node.
        found["$budget"] = {"enabled": replicas > 1, "minAvailable": 1}
        found["$resources"] = {
            name: {
                **getattr(addon, name).model_dump(exclude_none=True),
                **getattr(wanted, name).model_dump(exclude_none=True),
            }
            for name in ("requests", "limits")
        }
    return found


def _gates(wanted: Mapping[str, bool]) -> list[Values]:
    return [{"name": name, "enabled": on} for name, on in wanted.items()]


def _ray(spec: RaySpec) -> Values:
    return {
        # The chart takes the list as a whole.
        "$featureGates": _gates({**addon_catalogue().feature_gates["ray"], **spec.feature_gates}),
        "$batchScheduler": {"name": spec.batch_scheduler} if spec.batch_scheduler is not None else None,
        "$watchNamespaces": list(spec.watch_namespaces) or None,
    }


def _kueue(spec: KueueSpec, cluster: ClusterSpec, queues: QueuesPlan | None, manager: ManagerPlan | None) -> Values:
    known = addon_catalogue()
    by_cert_manager = spec.certificates == "cert-manager"
    here = {addon.key for addon in installed(cluster)}
    configuration = filled(
        known.kueue["configuration"],
        {
            "$frameworks": list(spec.integrations or frameworks(cluster)),
            "$manageJobsWithoutQueueName": spec.manage_jobs_without_queue_name,
            # GKE's namespaces, and those of add-ons, whether this cluster has them or not. An add-on that waits for
            # Kueue needs this only where it is.
            "$systemNamespaces": [
                *known.kueue["systemNamespaces"],
                *(addon.namespace for key, addon in known.addons.items() if "kueue" not in addon.after or key in here),
                *(own.definition.namespace for own in cluster.addons.custom.values()),
            ],
            "$metrics": spec.metrics,
            "$internalCertManagement": {"enable": False} if by_cert_manager else None,
            "$fairSharing": dict(known.kueue["fairSharing"]) if queues is not None and queues.fair_sharing else None,
            "$multiKueue": _multi_kueue(manager),
            "$waitForPodsReady": _wait_for_pods_ready(spec.wait_for_pods_ready),
        },
    )
    return {
        "$certManager": by_cert_manager,
        "$featureGates": _gates(kueue_gates(spec)),
        # The chart wants it as text. Sorted, so that it is the same text from one run to the next.
        "$configuration": yaml_text(configuration, sort_keys=True),
    }


def _multi_kueue(manager: ManagerPlan | None) -> Values | None:
    """By `origin`, a worker knows the manager of a job, and a manager finds jobs in workers that it no longer has."""
    if manager is None:
        return None
    timeout = manager.worker_lost_timeout
    return {"dispatcherName": manager.dispatcher, "workerLostTimeout": timeout, "origin": manager.name}


def _wait_for_pods_ready(spec: WaitForPodsReadySpec | None) -> Values | None:
    if spec is None:
        return None
    return {
        **spec.model_dump(by_alias=True, exclude={"requeuing"}),
        "recoveryTimeout": spec.recovery_timeout or spec.timeout,
        "requeuingStrategy": spec.requeuing.model_dump(by_alias=True),
    }


def _launch_agent(spec: LaunchAgentSpec) -> Values:
    config: Values = {"queues": list(spec.queues), "max_jobs": spec.max_jobs, "builder": {"type": "noop"}}
    if spec.entity is not None:
        config["entity"] = spec.entity
    return {"$baseUrl": spec.base_url, "$launchConfig": yaml_text(config, sort_keys=True)}
