"""Ray clusters, jobs and services and multislice programs as components, which create the objects of the manifests."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import ValidationError

from tpuplane.args import MultisliceArgs, RayClusterArgs, RayJobArgs, RayServiceArgs
from tpuplane.gke.arguments import given, in_plain_words
from tpuplane.gke.resource_options import like
from tpuplane.spec import SpecError
from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.workloads import ray
from tpuplane.workloads.jobset import MULTISLICE_REPLACE_ON, MultisliceSpec, multislice_manifest

_Spec = TypeVar("_Spec", bound=Spec)


class _Workload(pulumi.ComponentResource):
    """The object of a manifest, with the component's options for its cluster, which children do not inherit."""

    def __init__(
        self,
        kind: str,
        name: str,
        manifest: dict[str, Any],
        opts: pulumi.ResourceOptions | None,
        replace_on: Sequence[str] = (),
    ) -> None:
        super().__init__(f"tpuplane:index:{kind}", name, {}, opts)
        self.resource = kubernetes.apiextensions.CustomResource(
            name,
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=like(opts, self, replace_on),
        )
        self.register_outputs({})


class RayCluster(_Workload):
    """A Ray cluster whose worker groups are slices. The option `cluster.in_cluster()` selects the Kubernetes cluster.

    Changed in place. Running pods do not change: only new pods get another image, environment or resources. In a queue,
    Kueue ends all pods after such a change, also of their number, and admits the cluster again. Kueue rejects another
    queue or a first priority class while the cluster runs, and always rejects the removal of the priority class. To
    recreate the cluster, give it another name.

    Raises `SpecError` if the name or the description is wrong, before the registration of resources.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("RayCluster", name, ray.ray_cluster_manifest(name, _read(ray.RayClusterSpec, args)), opts)


class RayJob(_Workload):
    """A program on its own Ray cluster. A change runs it again, except changes to `keep_seconds` and `priority_class`.

    Raises `SpecError` if the name or the description is wrong, before the registration of resources.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(
            "RayJob", name, ray.ray_job_manifest(name, _read(ray.RayJobSpec, args)), opts, ray.RAY_JOB_REPLACE_ON
        )


class RayService(_Workload):
    """A Ray Serve application on slices.

    A change to its pods starts a second Ray cluster, and the first is deleted when the second serves. Another queue or
    priority class, and other numbers of slices or pods, apply to the next cluster but do not start one.

    Raises `SpecError` if the name or the description is wrong, before the registration of resources.
    """

    @in_plain_words
    def __init__(self, name: str, args: RayServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("RayService", name, ray.ray_service_manifest(name, _read(ray.RayServiceSpec, args)), opts)


class Multislice(_Workload):
    """A program on one or more slices, as a JobSet. A change runs it again, except changes to `keep_seconds` and
    `priority_class`.

    Raises `SpecError` if the name or the description is wrong, before the registration of resources.
    """

    @in_plain_words
    def __init__(self, name: str, args: MultisliceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        manifest = multislice_manifest(name, _read(MultisliceSpec, args))
        super().__init__("Multislice", name, manifest, opts, MULTISLICE_REPLACE_ON)


def _read(spec: type[_Spec], args: Any) -> _Spec:
    try:
        return spec.model_validate(given(args))
    except ValidationError as error:
        raise SpecError(mistakes_of(error, spec)) from None
