"""What a program passes for a pool of GPU nodes: the fields of `tpuplane.spec`'s GPU pools. See `platform/args.py`."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from tpuplane.gke.pool_args import ExtraNetworkArgs, HostsArgs


class GpuAutoscalingArgs(TypedDict):
    """How far a pool scales, in nodes of each of its zones."""

    min_nodes: NotRequired[int]
    """Nodes that are kept running without work, in each zone. Default 0. Changed in place."""

    max_nodes: int
    """Nodes at full scale, in each zone. Changed in place."""


class GpuSharingArgs(TypedDict):
    """Several containers on one GPU: each asks for one `nvidia.com/gpu`, and the node offers as many more."""

    strategy: str
    """TIME_SHARING: containers take turns. MPS: they run together, each with its part of the GPU (NVIDIA's
    Multi-Process Service). A change replaces the pool."""

    max_clients: int
    """Containers on one GPU, or on one partition of it, from 2 to 48. A change replaces the pool."""


class GpuPoolArgs(HostsArgs):
    """Nodes of one machine type with GPUs: one GKE node pool, called like the pool."""

    accelerator: NotRequired[str]
    """GPU, as GKE's label cloud.google.com/gke-accelerator has it, such as nvidia-l4 or nvidia-h100-80gb. Default:
    that of `machineType`. A change replaces the pool."""

    gpus: NotRequired[int]
    """GPUs of one node. Default: those of `machineType`, else the fewest that a machine with this accelerator has.
    A change replaces the pool."""

    machine_type: NotRequired[str]
    """Machine type of the nodes. Default: the one with `accelerator` and `gpus` (nvidia-l4 with one GPU:
    g2-standard-12). Required where no accelerator is named. A change rolls the nodes, and replaces the pool where
    the GPUs change."""

    zones: NotRequired[Sequence[str]]
    """Zones of the nodes. Default: the cluster's zone, or the only zone of its region that is known to offer the
    machine. Changed in place."""

    nodes: NotRequired[int]
    """Number of nodes in each zone, fixed. Default 1. Not together with `autoscaling`. Changed in place."""

    autoscaling: NotRequired[GpuAutoscalingArgs]
    """Scale with the work instead of a fixed number of nodes. Not together with `nodes`."""

    driver: NotRequired[str]
    """NVIDIA driver that GKE installs: DEFAULT, LATEST, or INSTALLATION_DISABLED (install one yourself). Default
    DEFAULT. A change replaces the pool."""

    sharing: NotRequired[GpuSharingArgs]
    """Let several containers use one GPU. Default: one container each."""

    partition_size: NotRequired[str]
    """Divide each GPU into partitions of this size (multi-instance GPU), such as 1g.10gb: a container gets one of
    them. Default: whole GPUs. A change replaces the pool."""

    local_ssds: NotRequired[int]
    """Local SSDs of 375 GB for the pods' ephemeral storage. Default: those that come with the machine; none on G2
    and A2 High. A change replaces the pool."""

    compact_placement: NotRequired[bool]
    """Put the nodes close together, for traffic between them; one zone only. Default false. A change replaces the
    pool."""

    extra_networks: NotRequired[Sequence[ExtraNetworkArgs]]
    """Further network interfaces of each node, such as GPUDirect needs (4 on A3 High, 8 on A3 Mega, 9 on A3 Ultra
    and A4); switches multi-networking of the cluster on. Default: none. A change replaces the pool."""
