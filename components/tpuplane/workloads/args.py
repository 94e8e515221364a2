"""What a program passes to `RayCluster`, `RayJob`, `RayService` and `Multislice`: the fields of their specs."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict


class PrometheusHeadersArgs(TypedDict):
    """A key of a Secret in the Ray cluster's namespace."""

    secret: str
    """The Secret's name. It exists already: what it holds never comes into a program's state."""

    key: NotRequired[str]
    """Its key, which holds the headers as a JSON object. Default headers."""


class DashboardArgs(TypedDict):
    """Charts in Ray's dashboard: Grafana draws them, of what a Prometheus answers. Both exist already."""

    grafana_host: str
    """Grafana's address, as the head reaches it."""

    grafana_iframe_host: NotRequired[str]
    """Grafana's address, as the browsers reach it that show the dashboard. Default: `grafanaHost`."""

    grafana_org_id: NotRequired[int]
    """Grafana's organization. Default 1."""

    prometheus_host: NotRequired[str]
    """The Prometheus that the head asks. Default: the frontend of the add-on `monitoring`."""

    prometheus_name: NotRequired[str]
    """Name of Grafana's data source. Default Prometheus."""

    prometheus_headers: NotRequired[PrometheusHeadersArgs]
    """Headers that the Prometheus wants, from a Secret. Default: none."""


class HeadArgs(TypedDict):
    """The Ray head: without chips, so on any node without a taint that has room. In a queue on the system pool, or in a
    cluster of somebody else's, which has none of ours, on any Linux node; once the CPUs of its team there are used up,
    Kueue gives it those of TPU or GPU hosts in which the team has a quota."""

    image: NotRequired[str]
    """Default: that of the first worker group."""

    cpu: NotRequired[int]
    """CPUs. Default 2: with the memory, it fits the default system machine (e2-standard-4)."""

    memory_gb: NotRequired[int]
    """Memory in GB of 2^30 bytes. Default 8."""

    dashboard: NotRequired[DashboardArgs]
    """Charts in Ray's dashboard. Default: none."""


class PodsArgs(TypedDict):
    """Equal pods, each on a host with accelerators or on its part of one. A change of any of them replaces a Multislice
    or a RayJob; a RayService changes over to a new cluster; a RayCluster's running pods stay as they are, unless it is
    in a queue."""

    machine_type: NotRequired[str]
    """Machine type of the hosts. Default: as for a pool."""

    image: str
    """Container image."""

    capacity: NotRequired[str]
    """Run on hosts bought in this way only. Default: on any. `reservation` needs the reservation's name. `on-demand`
    does not keep a Ray slice of several hosts off reserved ones, unless a queue does: GKE's TPU webhook writes its own
    affinity over that of such pods."""

    reservation: NotRequired[str]
    """Run on hosts of this reservation only. Only with capacity: reservation."""

    compute_class: NotRequired[str]
    """Run where this compute class puts it. Default: on pools with the hosts' labels. Not together with
    `capacity`."""

    cpu: NotRequired[int]
    """CPUs of each pod. Default: four fifths of its part of the host."""

    memory_gb: NotRequired[int]
    """Memory of each pod, in GB of 2^30 bytes. Default: four fifths of its part of the host."""

    env: NotRequired[Mapping[str, str]]
    """Environment of the container. What places a pod in its slice (TPU_WORKER_ID and the like) comes from GKE."""


class SliceGroupArgs(PodsArgs):
    """Pods on slices of one shape: one for each host, with all of the host's chips. A change of the shape does what one
    of the pods does."""

    generation: str
    """TPU generation, such as v6e."""

    topology: str
    """Chips of one slice along each axis, such as 4x4."""


