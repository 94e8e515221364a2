"""The operators of a cluster, as the user writes them: Kueue, JobSet, KubeRay."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.core.errors import choice, shown
from tpuplane.spec.core.fields import Name, Namespace, Spec, reject, text

RayMode = Literal["gke-addon", "operator", "none"]
BatchScheduler = Literal["volcano", "yunikorn", "scheduler-plugins", "kai-scheduler"]

_QUANTITY = re.compile(r"([0-9]+(\.[0-9]+)?|\.[0-9]+)(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
_UNITS = {None: Decimal(1), "m": Decimal("0.001"), "k": Decimal(1000)}
_UNITS |= {unit: Decimal(1000) ** power for power, unit in enumerate("MGT", start=2)}
_UNITS |= {f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGT", start=1)}
_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_DURATION_PART = re.compile(r"([0-9.]+)(ms|s|m|h)")
_NANOSECONDS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST = 2**63 - 1  # nanoseconds, as Go counts


def amount(quantity: str) -> Decimal:
    """A quantity as the number that it represents."""
    found = _QUANTITY.fullmatch(quantity)
    if found is None:
        raise ValueError(f"{quantity!r} is no quantity")
    return Decimal(found[1]) * _UNITS[found[3]]


def _duration(value: str) -> str:
    if not _DURATION.fullmatch(value):
        raise reject(f"{shown(value)} is not a duration; allowed: such as 90s, 10m or 1h30m")
    if _nanoseconds(value) > _LONGEST:
        raise reject(
            f"{shown(value)} is longer than Kueue can count; allowed: at most {_LONGEST // _NANOSECONDS['h']}h"
        )
    return value


def _some_time(value: str) -> str:
    if _nanoseconds(value) < 1:
        raise reject(f"{shown(value)} is no time, with which Kueue does not start; allowed: such as 90s, 10m or 1h30m")
    return value


def _nanoseconds(duration: str) -> Decimal:
    return sum((Decimal(count) * _NANOSECONDS[unit] for count, unit in _DURATION_PART.findall(duration)), Decimal(0))


def _framework(value: str) -> str:
    known = addon_catalogue().frameworks
    if value not in known:
        raise reject(choice(value, "a kind that Kueue can manage", known))
    return value


def _gate_of(addon: str) -> AfterValidator:
    def validate(value: str) -> str:
        known = addon_catalogue()
        if value not in known.feature_gates[addon]:
            release = known.addons[addon].chart.version
            raise reject(choice(value, f"a feature gate of release {release}", sorted(known.feature_gates[addon])))
        return value

    return AfterValidator(validate)


Quantity = Annotated[str, *text(_QUANTITY.pattern, "such as 500m or 2 (CPUs), 512Mi or 2Gi", "a Kubernetes quantity")]
Duration = Annotated[str, AfterValidator(_duration)]
PositiveDuration = Annotated[Duration, AfterValidator(_some_time)]
Framework = Annotated[str, AfterValidator(_framework)]
KueueGates = dict[Annotated[str, _gate_of("kueue")], bool]
RayGates = dict[Annotated[str, _gate_of("ray")], bool]


class ComputeSpec(Spec):
    """CPU and memory."""

    cpu: Quantity | None = None
    """CPUs, such as 500m or "2". Default: the add-on's own. Changed in place."""

    memory: Quantity | None = None
    """Memory, such as 512Mi. Default: the add-on's own. Changed in place."""


class OperatorResourcesSpec(Spec):
    """What one replica of an operator gets. What is left out is the add-on's default (docs/addons.md)."""

    requests: ComputeSpec = ComputeSpec()
    """What is set aside for it."""

    limits: ComputeSpec = ComputeSpec()
    """What it may use at most."""


class RequeuingSpec(Spec):
    """When a workload is tried again whose pods did not become ready."""

    backoff_limit_count: Annotated[int, Field(ge=0)] | None = None
    """How often it is tried again before it is deactivated. Default: without end. Changed in place."""

    backoff_base_seconds: Annotated[int, Field(ge=1)] = 60
    """Seconds before the first new try; each further one waits twice as long. Default 60. Changed in place."""

    backoff_max_seconds: Annotated[int, Field(ge=1)] = 3600
    """Most seconds between two tries. Default 3600. Changed in place."""


class WaitForPodsReadySpec(Spec):
    """All or nothing: an admitted workload whose pods do not all become ready in time gives its quota back."""

    timeout: PositiveDuration = "15m"
    """How long its pods may take to become ready, more than 0. Default 15m: a slice's nodes have to come first. Changed
    in place."""

    recovery_timeout: Duration | None = None
    """How long a pod that was ready once may be missing. Default: as `timeout`. Changed in place."""

    block_admission: bool = False
    """Admit nothing else meanwhile. Default false. Changed in place."""

    requeuing: RequeuingSpec = RequeuingSpec()
    """When it is tried again."""


class ControllerSpec(Spec):
    """An operator of one or more replicas."""

    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    """Replicas, of which one is the leader. From 2 on a disruption budget keeps one of them. Default 1. Changed in
    place."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica."""


