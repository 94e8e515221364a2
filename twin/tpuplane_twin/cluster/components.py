"""How etcd, the API server, the controllers, the scheduler, kwok and KubeRay's operator are run.

Their flags and configurations are in `data/processes.yaml`; here is what it needs of one cluster.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import yaml
from tpuplane.data_files import formatted, read_data

from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster import tunnel
from tpuplane_twin.cluster.addresses import kubernetes_address
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.identities import Identity
from tpuplane_twin.cluster.layout import LOOPBACK, Layout, answers
from tpuplane_twin.machine.processes import ProcessSpec

RAY_NAMESPACE = "ray-system"
IDENTITIES = (
    Identity("kube-controller-manager", "system:kube-controller-manager"),
    Identity("kube-scheduler", "system:kube-scheduler"),
    Identity.service_account("kwok", "kube-system", "kwok-controller"),
    Identity.service_account("kuberay", RAY_NAMESPACE, "kuberay-operator"),
)
PORTS = (
    *("etcd", "etcd-peer", "apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kuberay-health"),
    tunnel.PORT,
)
_data = cache(partial(read_data, "tpuplane_twin.cluster", "processes"))


async def etcd_alarms(layout: Layout, action: str, alarm: str) -> list[str]:
    """Do `action` (GET, ACTIVATE, DEACTIVATE) with an alarm of etcd, and return those of the answer."""
    tls, pair = layout.tls(), layout.authority.issue("etcd-client")
    tls.load_cert_chain(pair.certificate, pair.key)
    url = f"https://{layout.address('etcd')}/v3/maintenance"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        async with session.post(f"{url}/status", json={}, ssl=tls, raise_for_status=True) as answer:
            member = (await answer.json())["header"]["member_id"]
        asked = {"action": action, "memberID": 0 if action == "GET" else member, "alarm": alarm}
        async with session.post(f"{url}/alarm", json=asked, ssl=tls, raise_for_status=True) as answer:
            return [found["alarm"] for found in (await answer.json()).get("alarms", ())]


def api_server(layout: Layout, token: str, services: str, private: str | None) -> ProcessSpec:
    """The API server, with GKE's `ExtendedResourceToleration` and real RBAC; no anonymous requests.

    `services` is the range of the cluster's Services, `private` its address in the VPC. It dials what is in the cluster
    through the tunnel.
    """
    inside = "kubernetes.default.svc"
    names = ("kubernetes", "kubernetes.default", inside, f"{inside}.cluster.local")
    addresses = (LOOPBACK, "localhost", kubernetes_address(services), *([private] if private is not None else []))
    pair = layout.authority.issue("apiserver", hosts=(*addresses, *names))
    flags = {"service-cluster-ip-range": services, "token-auth-file": layout.credentials.token_file}
    if layout.trusted:
        flags["tls-cert-file"] = layout.authority.chained(pair, layout.trusted)
    return process(layout, "kube-apiserver", flags, token)


def kwok(layout: Layout, real: Object) -> ProcessSpec:
    """kwok: keeps every node, and plays the kubelet for the pods bound to them, except those that `real` selects."""
    folder = layout.tools.module("kwok") / "kustomize" / "stage"
    entries = read_data("tpuplane_twin.cluster", "stages")
    stages = [_stage(entry, folder, real) for entry in entries]
    return process(layout, "kwok", {"config": _config(layout, "kwok", *stages)})


def _stage(entry: dict[str, Any], folder: Path, real: Object) -> dict[str, Any]:
    """One of kwok's own stages in `folder`, or a new one, as `data/stages.yaml` says; `real` selects real pods.

    A stage is what simulated nodes and pods do by themselves.
    """
    stage: dict[str, Any] = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {},
        "spec": {"resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "selector": {"matchExpressions": []}},
    }
    if "file" in entry:
        stage = yaml.safe_load((folder / entry["file"]).read_text())
    if "name" in entry:
        stage["metadata"]["name"] = entry["name"]
    spec = stage["spec"]
    spec["selector"]["matchExpressions"] += entry.get("matches", [])
    if "images" in entry:
        spec["selector"]["matchExpressions"].append({**real, "operator": entry["images"]})
    if "status" in entry:
        spec["next"] = {"statusTemplate": entry["status"]}
    for jitter in entry.get("without-delays", ()):
        spec["delay"].pop(jitter, None)
    return stage


def process(
    layout: Layout, name: str, more: Mapping[str, object] = MappingProxyType({}), token: str | None = None
) -> ProcessSpec:
    """The process called `name` in the data, with more flags. With the token it is asked whether it is ready."""
    settings = formatted(_data()[name], _places(layout))
    flags = {**settings["flags"], **more}
    argv = (str(layout.tools.binary(name)), *(f"--{flag}={value}" for flag, value in flags.items()))
    environment = layout.environment(settings["memoryMib"])
    url = settings.get("ready")
    ready = partial(answers, url, tls=layout.tls(), token=token) if url else None
    return ProcessSpec(layout.process(name), argv, layout.log(name), environment, ready=ready)


def _config(layout: Layout, name: str, *more: object) -> Path:
    """The file of a configuration, with `more` documents."""
    return layout.config(name, formatted(_data()["configs"][name], _places(layout)), *more)


class _ByName:
    """What `{kind[name]}` means in the data."""

    def __init__(self, value: Callable[[str], object]) -> None:
        self._value = value

    def __getitem__(self, name: str) -> object:
        return self._value(name)


def _places(layout: Layout) -> dict[str, object]:
    """What the data has in braces."""
    authority, aggregator = layout.authority, layout.aggregator
    return {
        "folder": layout.folder,
        "toleration": max(1, round(Times.of().seconds("not-ready-toleration"))),
        "authority": authority.pair.certificate,
        "aggregator": aggregator.pair.certificate,
        "address": _ByName(layout.address),
        "port": _ByName(layout.port),
        "certificate": _ByName(lambda name: authority.issue(name).certificate),
        "key": _ByName(lambda name: authority.issue(name).key),
        "aggregated_certificate": _ByName(lambda name: aggregator.issue(name).certificate),
        "aggregated_key": _ByName(lambda name: aggregator.issue(name).key),
        "kubeconfig": _ByName(layout.kubeconfig),
        "config": _ByName(lambda name: _config(layout, name)),
    }
