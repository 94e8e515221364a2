"""Ray's worker groups: a replica is a slice with several pods, or a pod on a GPU node."""

from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from tpuplane.spec.core.fields import reject
from tpuplane.workloads.accelerators import GpuGroupSpec, SliceGroupSpec
from tpuplane.workloads.pods import MOST_REPLICAS, Manifest, pod_spec
from tpuplane.workloads.ray_dashboard import keep_libtpu_logs

_MXLA_PORT = 8081  # libtpu's own, between the hosts of a slice


class Scale(NamedTuple):
    """Replicas of a group: at the start, minimum and maximum."""

    start: int
    fewest: int
    most: int
    names: tuple[str, str, str]
    """The names of their fields."""

    @classmethod
    def of(cls, names: tuple[str, str, str], start: int, fewest: int | None, most: int | None) -> Self:
        """The scale of a group. By default, a group does not scale."""
        return cls(start, start if fewest is None else fewest, max(start, 1) if most is None else most, names)

    def check(self) -> None:
        """Raise a pydantic error if the start is out of its range."""
        if not self.fewest <= self.start <= self.most:
            given, least, top = self.names
            raise reject(f"{given}: {self.start} is not between {least} {self.fewest} and {top} {self.most}")


class WorkerGroupSpec(SliceGroupSpec):
    """A Ray worker group of slices with the same shape. Each slice is a replica, added and removed as a whole."""

    slices: Annotated[int, Field(ge=0, le=MOST_REPLICAS)] = 1
    """Slices at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_slices: Annotated[int, Field(ge=0, le=MOST_REPLICAS)] | None = None
    """Minimum of slices. Default: `slices`."""

    max_slices: Annotated[int, Field(ge=1, le=MOST_REPLICAS)] | None = None
    """Maximum of slices. A maximum above the minimum needs `autoscaling`. Default: `slices`."""

    @model_validator(mode="after")
    def _check_scale(self) -> Self:
        self.scale.check()
        return self

    @property
    def scale(self) -> Scale:
        """How many slices."""
        return Scale.of(("slices", "minSlices", "maxSlices"), self.slices, self.min_slices, self.max_slices)


class GpuWorkerGroupSpec(GpuGroupSpec):
    """A Ray worker group on GPU nodes: equal pods, each with all GPUs of a node or with a part of one GPU."""

    replicas: Annotated[int, Field(ge=0, le=MOST_REPLICAS)] = 1
    """Pods at the start. Default 1, at most 100,000; 0 needs `autoscaling`."""

    min_replicas: Annotated[int, Field(ge=0, le=MOST_REPLICAS)] | None = None
    """Minimum of pods. Default: `replicas`."""

    max_replicas: Annotated[int, Field(ge=1, le=MOST_REPLICAS)] | None = None
    """Maximum of pods. A maximum above the minimum needs `autoscaling`. Default: `replicas`."""

    @model_validator(mode="after")
    def _check_scale(self) -> Self:
        self.scale.check()
        return self

    @property
    def scale(self) -> Scale:
        """How many pods."""
        names = ("replicas", "minReplicas", "maxReplicas")
        return Scale.of(names, self.replicas, self.min_replicas, self.max_replicas)


def worker_group(name: str, group: WorkerGroupSpec | GpuWorkerGroupSpec) -> Manifest:
    """An entry of a RayCluster's `workerGroupSpecs`."""
    if isinstance(group, WorkerGroupSpec):
        hosts = group.slice.hosts
        pod = pod_spec(group, "ray-worker", {"ports": [{"name": "mxla", "containerPort": _MXLA_PORT}]})
        keep_libtpu_logs(pod)
    else:
        hosts, pod = 1, pod_spec(group, "ray-worker", {})
    return {
        "groupName": name,
        "replicas": group.scale.start,
        "minReplicas": group.scale.fewest,
        "maxReplicas": group.scale.most,
        "numOfHosts": hosts,
        "rayStartParams": {},
        "template": {"spec": pod},
    }
