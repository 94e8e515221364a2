"""GKE's Ray add-on: KubeRay's operator, the real program as a local process.

Its webhooks listen on every interface, so they stay off; the TPU webhook checks what concerns TPUs.
"""

from __future__ import annotations

from typing import Final

from tpuplane_twin.cluster import manifests
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.identities import Identity
from tpuplane_twin.cluster.layout import Layout, answers
from tpuplane_twin.machine.processes import ProcessSpec

NAME: Final = "kuberay"
HEALTH_PORT: Final = f"{NAME}-health"
_NAMESPACE: Final = "ray-system"
IDENTITY: Final = Identity.service_account(NAME, _NAMESPACE, "kuberay-operator")
"""The ServiceAccount that the operator acts as; its RBAC is all it may do."""


def process(layout: Layout) -> ProcessSpec:
    """The operator's process."""
    health = layout.address(HEALTH_PORT)

    async def ready() -> bool:
        return await answers(f"http://{health}/readyz")

    argv = (
        str(layout.tools.binary(NAME)),
        f"--kubeconfig={layout.kubeconfig(NAME)}",
        "--metrics-addr=0",
        f"--health-probe-bind-address={health}",
        "--enable-leader-election=false",
        "--qps=2000",
        "--burst=2000",
        # Else it looks up …svc.cluster.local with this machine's resolver.
        "--use-kubernetes-proxy",
    )
    environment = layout.environment(memory_mib=256)
    return ProcessSpec(layout.process(NAME), argv, layout.log(NAME), environment, ready=ready)


async def objects(layout: Layout) -> list[Object]:
    """The operator's namespace, CRDs and RBAC, as its module has them."""
    rendered = await manifests.render(layout.tools.binary("kubectl"), layout.tools.module(NAME) / "config" / "default")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    return [namespace, *manifests.for_process(rendered, _NAMESPACE)]
