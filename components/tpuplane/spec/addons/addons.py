"""The operators of a cluster, as the user writes them: Kueue, JobSet, KubeRay."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from tpuplane.spec.addons.catalogue import AddonDefinition, ComputeSpec, addon_catalogue
from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.durations import Duration, PositiveDuration
from tpuplane.spec.core.errors import choice, shown
from tpuplane.spec.core.fields import Name, Namespace, Spec, reject, text

_Operator = Annotated[
    T,
    Change(
        new="creates",
        removed="deletes-work",
        source="charts",
        says={
            "new": "Adding it installs the operator.",
            "removed": "Removing it deletes the operator and keeps CRDs and objects.",
        },
    ),
]
_Installed = Annotated[T, Change(new="creates", removed="deletes-work", source="charts")]
RayMode = Literal["gke-addon", "operator", "none"]
BatchScheduler = Literal["volcano", "yunikorn", "scheduler-plugins", "kai-scheduler"]

_LARGEST = 2**31 - 1  # Kueue's configuration has int32 for these numbers


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


def _own_name(value: str) -> str:
    if value in addon_catalogue().addons:
        raise reject(f"{shown(value)} is an add-on that tpuplane ships; choose another name")
    return value


Framework = Annotated[str, AfterValidator(_framework)]
KueueGates = dict[Annotated[str, _gate_of("kueue")], bool]
RayGates = dict[Annotated[str, _gate_of("ray")], bool]
OwnName = Annotated[Name, AfterValidator(_own_name)]


class OperatorResourcesSpec(Spec):
    """CPU and memory of one replica of an operator. The add-on has a default for each (docs/addons.md)."""

    requests: ComputeSpec = ComputeSpec()
    """Resource requests."""

    limits: ComputeSpec = ComputeSpec()
    """Resource limits."""


class RequeuingSpec(Spec):
    """Requeuing of workloads whose pods did not become ready in time."""

    backoff_limit_count: InPlace[Annotated[int, Field(ge=0, le=_LARGEST)] | None] = None
    """Number of attempts after which the workload is deactivated. Default: unlimited."""

    backoff_base_seconds: InPlace[Annotated[int, Field(ge=1, le=_LARGEST)]] = 60
    """Seconds before the first new attempt. The time doubles with each further attempt. Default 60."""

    backoff_max_seconds: InPlace[Annotated[int, Field(ge=1, le=_LARGEST)]] = 3600
    """Maximum seconds between two attempts. Default 3600."""


class WaitForPodsReadySpec(Spec):
    """All-or-nothing scheduling: Kueue evicts an admitted workload if its pods do not all become ready in time."""

    timeout: InPlace[PositiveDuration] = "15m"
    """Time in which all pods must become ready, more than 0. Default 15m, because GKE creates the nodes of a slice
    first."""

    recovery_timeout: InPlace[Duration | None] = None
    """Time in which a failed pod must become ready again. Default: the same as `timeout`."""

    block_admission: InPlace[bool] = False
    """Admit no other workload until the pods are ready. Default false."""

    requeuing: RequeuingSpec = RequeuingSpec()
    """Requeuing of evicted workloads."""


class ControllerSpec(Spec):
    """An operator with one or more replicas."""

    replicas: InPlace[Annotated[int, Field(ge=1, le=5)]] = 1
    """Number of replicas; one of them is the leader. With 2 or more, a PodDisruptionBudget keeps one running. Default
    1."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica."""


class KueueSpec(ControllerSpec):
    """Kueue: queues, quota and topology-aware admission of workloads."""

    feature_gates: InPlace[KueueGates] = Field(default_factory=dict)
    """Feature gates, on or off. Default: those of the release."""

    integrations: InPlace[tuple[Framework, ...] | None] = None
    """Kinds of workloads that Kueue manages. Default: those of Kubernetes (batch/job, pod, deployment, statefulset) and
    of the cluster's add-ons."""

    manage_jobs_without_queue_name: InPlace[bool] = False
    """Also suspend workloads without a queue name, so that quota applies to all work. Default false."""

    wait_for_pods_ready: InPlace[WaitForPodsReadySpec | None] = None
    """All-or-nothing scheduling of a workload's pods. Default: off."""

    metrics: InPlace[bool] = True
    """Collect metrics of the quota and usage of each queue. Default true."""

    certificates: InPlace[Literal["internal", "cert-manager"]] = "internal"
    """Certificates of the webhooks: internal (Kueue issues them) or cert-manager (required in the cluster). Default
    internal."""


