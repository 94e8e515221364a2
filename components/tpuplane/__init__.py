"""TPU slices, node pools and platforms on GKE.

The names below are looked up when they are first used: the catalogue, the spec and the plan are pure, and the command
line, the policies and the twin use them without waiting for Pulumi and its providers to be imported.
"""

from __future__ import annotations

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

_HOMES = {
    "Cluster": "tpuplane.gke",
    "ClusterArgs": "tpuplane.gke",
    "ClusterRef": "tpuplane.gke",
    "ComputeClass": "tpuplane.gke",
    "ComputeClassArgs": "tpuplane.gke",
    "ExistingCluster": "tpuplane.gke",
    "ExistingClusterArgs": "tpuplane.gke",
    "GpuNodePool": "tpuplane.gke",
    "GpuNodePoolArgs": "tpuplane.gke",
    "Multislice": "tpuplane.workloads.resources",
    "MultisliceArgs": "tpuplane.args",
    "Network": "tpuplane.gke",
    "NetworkArgs": "tpuplane.gke",
    "Platform": "tpuplane.platform",
    "PlatformArgs": "tpuplane.platform",
    "PlatformPlan": "tpuplane.plan",
    "PlatformSpec": "tpuplane.spec",
    "RayCluster": "tpuplane.workloads.resources",
    "RayClusterArgs": "tpuplane.args",
    "RayJob": "tpuplane.workloads.resources",
    "RayJobArgs": "tpuplane.args",
    "RayService": "tpuplane.workloads.resources",
    "RayServiceArgs": "tpuplane.args",
    "Slice": "tpuplane.tpu",
    "SliceError": "tpuplane.tpu",
    "SpecError": "tpuplane.spec",
    "SubnetworkArgs": "tpuplane.gke",
    "SystemNodePool": "tpuplane.gke",
    "SystemNodePoolArgs": "tpuplane.gke",
    "TpuNodePool": "tpuplane.gke",
    "TpuNodePoolArgs": "tpuplane.gke",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
