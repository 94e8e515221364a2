"""Names of resources and labels in Kubernetes. Pure, and quick to import."""

TPU = "google.com/tpu"
"""The resource of TPU hosts, in chips."""

GPU = "nvidia.com/gpu"
"""The resource of nodes with GPUs."""

UNITS = {TPU: "chip", GPU: "GPU", "cpu": "core"}
"""The units of resources, as nouns for `quantities.counted`."""


def plural(resource: str) -> str:
    """The unit of a resource for any number: `chips`; the name of the resource if it has no unit."""
    return f"{UNITS[resource]}s" if resource in UNITS else resource


GKE_POOL_LABEL = "cloud.google.com/gke-nodepool"
"""GKE's label of every node, with the name of its node pool."""

POOL_LABEL = "tpuplane-pool"
"""The pool that a node or a Google Cloud resource belongs to."""

PLATFORM_LABEL = "tpuplane-platform"
"""The platform that a Google Cloud resource belongs to."""

PURPOSE_LABEL = "tpuplane-purpose"
"""The purpose of a bucket."""

CAPACITY_LABEL = "tpuplane-capacity"
"""The capacity of a pool. GKE's labels of reserved and on-demand hosts are equal, but Kueue must distinguish them."""

CLASS_LABEL = "cloud.google.com/compute-class"
"""GKE's label, and the key of its taint, of nodes in a compute class."""

ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
"""GKE's label of TPU hosts with the type of their slice, such as tpu-v6e-slice."""

GPU_LABEL = "cloud.google.com/gke-accelerator"
"""GKE's label of nodes with GPUs, with their model."""

COUNT_LABEL = "cloud.google.com/gke-accelerator-count"
"""GKE's label of nodes with TPU chips or GPUs, with their number."""

PROVISIONING_LABEL = "cloud.google.com/gke-provisioning"
"""GKE's label of nodes with their capacity. Reserved hosts are also standard; RESERVATION_LABEL distinguishes them."""

REGION_LABEL = "topology.kubernetes.io/region"
"""Kubernetes' label of nodes with their region."""

HOSTNAME = "kubernetes.io/hostname"
"""Kubernetes' label of every node. On GKE its value is the node's name."""

MACHINE_LABEL = "node.kubernetes.io/instance-type"
"""Kubernetes' label of every node, with its machine type."""

MAINTENANCE_LABEL = "cloud.google.com/active-node-maintenance"
"""GKE's label of a node whose host is under maintenance."""

ANNOUNCED_LABEL = "cloud.google.com/scheduled-maintenance-time"
"""GKE's label of a node with the time, in Unix seconds, at which the maintenance of its host begins."""

OPERATORS = {
    "kueue-controller-manager": "Kueue",
    "jobset-controller": "JobSet",
    "jobset-controller-manager": "JobSet",
    "lws-controller-manager": "LeaderWorkerSet",
    "kuberay-operator": "KubeRay",
}
"""The operators of jobs by the names of their Deployments, in charts and in manifests."""

SLICE_TOPOLOGY = "cloud.google.com/gke-tpu-slice-topology"
"""The annotation of pods with the topology of their slice, if it is a part of the slice of the nodes, or if GKE's slice
controller makes it of cubes."""


def sub_slice_label(topology: str) -> str:
    """The label of TPU hosts with their sub-slice of this topology, which GKE's device plugin sets."""
    return f"cloud.google.com/gke-tpu-slice-{topology}-id"


def partition_label(topology: str) -> str:
    """The label of the hosts of a cube with their partition of this topology, which GKE's device plugin sets."""
    return f"cloud.google.com/gke-tpu-partition-{topology}-id"


def partition_state_label(topology: str) -> str:
    """The label of the hosts of a cube with the state of this partition, which GKE's slice controller sets."""
    return f"cloud.google.com/gke-tpu-partition-{topology}-state"


BLOCK_LABEL = "cloud.google.com/gce-topology-block"
"""GKE's label of reserved hosts with their block, an opaque name. Dynamic slicing joins cubes of one block."""

TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
"""GKE's label of TPU hosts with the topology of their slice. Hosts of a cube have it while they are in a slice."""

DYNAMIC_SLICE_LABEL = "cloud.google.com/gke-tpu-slice"
"""GKE's label of the hosts of a cube with the name of their slice, while they are in one."""

MODE_LABEL = "cloud.google.com/gke-accelerator-topology-mode"
"""GKE's label of the hosts of a cube for dynamic slicing, with the value PROVISION_ONLY."""

ZONE_LABEL = "topology.kubernetes.io/zone"
"""Kubernetes' label of nodes with their zone."""

REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
"""The annotation of pods by which Kueue keeps all of them on hosts with one value of a label."""

RESERVATION_LABEL = "cloud.google.com/reservation-name"
"""GKE's label of reserved hosts."""

QUEUED_LABEL = "cloud.google.com/gke-queued"
"""GKE's label, and the key of its taint, of nodes that only a ProvisioningRequest creates."""

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""The local queue of a job. Kueue sets the label if the namespace has a default queue."""

PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
"""The WorkloadPriorityClass of a job."""

_BOUGHT = {
    "on-demand": {PROVISIONING_LABEL: "standard"},
    "spot": {"cloud.google.com/gke-spot": "true"},
    "flex-start": {"cloud.google.com/gke-flex-start": "true"},
}


def bought_labels(capacity: str, reservation: str | None = None) -> dict[str, str]:
    """GKE's labels of hosts with this capacity, and with the reservation of this name or path."""
    own = {RESERVATION_LABEL: reservation_name(reservation)} if reservation is not None else {}
    return {**_BOUGHT.get(capacity, {}), **own}


def reservation_name(path: str) -> str:
    """The name in a path such as projects/P/reservations/NAME/reservationBlocks/B; a name is returned unchanged."""
    return path.rpartition("reservations/")[2].partition("/")[0]


DEFINITION = "tpuplane.dev/definition"
"""The annotation of an add-on's marker with the definition of a user's own operator."""

STOPPED_FOR = "tpuplane.dev/stopped-for-pools"
"""The annotation of a workload that is stopped to empty node pools, with their names. It outlives a killed command."""
