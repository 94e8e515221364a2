"""Kubernetes' own processes: how etcd, the API server, the controllers, the scheduler and kwok are run.

What is the same in every cluster is in `data/processes.yaml`; here are the files, addresses and ports of one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tpuplane.data_files import read_data

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


def etcd(layout: Layout) -> ProcessSpec:
    """The store."""
    pair = layout.authority.issue("etcd")
    authority = layout.authority.pair.certificate
    client, peer = (f"https://{layout.address(use)}" for use in ("etcd", "etcd-peer"))
    flags = {
        "data-dir": layout.folder / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"etcd={peer}",
        "cert-file": pair.certificate,
        "key-file": pair.key,
        "trusted-ca-file": authority,
        "peer-cert-file": pair.certificate,
        "peer-key-file": pair.key,
        "peer-trusted-ca-file": authority,
    }
    # The API server finds out whether it is ready: etcd's client is the only one with a certificate.
    return _process(layout, "etcd", flags, None)


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
    flags = {
        "etcd-servers": f"https://{layout.address('etcd')}",
        "etcd-cafile": layout.authority.pair.certificate,
        "etcd-certfile": store.certificate,
        "etcd-keyfile": store.key,
        "bind-address": LOOPBACK,
        "advertise-address": LOOPBACK,
        "secure-port": layout.port("apiserver"),
        "service-cluster-ip-range": services,
        "admission-control-config-file": _admission(layout),
        "egress-selector-config-file": layout.config("egress", tunnel.egress(layout)),
        "tls-cert-file": layout.authority.chained(pair, layout.trusted) if layout.trusted else pair.certificate,
        "tls-private-key-file": pair.key,
        "client-ca-file": layout.authority.pair.certificate,
        "requestheader-client-ca-file": aggregator.pair.certificate,
        "proxy-client-cert-file": proxy.certificate,
        "proxy-client-key-file": proxy.key,
        "kubelet-client-certificate": kubelet.certificate,
        "kubelet-client-key": kubelet.key,
        "token-auth-file": layout.credentials.token_file,
        "service-account-key-file": signer,
        "service-account-signing-key-file": signer,
    }
    return _process(layout, "kube-apiserver", flags, _ready(f"{layout.server}/readyz", layout, token))


def controller_manager(layout: Layout, trusted: Path) -> ProcessSpec:
    """Kubernetes' controllers, each acting as its own ServiceAccount; pods get the authorities in `trusted`."""
    flags = {
        "kubeconfig": layout.kubeconfig(CONTROLLER_MANAGER.key),
        "root-ca-file": trusted,
        "service-account-private-key-file": layout.folder / "pki" / "service-accounts.key",
    }
    return _serving(layout, "kube-controller-manager", flags)


def scheduler(layout: Layout) -> ProcessSpec:
    """Kubernetes' scheduler with its default plugins."""
    config = _settings("kube-scheduler")["config"]
    config["clientConnection"]["kubeconfig"] = str(layout.kubeconfig(SCHEDULER.key))
    return _serving(layout, "kube-scheduler", {"config": layout.config("kube-scheduler", config)})


def kwok(layout: Layout) -> ProcessSpec:
    """kwok: keeps every node, and plays the kubelet for the pods bound to them."""
    config = _settings("kwok")["config"]
    config["options"]["serverAddress"] = layout.address("kwok")
    documents = [config, *stages(layout.tools.module("kwok"), ray=layout.tools.ray is not None)]
    flags = {"kubeconfig": layout.kubeconfig(KWOK.key), "config": layout.config("kwok", *documents)}
    return _process(layout, "kwok", flags, _ready(f"http://{layout.address('kwok')}/healthz", None, None))


def _serving(layout: Layout, name: str, flags: dict[str, Any]) -> ProcessSpec:
    """A process that reports its health over TLS."""
    pair = layout.authority.issue(name)
    own = {
        "bind-address": LOOPBACK,
        "secure-port": layout.port(name),
        "tls-cert-file": pair.certificate,
        "tls-private-key-file": pair.key,
    }
    return _process(layout, name, {**flags, **own}, _ready(f"https://{layout.address(name)}/healthz", layout, None))


def _process(
    layout: Layout, name: str, flags: dict[str, Any], ready: Callable[[], Awaitable[bool]] | None
) -> ProcessSpec:
    settings = _settings(name)
    every = {**settings.get("flags", {}), **flags}
    argv = (str(layout.tools.binary(name)), *(f"--{flag}={value}" for flag, value in every.items()))
    environment = layout.environment(memory_mib=settings["memoryMib"])
    return ProcessSpec(layout.process(name), argv, layout.log(name), environment, ready=ready)


def _settings(name: str) -> dict[str, Any]:
    return dict(read_data("tpuplane_twin.cluster", "processes")[name])


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
