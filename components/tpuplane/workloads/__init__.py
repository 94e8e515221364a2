"""Workloads for slices and GPU nodes: Ray clusters, jobs and services, and multislice JobSets.

Pure: the results are manifests. `RayCluster`, `RayJob`, `RayService` and `Multislice` are the same as components.
"""

from tpuplane.workloads.accelerators import GpuGroupSpec, SliceGroupSpec
from tpuplane.workloads.jobset import MultisliceSpec, multislice_manifest
from tpuplane.workloads.pods import pod_spec
from tpuplane.workloads.ray import (
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)

__all__ = [
    "GpuGroupSpec",
    "MultisliceSpec",
    "RayClusterSpec",
    "RayJobSpec",
    "RayServiceSpec",
    "SliceGroupSpec",
    "multislice_manifest",
    "pod_spec",
    "ray_cluster_manifest",
    "ray_job_manifest",
    "ray_service_manifest",
]