class KueueSpec(ControllerSpec):
    """Kueue: queues, quota and topology-aware admission of workloads."""

    feature_gates: KueueGates = Field(default_factory=dict)
    """Feature gates of the release, on or off. Default: the release's own. Changed in place."""

    integrations: tuple[Framework, ...] | None = None
    """Kinds that Kueue manages. Default: Kubernetes' own (batch/job, pod, deployment, statefulset) and those of the
    cluster's add-ons. Changed in place."""

    manage_jobs_without_queue_name: bool = False
    """Hold workloads that name no queue too, so that quota holds for all. Default false. Changed in place."""

    wait_for_pods_ready: WaitForPodsReadySpec | None = None
    """All-or-nothing start of a workload's pods. Default: off. Changed in place."""

    metrics: bool = True
    """Metrics of quota and usage of each queue. Default true. Changed in place."""

    certificates: Literal["internal", "cert-manager"] = "internal"
    """Who makes the webhook's certificates: internal (Kueue itself) or cert-manager (which the cluster must have).
    Default internal. Changed in place."""


class JobSetSpec(ControllerSpec):
    """JobSet: groups of jobs, one for each slice, that start and restart together."""


class RaySpec(Spec):
    """KubeRay: RayCluster, RayJob and RayService."""

    mode: RayMode = "gke-addon"
    """Who runs it: gke-addon (Google, with the webhook that sets pods' place in a slice), operator (KubeRay's
    own chart) or none. Default gke-addon. A change keeps no RayCluster."""

    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    """Replicas of the operator, of which one is the leader. Only with mode: operator. Default 1. Changed in place."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica. Only with mode: operator."""

    feature_gates: RayGates = Field(default_factory=dict)
    """Feature gates of the release, on or off. Only with mode: operator. Default: the release's own. Changed in
    place."""

    batch_scheduler: BatchScheduler | None = None
    """Scheduler that places Ray's pods as a gang: volcano, yunikorn, scheduler-plugins or kai-scheduler, which the
    cluster must have. Only with mode: operator. Default: Kubernetes' own. Changed in place."""

    watch_namespaces: tuple[Namespace, ...] = ()
    """Namespaces whose Ray clusters it runs. Only with mode: operator. Default: all. Changed in place."""

    tpu_webhook: bool = True
    """Install the webhook that sets the place of Ray's pods in a slice (worker id, host names, topology, what
    multislice needs) and keeps a slice on one node pool. It has its certificate from cert-manager. Only with mode:
    operator; Google's add-on has it. Default true. Changed in place."""


class CertManagerSpec(Spec):
    """cert-manager: certificates for webhooks, from issuers in the cluster."""

    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    """Replicas of its controller, its webhook and its injector. From 2 on a disruption budget keeps one of each.
    Default 1. Changed in place."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica of its controller."""


class LaunchAgentSpec(Spec):
    """W&B's Launch agent: takes jobs from Launch queues of Weights & Biases and starts them in teams' namespaces. Its
    API key is a Secret that no program makes: `wandb-api-key-launch-agent` in `wandb`, under `password`."""

    queues: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    """Launch queues that it takes jobs from. Changed in place."""

    teams: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Teams in whose namespaces it may start jobs, and nowhere else. Changed in place."""

    entity: Annotated[str, Field(min_length=1)] | None = None
    """W&B's team or user that the queues are of. Default: whose the API key is. Changed in place."""

    max_jobs: Annotated[int, Field(ge=1)] = 10
    """Most jobs that it runs at a time. Default 10. Changed in place."""

    base_url: Annotated[str, Field(pattern=r"^https://[^\s/]+(/[^\s]*[^\s/])?$")] = "https://api.wandb.ai"
    """W&B's API. Default https://api.wandb.ai. Changed in place."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of its only replica."""


class MetricsFrontendSpec(Spec):
    """Answers PromQL queries inside the cluster, for Grafana and Ray's dashboard: Google's frontend of Managed Service
    for Prometheus. It may read the project's metrics, and does not authenticate its readers."""

    replicas: Annotated[int, Field(ge=1, le=5)] = 2
    """Replicas. From 2 on a disruption budget keeps one of them. Default 2. Changed in place."""

    image: Annotated[str, Field(pattern=r"^\S+$")] | None = None
    """Its image, for a mirror or a digest. Default: Google's, by the tag of its release. Changed in place."""


class MonitoringAddonSpec(Spec):
    """Managed Service for Prometheus collects what TPU device plugins, KubeRay's own Ray clusters and Kueue measure."""

    interval_seconds: Annotated[int, Field(ge=5, le=300)] = 30
    """Seconds between two collections. Default 30. Changed in place."""

    frontend: MetricsFrontendSpec | None = None
    """Answers queries inside the cluster. Default: not installed."""


class AddonsSpec(Spec):
    """The operators of a cluster. Each is installed by its own release, in the order that they need."""

    kueue: KueueSpec | None = None
    """Kueue, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    jobset: JobSetSpec | None = None
    """JobSet, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    ray: RaySpec = RaySpec()
    """KubeRay. Default: GKE's Ray add-on."""

    cert_manager: CertManagerSpec | None = None
    """cert-manager, by its chart. Default: not installed. Removing it deletes it and keeps CRDs and certificates."""

    launch_agent: LaunchAgentSpec | None = None
    """W&B's Launch agent, by its chart. Default: not installed."""

    monitoring: MonitoringAddonSpec | None = None
    """Prometheus metrics of TPUs, Ray and Kueue. Default: not collected. Changed in place."""