class JobSetSpec(ControllerSpec):
    """JobSet: groups of jobs that start and restart together, one job for each slice."""


class LeaderWorkerSetSpec(ControllerSpec):
    """LeaderWorkerSet: groups of pods that serve one model together, one group for each slice."""

    replicas: InPlace[Annotated[int, Field(ge=1, le=5)]] = 1
    """Number of replicas; one of them is the leader. The chart has no PodDisruptionBudget. Default 1."""


class KueueSliceControllerSpec(Spec):
    """Kueue's slice controller: it creates Slices of tpu7x cubes for the jobs that Kueue admits. Needs `kueue`,
    `jobset` and the cluster's `sliceController`. While it does not run, the API server rejects each new Job."""

    image: InPlace[Annotated[str, *text("image")] | None] = None
    """Container image, for a mirror or a digest. Default: tpuongke/kueue-slice-controller:latest, as in GKE's
    manifest."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of its only replica."""


class RaySpec(Spec):
    """KubeRay: RayCluster, RayJob and RayService."""

    mode: Annotated[RayMode, Change(judge="ray", source="ray")] = "gke-addon"
    """Installation: gke-addon (Google's add-on, with the TPU webhook), operator (KubeRay's own chart) or none. Default
    gke-addon."""

    replicas: InPlace[Annotated[int, Field(ge=1, le=5)]] = 1
    """Number of replicas of the operator; one of them is the leader. Only with mode: operator. Default 1."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica. Only with mode: operator."""

    feature_gates: InPlace[RayGates] = Field(default_factory=dict)
    """Feature gates, on or off. Only with mode: operator. Default: those of the release."""

    batch_scheduler: InPlace[BatchScheduler | None] = None
    """Gang scheduler for Ray's pods, which must be installed in the cluster: volcano, yunikorn, scheduler-plugins or
    kai-scheduler. Only with mode: operator. Default: the scheduler of Kubernetes."""

    watch_namespaces: InPlace[tuple[Namespace, ...]] = ()
    """Namespaces of the Ray clusters that the operator manages. Only with mode: operator. Default: all."""

    tpu_webhook: Annotated[bool, Change(on="creates", off="deletes-work", source="charts")] = True
    """Install the TPU webhook. It sets the position of Ray's pods in a slice (worker ID, host names, topology,
    multislice variables) and keeps a slice on one node pool. cert-manager issues its certificate. Only with mode:
    operator, because Google's add-on includes it. Default true."""


class CertManagerSpec(Spec):
    """cert-manager: certificates for webhooks, from issuers in the cluster."""

    replicas: InPlace[Annotated[int, Field(ge=1, le=5)]] = 1
    """Number of replicas of the controller, the webhook and the injector. With 2 or more, PodDisruptionBudgets keep one
    of each running. Default 1."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of a replica of the controller."""


class LaunchAgentSpec(Spec):
    """The Launch agent of Weights & Biases. It takes jobs from Launch queues and starts them in teams' namespaces.
    Create its API key as the Secret `wandb-api-key-launch-agent` in the namespace `wandb`, under `password`."""

    queues: InPlace[Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]]
    """Launch queues of the agent."""

    teams: InPlace[Annotated[tuple[Name, ...], Field(min_length=1)]]
    """Teams in whose namespaces the agent may start jobs."""

    entity: InPlace[Annotated[str, Field(min_length=1)] | None] = None
    """Weights & Biases team or user that owns the queues. Default: the owner of the API key."""

    max_jobs: InPlace[Annotated[int, Field(ge=1, le=10**6)]] = 10
    """Maximum number of jobs that run at the same time. Default 10."""

    base_url: InPlace[Annotated[str, *text("httpsUrl")]] = "https://api.wandb.ai"
    """Address of the Weights & Biases API. Default https://api.wandb.ai."""

    resources: OperatorResourcesSpec = OperatorResourcesSpec()
    """CPU and memory of its only replica."""


