"""The operators that a cluster runs: Kueue, JobSet and KubeRay, each the real program as a local process."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpuplane_twin.cluster import manifests
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.identities import Identity
from tpuplane_twin.cluster.layout import LOOPBACK, Layout, answers
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.machine.processes import ProcessSpec

_KUEUE_INTEGRATIONS = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "pod",
    "deployment",
    "statefulset",
)
# Kueue's manifests also bear webhooks for these; their controllers are not in the twin.
_KUEUE_NOT_INTEGRATED = frozenset(
    {"kubeflow.org", "trainer.kubeflow.org", "leaderworkerset.x-k8s.io", "workload.codeflare.dev"}
)


@dataclass(frozen=True, slots=True)
class Operator:
    """How one operator becomes a process.

    `manifests` is a folder of its Go module; `configure` writes its configuration and gives its arguments;
    `webhooks` tells whether it serves any, `off` the API groups whose webhooks are left out; `own_objects` are
    objects of the twin's own making.
    """

    name: str
    manifests: str
    namespace: str
    service_account: str
    configure: Callable[[Layout], list[str]]
    webhooks: bool = True
    off: frozenset[str] = frozenset()
    own_objects: Callable[[Layout], list[Object]] = lambda _: []
    memory_mib: int = 256

    @property
    def identity(self) -> Identity:
        """The ServiceAccount the operator acts as; its own RBAC is all it may do."""
        return Identity.service_account(self.name, self.namespace, self.service_account)

    @property
    def ports(self) -> tuple[str, ...]:
        """What the operator listens for."""
        return (f"{self.name}-health", *((f"{self.name}-webhook",) if self.webhooks else ()))

    def spec(self, layout: Layout) -> ProcessSpec:
        """The process; ready when it says so, webhooks included."""
        health = f"http://{layout.address(f'{self.name}-health')}/readyz"

        async def ready() -> bool:
            return await answers(health)

        argv = [
            str(layout.tools.binary(self.name)),
            f"--kubeconfig={layout.kubeconfig(self.name)}",
            *self.configure(layout),
        ]
        return ProcessSpec(
            layout.process(self.name),
            tuple(argv),
            layout.log(self.name),
            layout.environment(memory_mib=self.memory_mib),
            ready=ready,
        )

    async def objects(self, layout: Layout) -> list[Object]:
        """The operator's namespace, CRDs, RBAC and webhook configurations, pointing at the process."""
        rendered = await manifests.render(
            layout.tools.binary("kubectl"), layout.tools.module(self.name) / self.manifests
        )
        url = f"https://{layout.address(f'{self.name}-webhook')}" if self.webhooks else None
        items = manifests.for_process(
            rendered, webhooks=url, authority=_authority(layout, self).pem, namespace=self.namespace
        )
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        if not any(item["kind"] == "Namespace" for item in items):
            items.insert(0, namespace)
        return [*manifests.without_webhooks_for(items, self.off), *self.own_objects(layout)]

    def fingerprint(self, layout: Layout) -> tuple[str, ...]:
        """What `objects` depends on: when it is unchanged, there is nothing to apply."""
        ports = (str(layout.port(use)) for use in self.ports)
        return (str(layout.tools.module(self.name)), _authority(layout, self).pem, *ports)


def _authority(layout: Layout, operator: Operator) -> Authority:
    # Named, and with a key, as Kueue's rotator wants it. Not the cluster's own authority: Kueue keeps this one's
    # key in a Secret.
    return Authority(layout.folder / "pki" / operator.name, f"{operator.name}-ca", use_rsa=True)


def _certificates(layout: Layout, operator: Operator) -> Path:
    hosts = (LOOPBACK, f"{operator.name}-webhook-service.{operator.namespace}.svc")
    return _authority(layout, operator).issue("tls", hosts=hosts).certificate.parent


def _controller(layout: Layout, operator: Operator) -> dict[str, Any]:
    return {
        "health": {"healthProbeBindAddress": layout.address(f"{operator.name}-health")},
        "metrics": {"bindAddress": "0"},
        "webhook": {
            "host": LOOPBACK,
            "port": layout.port(f"{operator.name}-webhook"),
            "certDir": str(_certificates(layout, operator)),
        },
        "leaderElection": {"leaderElect": False},
    }


def _kueue(layout: Layout) -> list[str]:
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **_controller(layout, KUEUE),
        "clientConnection": {"qps": 5000, "burst": 5000},
        "integrations": {"frameworks": list(_KUEUE_INTEGRATIONS)},
        # Without its own certificate management Kueue insists on certificates below /etc. With it, it takes
        # those of the Secret that `_kueue_secret` makes, finds them valid, and leaves them alone.
        "internalCertManagement": {"enable": True},
        # The visibility server cannot be kept on loopback.
        "featureGates": {"VisibilityOnDemand": False},
    }
    return [f"--config={layout.config('kueue', configuration)}", "--zap-log-level=1"]


def _kueue_secret(layout: Layout) -> list[Object]:
    folder = _certificates(layout, KUEUE)
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "kueue-webhook-server-cert", "namespace": KUEUE.namespace},
            "data": {
                name: base64.b64encode((folder / name).read_bytes()).decode()
                for name in ("ca.crt", "ca.key", "tls.crt", "tls.key")
            },
        }
    ]


def _jobset(layout: Layout) -> list[str]:
    configuration = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        **_controller(layout, JOBSET),
        "clientConnection": {"qps": 2000, "burst": 2000},
        "internalCertManagement": {"enable": False},
    }
    return [f"--config={layout.config('jobset', configuration)}", "--zap-log-level=info"]


def _kuberay(layout: Layout) -> list[str]:
    return [
        "--metrics-addr=0",
        f"--health-probe-bind-address={layout.address('kuberay-health')}",
        "--enable-leader-election=false",
        "--qps=2000",
        "--burst=2000",
        # Else it looks up …svc.cluster.local with this machine's resolver.
        "--use-kubernetes-proxy",
    ]


KUEUE = Operator(
    "kueue",
    "config/default",
    "kueue-system",
    "kueue-controller-manager",
    _kueue,
    off=_KUEUE_NOT_INTEGRATED,
    own_objects=_kueue_secret,
)
JOBSET = Operator("jobset", "config/default", "jobset-system", "jobset-controller-manager", _jobset)
# Its webhooks listen on every interface, so they stay off; the TPU webhook checks what concerns TPUs.
KUBERAY = Operator("kuberay", "config/default", "ray-system", "kuberay-operator", _kuberay, webhooks=False)

OPERATORS = {operator.name: operator for operator in (KUEUE, JOBSET, KUBERAY)}
