"""Ray clusters, jobs and services and multislice programs as components: their manifests, and nothing decided."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import ValidationError

from tpuplane.args import MultisliceArgs, RayClusterArgs, RayJobArgs, RayServiceArgs
from tpuplane.description_error import in_plain_words
from tpuplane.spec import SpecError
from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.workloads.jobset import MULTISLICE_REPLACE_ON, MultisliceSpec, multislice_manifest
from tpuplane.workloads.ray import (
    RAY_JOB_REPLACE_ON,
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

    Changed in place, and running pods stay as they are: only later ones have another image, environment or resources.
    In a queue Kueue ends all pods when these or their numbers change, and admits the cluster anew; while it runs, Kueue
    refuses another queue and a first priority class, and none where there was one always. To start it anew, give it
    another name.

    Raises `SpecError` if the name or the description is wrong, before anything is registered.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_cluster_manifest(name, _read(RayClusterSpec, args))
        super().__init__("tpuplane:index:RayCluster", name, {}, opts)
        self.resource = _make(self, name, manifest, opts)
        self.register_outputs({})


class RayJob(pulumi.ComponentResource):
    """A program on a Ray cluster of its own. A change runs it anew, but for those of `keep_seconds` and
    `priority_class`.

    Raises `SpecError` if the name or the description is wrong, before anything is registered.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_job_manifest(name, _read(RayJobSpec, args))
        super().__init__("tpuplane:index:RayJob", name, {}, opts)
        self.resource = _make(self, name, manifest, opts, RAY_JOB_REPLACE_ON)
        self.register_outputs({})


class RayService(pulumi.ComponentResource):
    """A Ray Serve application on slices.

    A change of its pods brings up a second Ray cluster, and the first goes once that one serves. Another queue or
    priority class, and other numbers of slices or pods, hold from the next cluster on: alone they bring up none.

    Raises `SpecError` if the name or the description is wrong, before anything is registered.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = ray_service_manifest(name, _read(RayServiceSpec, args))
        super().__init__("tpuplane:index:RayService", name, {}, opts)
        self.resource = _make(self, name, manifest, opts)
        self.register_outputs({})


class Multislice(pulumi.ComponentResource):
    """A program on one or more slices, as a JobSet. A change runs it anew, but for those of `keep_seconds` and
    `priority_class`.

    Raises `SpecError` if the name or the description is wrong, before anything is registered.
    """

    @in_plain_words
    def __init__(self, name: str, args: MultisliceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = multislice_manifest(name, _read(MultisliceSpec, args))
        super().__init__("tpuplane:index:Multislice", name, {}, opts)
        self.resource = _make(self, name, manifest, opts, MULTISLICE_REPLACE_ON)
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
    replace_on: Sequence[str] = (),
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
            replace_on_changes=list(replace_on),
            delete_before_replace=True,
        ),
    )
