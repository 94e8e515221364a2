"""What a control plane needs of the pods that are real processes (`tpuplane_twin.pods`); all others are simulated."""

from collections.abc import Sequence
from typing import Protocol

from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.tunnel import Dialler
from tpuplane_twin.cluster.vpc import PrivateEndpoint


class PodRunner(Dialler, Protocol):
    """Runs the real pods of one cluster."""

    async def start(self, api: Api) -> None:
        """Follow the cluster's pods from here on; does nothing if it does. Raises `OSError` if a port is taken."""

    def running(self) -> dict[str, list[int]]:
        """The processes of the pods by namespace."""

    async def stop(self) -> None:
        """End every process. The pods remain, and continue at the next start."""


class RealPods(Protocol):
    """Which pods are real, and who runs them."""

    @property
    def ports(self) -> Sequence[str]:
        """The ports of each cluster that a runner needs."""

    @property
    def selector(self) -> Object:
        """The requirement of a kwok stage that a pod is real."""

    def runner(self, layout: Layout, services: str, place: PrivateEndpoint | None) -> PodRunner:
        """The runner of one cluster. `services` is its range of Services, `place` its address in the VPC."""
