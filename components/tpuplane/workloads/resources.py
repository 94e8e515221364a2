"""Ray clusters, jobs and services and multislice programs as components: their manifests, and nothing decided."""

from typing import Any, TypeVar

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import ValidationError

from tpuplane.spec import SpecError
from tpuplane.spec.fields import Spec
from tpuplane.spec.translate import mistakes_of
from tpuplane.workloads.args import MultisliceArgs, RayClusterArgs, RayJobArgs, RayServiceArgs
from tpuplane.workloads.jobset import MultisliceSpec, multislice_manifest
from tpuplane.workloads.ray import (
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)

_Spec = TypeVar("_Spec", bound=Spec)


class RayCluster(pulumi.ComponentResource):
    """A Ray cluster whose worker groups are slices. The options say in which Kubernetes: `cluster.in_cluster()`.

    Raises `SpecError` if the description is wrong, before anything is registered.
    """

    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_cluster_manifest(name, _read(RayClusterSpec, args))
        super().__init__("tpuplane:index:RayCluster", name, {}, opts)
        self.resource = _make(self, name, manifest, opts)
        self.register_outputs({})


class RayJob(pulumi.ComponentResource):
    """A program on a Ray cluster of its own. A change of the program or of its slices runs it anew.

    Raises `SpecError` if the description is wrong, before anything is registered.
    """

    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_job_manifest(name, _read(RayJobSpec, args))
        super().__init__("tpuplane:index:RayJob", name, {}, opts)
        # KubeRay runs a RayJob once, and takes no change of what runs.
        self.resource = _make(self, name, manifest, opts, replace_on=["spec"])
        self.register_outputs({})


class RayService(pulumi.ComponentResource):
    """A Ray Serve application on slices.

    Raises `SpecError` if the description is wrong, before anything is registered.
    """

    def __init__(self, name: str, args: RayServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_service_manifest(name, _read(RayServiceSpec, args))
        super().__init__("tpuplane:index:RayService", name, {}, opts)
        self.resource = _make(self, name, manifest, opts)
        self.register_outputs({})


class Multislice(pulumi.ComponentResource):
    """A program on one or more slices, as a JobSet. A change runs it anew.

    Raises `SpecError` if the description is wrong, before anything is registered.
    """

    def __init__(self, name: str, args: MultisliceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = multislice_manifest(name, _read(MultisliceSpec, args))
        super().__init__("tpuplane:index:Multislice", name, {}, opts)
        # JobSet refuses to change its jobs.
        self.resource = _make(self, name, manifest, opts, replace_on=["spec"])
        self.register_outputs({})


def _read(spec: type[_Spec], args: Any) -> _Spec:
    try:
        return spec.model_validate(args)
    except ValidationError as error:
        raise SpecError(mistakes_of(error, spec)) from None


def _make(
    parent: pulumi.ComponentResource,
    name: str,
    manifest: dict[str, Any],
    opts: pulumi.ResourceOptions | None,
    replace_on: list[str] | None = None,
) -> kubernetes.apiextensions.CustomResource:
    """Make the object. What a component was told of its cluster does not reach its children by itself."""
    return kubernetes.apiextensions.CustomResource(
        name,
        api_version=manifest["apiVersion"],
        kind=manifest["kind"],
        metadata=manifest["metadata"],
        spec=manifest["spec"],
        opts=pulumi.ResourceOptions(
            parent=parent,
            provider=opts.provider if opts else None,
            deleted_with=opts.deleted_with if opts else None,
            replace_with=opts.replace_with if opts else None,
            depends_on=opts.depends_on if opts else None,
            replace_on_changes=replace_on,
            delete_before_replace=True,
        ),
    )
