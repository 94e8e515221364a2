"""TPU slices, node pools and platforms on GKE.

Each name below is imported on first use. So the command line, the policies and the twin can use the catalogue, the spec
and the plan, which are pure, without the import of Pulumi and its providers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpuplane.args import MultisliceArgs, RayClusterArgs, RayJobArgs, RayServiceArgs
    from tpuplane.gke import (
        Cluster,
        ClusterArgs,
        ClusterRef,
        ComputeClass,
        ComputeClassArgs,
        ExistingCluster,
        ExistingClusterArgs,
        GpuNodePool,
        GpuNodePoolArgs,
        Network,
        NetworkArgs,
        SubnetworkArgs,
        SystemNodePool,
        SystemNodePoolArgs,
        TpuNodePool,
        TpuNodePoolArgs,
    )
    from tpuplane.plan import PlatformPlan
    from tpuplane.platform import Platform, PlatformArgs
    from tpuplane.spec import PlatformSpec, SpecError
    from tpuplane.tpu import Slice, SliceError
    from tpuplane.workloads.resources import Multislice, RayCluster, RayJob, RayService

__all__ = [
    "Cluster",
    "ClusterArgs",
    "ClusterRef",
    "ComputeClass",
    "ComputeClassArgs",
    "ExistingCluster",
    "ExistingClusterArgs",
    "GpuNodePool",
    "GpuNodePoolArgs",
    "Multislice",
    "MultisliceArgs",
    "Network",
    "NetworkArgs",
    "Platform",
    "PlatformArgs",
    "PlatformPlan",
    "PlatformSpec",
    "RayCluster",
    "RayClusterArgs",
    "RayJob",
    "RayJobArgs",
    "RayService",
    "RayServiceArgs",
    "Slice",
    "SliceError",
    "SpecError",
    "SubnetworkArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "TpuNodePool",
    "TpuNodePoolArgs",
]

_MODULES = {
    "tpuplane.args": ("MultisliceArgs", "RayClusterArgs", "RayJobArgs", "RayServiceArgs"),
    "tpuplane.plan": ("PlatformPlan",),
    "tpuplane.platform": ("Platform", "PlatformArgs"),
    "tpuplane.spec": ("PlatformSpec", "SpecError"),
    "tpuplane.tpu": ("Slice", "SliceError"),
    "tpuplane.workloads.resources": ("Multislice", "RayCluster", "RayJob", "RayService"),
}
_HOMES = dict.fromkeys(__all__, "tpuplane.gke") | {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
