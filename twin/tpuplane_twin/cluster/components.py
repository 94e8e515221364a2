"""Kubernetes' own processes: how etcd, the API server, the controllers, the scheduler and kwok are run.

Tuned for a cluster of simulated nodes on one machine: no fsync, no client-side or server-side throttling, no leases.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from tpuplane_twin.cluster import tunnel
from tpuplane_twin.cluster.addresses import kubernetes_address
from tpuplane_twin.cluster.identities import Identity
from tpuplane_twin.cluster.layout import LOOPBACK, Layout, answers
from tpuplane_twin.cluster.stages import stages
from tpuplane_twin.cluster.tpu_webhook import server
from tpuplane_twin.machine.processes import ProcessSpec

CONTROLLER_MANAGER = Identity("kube-controller-manager", "system:kube-controller-manager")
SCHEDULER = Identity("kube-scheduler", "system:kube-scheduler")
KWOK = Identity.service_account("kwok", "kube-system", "kwok-controller")
IDENTITIES = (CONTROLLER_MANAGER, SCHEDULER, KWOK)
PORTS = ("etcd", "etcd-peer", "apiserver", "kube-controller-manager", "kube-scheduler", "kwok", tunnel.PORT)

_QPS = 10_000
# Simulated pods use nothing: it would scale what they belong to down to its minimum.
_NOTHING_TO_DO = ("horizontal-pod-autoscaler-controller",)


def etcd(layout: Layout) -> ProcessSpec:
    """The store. A killed process loses nothing; without fsync, a machine that loses power may."""
    pair = layout.authority.issue("etcd")
    authority = layout.authority.pair.certificate
    client, peer = (f"https://{layout.address(use)}" for use in ("etcd", "etcd-peer"))
    argv = _flags(
        layout.tools.binary("etcd"),
        {
            "name": "etcd",
            "data-dir": layout.folder / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"etcd={peer}",
            # Both sides show a certificate, so that other users of this machine read no secret.
            "cert-file": pair.certificate,
            "key-file": pair.key,
            "client-cert-auth": "true",
            "trusted-ca-file": authority,
            "peer-cert-file": pair.certificate,
            "peer-key-file": pair.key,
            "peer-client-cert-auth": "true",
            "peer-trusted-ca-file": authority,
            "unsafe-no-fsync": "true",
            "quota-backend-bytes": 8 * 1024**3,
            "log-level": "warn",
        },
    )
    # Readiness is the API server's to find out: etcd's client is the only one with a certificate.
    return ProcessSpec(layout.process("etcd"), argv, layout.log("etcd"), layout.environment(memory_mib=512))


def api_server(layout: Layout, token: str, services: str, private: str | None) -> ProcessSpec:
    """The API server, with GKE's `ExtendedResourceToleration` and real RBAC; no anonymous requests.

    `services` is the range of the cluster's Services, `private` its address in the VPC. What is in the cluster it
    dials through the tunnel.
    """
    inside = "kubernetes.default.svc"
    names = ("kubernetes", "kubernetes.default", inside, f"{inside}.cluster.local")
    addresses = (LOOPBACK, "localhost", kubernetes_address(services), *([private] if private is not None else []))
    pair = layout.authority.issue("apiserver", hosts=(*addresses, *names))
    store = layout.authority.issue("etcd-client")
    aggregator = layout.aggregator
    proxy = aggregator.issue("front-proxy-client")
    kubelet = layout.authority.issue("kubelet-client")
    signer = layout.folder / "pki" / "service-accounts.key"
    argv = _flags(
        layout.tools.binary("kube-apiserver"),
        {
            "etcd-servers": f"https://{layout.address('etcd')}",
            "etcd-cafile": layout.authority.pair.certificate,
            "etcd-certfile": store.certificate,
            "etcd-keyfile": store.key,
            "bind-address": LOOPBACK,
            "advertise-address": LOOPBACK,
            "secure-port": layout.port("apiserver"),
            "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": services,
            "admission-control-config-file": _admission(layout),
            "egress-selector-config-file": layout.config("egress", tunnel.egress(layout)),
            # As on GKE: a webhook's Service means its ready pods, and an error names a Service without any.
            "enable-aggregator-routing": "true",
            "tls-cert-file": layout.authority.chained(pair, layout.trusted) if layout.trusted else pair.certificate,
            "tls-private-key-file": pair.key,
            "client-ca-file": layout.authority.pair.certificate,
            # By these an aggregated API (Kueue's visibility) knows the API server and the user of a request.
            "requestheader-client-ca-file": aggregator.pair.certificate,
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": proxy.certificate,
            "proxy-client-key-file": proxy.key,
            "kubelet-client-certificate": kubelet.certificate,
            "kubelet-client-key": kubelet.key,
            "token-auth-file": layout.credentials.token_file,
            "anonymous-auth": "false",
            "authorization-mode": "Node,RBAC",
            "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
            "service-account-key-file": signer,
            "service-account-signing-key-file": signer,
            "allow-privileged": "true",
            # GKE tolerates google.com/tpu for every pod that asks for it.
            "enable-admission-plugins": "ExtendedResourceToleration",
            # Nodes are posted Ready; the taint would only be put on to be taken off again.
            "disable-admission-plugins": "TaintNodesByCondition",
            "default-not-ready-toleration-seconds": 5,
            "default-unreachable-toleration-seconds": 5,
            "enable-priority-and-fairness": "false",
            "max-requests-inflight": 0,
            "max-mutating-requests-inflight": 0,
            "profiling": "false",
        },
    )
    ready = _ready(f"{layout.server}/readyz", layout, token)
    return ProcessSpec(
        layout.process("kube-apiserver"),
        argv,
        layout.log("kube-apiserver"),
        layout.environment(memory_mib=1024),
        ready=ready,
    )


def controller_manager(layout: Layout, trusted: Path) -> ProcessSpec:
    """Kubernetes' controllers, each acting as its own ServiceAccount; pods get the authorities in `trusted`."""
    pair = layout.authority.issue("kube-controller-manager")
    argv = _flags(
        layout.tools.binary("kube-controller-manager"),
        {
            "kubeconfig": layout.kubeconfig(CONTROLLER_MANAGER.key),
            "bind-address": LOOPBACK,
            "secure-port": layout.port("kube-controller-manager"),
            "tls-cert-file": pair.certificate,
            "tls-private-key-file": pair.key,
            "leader-elect": "false",
            "use-service-account-credentials": "true",
            "root-ca-file": trusted,
            "service-account-private-key-file": layout.folder / "pki" / "service-accounts.key",
            "kube-api-qps": _QPS,
            "kube-api-burst": _QPS,
            # Simulated nodes send no heartbeat: a node stays what its conditions say.
            "node-monitor-grace-period": "87600h",
            # A slice's hosts fail together; the usual one node per 10 s would take minutes to notice.
            "node-eviction-rate": 1000,
            "secondary-node-eviction-rate": 1000,
            "large-cluster-size-threshold": 0,
            "controllers": ",".join(["*", *(f"-{name}" for name in _NOTHING_TO_DO)]),
            "profiling": "false",
        },
    )
    return _with_health(layout, "kube-controller-manager", argv, memory_mib=512)


