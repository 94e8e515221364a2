"""Work for slices: Ray clusters, jobs and services, and multislice JobSets, whose pods follow from the slice alone.

Pure: what comes out is a manifest. `RayCluster`, `RayJob`, `RayService` and `Multislice` are the same as components.
"""

from __future__ import annotations

from tpuplane.workloads.jobset import MultisliceSpec, multislice_manifest
from tpuplane.workloads.ray import (
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)
from tpuplane.workloads.slices import SliceGroupSpec, slice_pod

__all__ = [
    "MultisliceSpec",
    "RayClusterSpec",
    "RayJobSpec",
    "RayServiceSpec",
    "SliceGroupSpec",
    "multislice_manifest",
    "ray_cluster_manifest",
    "ray_job_manifest",
    "ray_service_manifest",
    "slice_pod",
]
