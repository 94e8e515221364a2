"""What a program passes for a cluster's add-ons: the fields of `tpuplane.spec`'s add-ons. See `args`."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class ComputeArgs(TypedDict):
    """CPU and memory."""

    cpu: NotRequired[str]
    """CPUs, such as 500m or "2". Default: the add-on's own. Changed in place."""

    memory: NotRequired[str]
    """Memory, such as 512Mi. Default: the add-on's own. Changed in place."""


class OperatorResourcesArgs(TypedDict):
    """What one replica of an operator gets. What is left out is the add-on's default (docs/addons.md)."""

    requests: NotRequired[ComputeArgs]
    """What is set aside for it."""

    limits: NotRequired[ComputeArgs]
    """What it may use at most."""


class RequeuingArgs(TypedDict):
    """When a workload is tried again whose pods did not become ready."""

    backoff_limit_count: NotRequired[int]
    """How often it is tried again before it is deactivated. Default: without end. Changed in place."""

    backoff_base_seconds: NotRequired[int]
    """Seconds before the first new try; each further one waits twice as long. Default 60. Changed in place."""

    backoff_max_seconds: NotRequired[int]
    """Most seconds between two tries. Default 3600. Changed in place."""


class WaitForPodsReadyArgs(TypedDict):
    """All or nothing: an admitted workload whose pods do not all become ready in time gives its quota back."""

    timeout: NotRequired[str]
    """How long its pods may take to become ready, more than 0. Default 15m: a slice's nodes have to come first. Changed
    in place."""

    recovery_timeout: NotRequired[str]
    """How long a pod that was ready once may be missing. Default: as `timeout`. Changed in place."""

    block_admission: NotRequired[bool]
    """Admit nothing else meanwhile. Default false. Changed in place."""

    requeuing: NotRequired[RequeuingArgs]
    """When it is tried again."""


class KueueArgs(TypedDict):
    """Kueue: queues, quota and topology-aware admission of workloads."""

    replicas: NotRequired[int]
    """Replicas, of which one is the leader. From 2 on a disruption budget keeps one of them. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates of the release, on or off. Default: the release's own. Changed in place."""

    integrations: NotRequired[Sequence[str]]
    """Kinds that Kueue manages. Default: Kubernetes' own (batch/job, pod, deployment, statefulset) and those of the
    cluster's add-ons. Changed in place."""

    manage_jobs_without_queue_name: NotRequired[bool]
    """Hold workloads too that name no queue: nobody gets around quota. Default false. Changed in place."""

    wait_for_pods_ready: NotRequired[WaitForPodsReadyArgs]
    """All-or-nothing start of a workload's pods. Default: off. Changed in place."""

    metrics: NotRequired[bool]
    """Metrics of quota and usage of each queue. Default true. Changed in place."""

    certificates: NotRequired[str]
    """Who makes the webhook's certificates: internal (Kueue itself) or cert-manager (which the cluster must have).
    Default internal. Changed in place."""


class JobSetArgs(TypedDict):
    """JobSet: groups of jobs, one for each slice, that start and restart together."""

    replicas: NotRequired[int]
    """Replicas, of which one is the leader. From 2 on a disruption budget keeps one of them. Default 1. Changed in
    place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica."""


class RayArgs(TypedDict):
    """KubeRay: RayCluster, RayJob and RayService."""

    mode: NotRequired[str]
    """Who runs it: gke-addon (Google, with the webhook that tells pods their place in a slice), operator (KubeRay's
    own chart) or none. Default gke-addon. A change keeps no RayCluster."""

    replicas: NotRequired[int]
    """Replicas of the operator, of which one is the leader. Only with mode: operator. Default 1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica. Only with mode: operator."""

    feature_gates: NotRequired[Mapping[str, bool]]
    """Feature gates of the release, on or off. Only with mode: operator. Default: the release's own. Changed in
    place."""

    batch_scheduler: NotRequired[str]
    """Scheduler that places Ray's pods as a gang: volcano, yunikorn, scheduler-plugins or kai-scheduler, which the
    cluster must have. Only with mode: operator. Default: Kubernetes' own. Changed in place."""

    watch_namespaces: NotRequired[Sequence[str]]
    """Namespaces whose Ray clusters it runs. Only with mode: operator. Default: all. Changed in place."""

    tpu_webhook: NotRequired[bool]
    """Install the webhook that tells Ray's pods their place in a slice (worker id, host names, topology, what
    multislice needs) and keeps a slice on one node pool. It has its certificate from cert-manager. Only with mode:
    operator; Google's add-on has it. Default true. Changed in place."""


class CertManagerArgs(TypedDict):
    """cert-manager: certificates for webhooks, from issuers in the cluster."""

    replicas: NotRequired[int]
    """Replicas of its controller, its webhook and its injector. From 2 on a disruption budget keeps one of each.
    Default 1. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of a replica of its controller."""


class LaunchAgentArgs(TypedDict):
    """W&B's Launch agent: takes jobs from Launch queues of Weights & Biases and starts them in teams' namespaces. Its
    API key is a Secret that no program makes: `wandb-api-key-launch-agent` in `wandb`, under `password`."""

    queues: Sequence[str]
    """Launch queues that it takes jobs from. Changed in place."""

    teams: Sequence[str]
    """Teams in whose namespaces it may start jobs, and nowhere else. Changed in place."""

    entity: NotRequired[str]
    """W&B's team or user that the queues are of. Default: whose the API key is. Changed in place."""

    max_jobs: NotRequired[int]
    """Most jobs that it runs at a time. Default 10. Changed in place."""

    base_url: NotRequired[str]
    """W&B's API. Default https://api.wandb.ai. Changed in place."""

    resources: NotRequired[OperatorResourcesArgs]
    """CPU and memory of its only replica."""


class MetricsFrontendArgs(TypedDict):
    """Answers PromQL queries inside the cluster, for Grafana and Ray's dashboard: Google's frontend of Managed Service
    for Prometheus. It may read the project's metrics, and asks nobody who reads them through it."""

    replicas: NotRequired[int]
    """Replicas. From 2 on a disruption budget keeps one of them. Default 2. Changed in place."""

    image: NotRequired[str]
    """Its image, for a mirror or a digest. Default: Google's, by the tag of its release. Changed in place."""


class MonitoringAddonArgs(TypedDict):
    """Managed Service for Prometheus collects what TPU device plugins, KubeRay's own Ray clusters and Kueue measure."""

    interval_seconds: NotRequired[int]
    """Seconds between two collections. Default 30. Changed in place."""

    frontend: NotRequired[MetricsFrontendArgs]
    """Answers queries inside the cluster. Default: not installed."""


class AddonsArgs(TypedDict):
    """The operators of a cluster. Each is installed by its own release, in the order that they need."""

    kueue: NotRequired[KueueArgs]
    """Kueue, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    jobset: NotRequired[JobSetArgs]
    """JobSet, by its chart. Default: not installed. Removing it deletes the operator and keeps CRDs and objects."""

    ray: NotRequired[RayArgs]
    """KubeRay. Default: GKE's Ray add-on."""

    cert_manager: NotRequired[CertManagerArgs]
    """cert-manager, by its chart. Default: not installed. Removing it deletes it and keeps CRDs and certificates."""

    launch_agent: NotRequired[LaunchAgentArgs]
    """W&B's Launch agent, by its chart. Default: not installed."""

    monitoring: NotRequired[MonitoringAddonArgs]
    """Prometheus metrics of TPUs, Ray and Kueue. Default: not collected. Changed in place."""
