"""The real pods of all clusters of a twin, as their control planes know them."""

from dataclasses import dataclass

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.vpc import PrivateEndpoint, Vpc
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.pods import kubelet, metrics
from tpuplane_twin.pods.images import Images
from tpuplane_twin.pods.runner import Runner


@dataclass(frozen=True, slots=True)
class ProcessPods:
    """Pods of known images run as processes; see `cluster.real_pods`."""

    processes: ProcessManager
    vpc: Vpc
    images: Images

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports of each cluster."""
        return kubelet.PORT, metrics.PORT

    @property
    def selector(self) -> Object:
        """The requirement of a kwok stage."""
        return self.images.selector

    def runner(self, layout: Layout, services: str, place: PrivateEndpoint | None) -> Runner:
        """The runner of one cluster."""
        return Runner(layout, self.processes, self.images, services, self.vpc, place)