class WorkerGroupArgs(SliceGroupArgs):
    """A Ray worker group: slices of one shape, each a replica that comes and goes as a whole."""

    slices: NotRequired[int]
    """Slices at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_slices: NotRequired[int]
    """Fewest slices. Default: as many as `slices`."""

    max_slices: NotRequired[int]
    """Most slices; more than the fewest needs `autoscaling`. Default: as many as `slices`."""


class SharedGpuArgs(TypedDict):
    """How pods share a GPU: as the pool that they are to run on has it."""

    strategy: str
    """TIME_SHARING: containers take turns. MPS: they run together, each with its part of the GPU."""

    max_clients: int
    """Containers on one GPU, or on one partition of it, from 2 to 48."""


class GpuWorkerGroupArgs(PodsArgs):
    """A Ray worker group on GPU nodes: equal pods, each with all GPUs of a node or with a part of one."""

    accelerator: NotRequired[str]
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it, such as nvidia-l4. Default: that of
    `machineType`."""

    gpus: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`, else the fewest that a machine with this accelerator has."""

    sharing: NotRequired[SharedGpuArgs]
    """Run on GPUs that are shared in this way. Default: on GPUs that are not shared."""

    partition_size: NotRequired[str]
    """Run on partitions of this size (multi-instance GPU), such as 1g.10gb. Default: on whole GPUs."""

    replicas: NotRequired[int]
    """Pods at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_replicas: NotRequired[int]
    """Fewest pods. Default: as many as `replicas`."""

    max_replicas: NotRequired[int]
    """Most pods; more than the fewest needs `autoscaling`. Default: as many as `replicas`."""


class RayClusterArgs(TypedDict):
    """A Ray cluster on slices, GPU nodes or both. A change of a field that says nothing of it replaces a RayJob, brings
    up a second cluster of a RayService, and reaches the later pods of a RayCluster, in a queue all of them."""

    namespace: str
    """Namespace that it runs in. A change replaces it."""

    ray_version: NotRequired[str]
    """Ray's version, where the image's tag does not say. Default: not said."""

    queue: NotRequired[str]
    """Local queue that admits it, head and slices together. Default: the namespace's own. A change replaces a RayJob;
    for a RayCluster that runs Kueue refuses it, and a RayService has it from its next cluster on."""

    priority_class: NotRequired[str]
    """Workload priority class. Default: none. A RayJob or RayCluster that runs takes another one in place, and Kueue
    refuses a first one then, and none where there was one always; a RayService has it from its next cluster on."""

    head: NotRequired[HeadArgs]
    """The head."""

    workers: NotRequired[Mapping[str, WorkerGroupArgs]]
    """Worker groups on slices, by name."""

    gpu_workers: NotRequired[Mapping[str, GpuWorkerGroupArgs]]
    """Worker groups on GPU nodes, by name."""

    config_maps: NotRequired[Mapping[str, str]]
    """ConfigMaps of the namespace, by the folder that head and workers see each in: programs and settings. Default:
    none."""

    buckets: NotRequired[Mapping[str, str]]
    """Cloud Storage buckets, by the folder that head and workers see each in: data and checkpoints. The cluster needs
    `storage: {gcsFuse: true}`, the namespace's default service account the right to write. Default: none."""

    autoscaling: NotRequired[bool]
    """Let Ray add and remove slices or pods between the fewest and the most of each group (autoscaler v2). Not
    together with `queue`. Default false."""

    idle_timeout_seconds: NotRequired[int]
    """Time without work after which Ray gives a slice or pod back. Default 300. Only with `autoscaling`."""


class RayJobArgs(TypedDict):
    """A program on a Ray cluster of its own, which comes with it and goes after it."""

    cluster: RayClusterArgs
    """The cluster. A change replaces the job, but for that of `priorityClass`."""

    entrypoint: str
    """Command that runs on the head, such as `python train.py`. A change replaces the job."""

    runtime_env: NotRequired[str]
    """Ray's runtime environment, a mapping in YAML. Default: none. A change replaces the job."""

    deadline_seconds: NotRequired[int]
    """End it after this time. Default: never. A change replaces the job."""

    retries: NotRequired[int]
    """Runs after the first, each on a new cluster. Default 0. A change replaces the job."""

    keep_seconds: NotRequired[int]
    """How long the cluster stays after the end, for its logs. Default 60: chips that nobody uses cost as much. Changed
    in place."""


class RayServiceArgs(TypedDict):
    """A Ray Serve application that is always there, and is upgraded without a gap."""

    cluster: RayClusterArgs
    """The cluster. A change that KubeRay cannot make in place brings up a second one before the first goes. Other
    numbers of slices or pods hold from the next cluster on."""

    serve_config: str
    """Ray Serve's configuration (`applications: …`), a mapping in YAML. Changed in place."""


class MultisliceArgs(SliceGroupArgs):
    """A program on one or more slices of one shape."""

    namespace: str
    """Namespace that it runs in. A change replaces it."""

    slices: NotRequired[int]
    """Slices, at most 100,000. More than one are joined over the data-centre network. Default 1. A change replaces
    it."""

    command: Sequence[str]
    """What every host runs. A change replaces it."""

    queue: NotRequired[str]
    """Local queue that admits it. Default: the namespace's own. A change replaces it."""

    priority_class: NotRequired[str]
    """Workload priority class. Default: none. Another one is changed in place; a first one Kueue refuses while it runs,
    and none where there was one always."""

    placement: NotRequired[str]
    """Who keeps each slice's pods on one node pool: Kueue, by topology, or JobSet, by affinity (`exclusive`), where
    the queue's flavors have no topology or there is no queue. Default topology. A change replaces it."""

    max_restarts: NotRequired[int]
    """How often all slices start again after a failure. Default 3; what host maintenance ends does not count. A
    change replaces it."""

    keep_seconds: NotRequired[int]
    """How long it stays after its end, in seconds. Default: until it is deleted. Changed in place while it is there; a
    `refresh` after that makes the next `up` run it anew."""

    set_megascale: NotRequired[bool]
    """Set the multislice environment (MEGASCALE_*, TPU_WORKER_*) here. Default false: GKE does. A change
    replaces it."""