def scheduler(layout: Layout) -> ProcessSpec:
    """Kubernetes' scheduler with its default plugins."""
    pair = layout.authority.issue("kube-scheduler")
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(layout.kubeconfig(SCHEDULER.key)),
            "qps": _QPS,
            "burst": _QPS,
        },
        "enableProfiling": False,
    }
    argv = _flags(
        layout.tools.binary("kube-scheduler"),
        {
            "config": layout.config("kube-scheduler", config),
            "bind-address": LOOPBACK,
            "secure-port": layout.port("kube-scheduler"),
            "tls-cert-file": pair.certificate,
            "tls-private-key-file": pair.key,
        },
    )
    return _with_health(layout, "kube-scheduler", argv, memory_mib=512)


def kwok(layout: Layout) -> ProcessSpec:
    """kwok: keeps every node, and plays the kubelet for the pods bound to them."""
    options = {
        "manageAllNodes": True,
        # Used for a node without a podCIDR only, and there is none.
        "cidr": "127.0.1.0/24",
        "serverAddress": layout.address("kwok"),
        "enableDebuggingHandlers": False,
        "enableProfilingHandler": False,
        "nodeLeaseDurationSeconds": 0,
        # kwok 0.8 exits unless all of these are named.
        "podPlayStageParallelism": 32,
        "nodePlayStageParallelism": 16,
        "nodeLeaseParallelism": 16,
        "podsOnNodeSyncParallelism": 16,
    }
    configuration = {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": options,
    }
    documents = [configuration, *stages(layout.tools.module("kwok"), ray=layout.tools.ray is not None)]
    argv = _flags(
        layout.tools.binary("kwok"),
        {"kubeconfig": layout.kubeconfig(KWOK.key), "config": layout.config("kwok", *documents)},
    )
    return ProcessSpec(
        layout.process("kwok"),
        argv,
        layout.log("kwok"),
        layout.environment(memory_mib=512),
        ready=_ready(f"http://{layout.address('kwok')}/healthz", None, None),
    )


def _with_health(layout: Layout, name: str, argv: tuple[str, ...], memory_mib: int) -> ProcessSpec:
    return ProcessSpec(
        layout.process(name),
        argv,
        layout.log(name),
        layout.environment(memory_mib=memory_mib),
        ready=_ready(f"https://{layout.address(name)}/healthz", layout, None),
    )


def _ready(url: str, layout: Layout | None, token: str | None) -> Callable[[], Awaitable[bool]]:
    tls = layout.tls() if layout is not None else None

    async def ready() -> bool:
        return await answers(url, tls=tls, token=token)

    return ready


def _admission(layout: Layout) -> Path:
    """The kubeconfig with the client certificate that the API server shows to webhooks."""
    group = "apiserver.config.k8s.io/v1"
    shown = str(layout.config("webhook-clients", server.client(layout)))
    plugins = [
        {
            "name": name,
            "configuration": {"apiVersion": group, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": shown},
        }
        for name in ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
    ]
    return layout.config("admission", {"apiVersion": group, "kind": "AdmissionConfiguration", "plugins": plugins})


def _flags(binary: Path, flags: Mapping[str, object]) -> tuple[str, ...]:
    return (str(binary), *(f"--{name}={value}" for name, value in flags.items()))