class NamedDefinition(AddonDefinition):
    """A definition of the user's own. The description names the file that has it (`spec/addons/definitions.py`)."""

    frameworks: tuple[Framework, ...] = ()
    """Kinds of the operator that Kueue manages, by Kueue's names. Kueue is then installed after it. Default: none."""


class CustomAddonSpec(ControllerSpec):
    """An operator that tpuplane does not ship."""

    definition: InPlace[Annotated[NamedDefinition, WithJsonSchema({"type": "string", "minLength": 1})]]
    """Definition of the operator: a file of the project, by its path from the folder of Pulumi.yaml
    (addons/trainer.yaml), or the name of an add-on of an installed package."""


class MetricsFrontendSpec(Spec):
    """Google's frontend of Managed Service for Prometheus, which answers PromQL queries of Grafana and Ray's dashboard
    inside the cluster. It can read the project's metrics and does not authenticate its clients."""

    replicas: InPlace[Annotated[int, Field(ge=1, le=5)]] = 2
    """Number of replicas. With 2 or more, a PodDisruptionBudget keeps one running. Default 2."""

    image: InPlace[Annotated[str, *text("image")] | None] = None
    """Container image, for a mirror or a digest. Default: Google's, by the tag of its release."""


class MonitoringAddonSpec(Spec):
    """Managed Service for Prometheus collects metrics of TPU device plugins, Ray clusters of KubeRay's own operator,
    and Kueue."""

    interval_seconds: InPlace[Annotated[int, Field(ge=5, le=300)]] = 30
    """Collection interval in seconds. Default 30."""

    frontend: _Installed[MetricsFrontendSpec | None] = None
    """Frontend for PromQL queries inside the cluster. Default: not installed."""


class AddonsSpec(Spec):
    """The operators of a cluster. Each is a Helm release, installed in the order of their dependencies."""

    kueue: _Operator[KueueSpec | None] = None
    """Kueue, from its Helm chart. Default: not installed."""

    jobset: _Operator[JobSetSpec | None] = None
    """JobSet, from its Helm chart. Default: not installed."""

    leader_worker_set: _Operator[LeaderWorkerSetSpec | None] = None
    """LeaderWorkerSet, from its Helm chart. Default: not installed."""

    kueue_slice_controller: _Operator[KueueSliceControllerSpec | None] = None
    """Kueue's slice controller, by GKE's manifest. Default: not installed."""

    ray: RaySpec = RaySpec()
    """KubeRay. Default: GKE's Ray add-on."""

    cert_manager: Annotated[
        CertManagerSpec | None,
        Change(
            new="creates",
            removed="deletes-work",
            source="charts",
            says={"removed": "Removing it deletes cert-manager, but keeps its CRDs and certificates."},
        ),
    ] = None
    """cert-manager, from its Helm chart. Default: not installed."""

    launch_agent: _Installed[LaunchAgentSpec | None] = None
    """The Launch agent of Weights & Biases, from its Helm chart. Default: not installed."""

    custom: Annotated[
        dict[OwnName, CustomAddonSpec],
        Change(
            new="creates",
            removed="deletes-work",
            source="charts",
            says={
                "new": "A new name installs the operator.",
                "removed": "A removed name deletes the operator and keeps CRDs and objects.",
            },
        ),
    ] = Field(default_factory=dict)
    """Operators of your own, by their names."""

    monitoring: Annotated[MonitoringAddonSpec | None, Change(judge="monitoring", source="charts")] = None
    """Prometheus metrics of TPUs, Ray and Kueue. Default: not collected."""
