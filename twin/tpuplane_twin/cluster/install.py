"""Putting into a cluster what its controllers and operators need, once: CRDs, RBAC, webhook configurations."""

import asyncio
import contextlib
import copy
import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import yaml
from tpuplane.data_files import read_data

from tpuplane_twin.cluster import compute_class, kube_system
from tpuplane_twin.cluster.api import KINDS, Api, ClusterError, Object, each
from tpuplane_twin.cluster.components import RAY_NAMESPACE
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.gcp.views import ClusterView
from tpuplane_twin.machine.files import write_atomic

_ESTABLISHED_SECONDS = 300.0
_APPLIED = "twin.tpuplane.dev/applied-"
_REQUESTS = "cluster-autoscaler-apis"
_PROMETHEUS = "managed-prometheus"
_RAY = "kuberay"
_KEEPER = "kube-system"  # the namespace whose annotations mark what was applied, kept with the cluster's data


# What belongs to a container image: the operator is a process here and gets its configuration as files.
_NOT_FOR_A_PROCESS = frozenset(
    {
        *("APIService", "ConfigMap", "Deployment", "Namespace", "Secret", "Service"),
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    }
)


class Installation:
    """What must be in a cluster. Rendering starts at once, applying at `finish`."""

    def __init__(self, layout: Layout, cluster: ClusterView, *, fresh: bool) -> None:
        """`fresh` is whether the cluster is new: then everything will be needed, and is rendered meanwhile."""
        self._layout = layout
        self._services = cluster.services
        tools = layout.tools
        definition = json.dumps([compute_class.definition()])
        # What is applied as one part: its mark, and what renders it.
        self._parts: dict[str, tuple[str, Callable[[], Awaitable[list[Object]]]]] = {
            "base": (_mark(str(tools.module("kwok")), str(tools.module(_REQUESTS)), definition), self._base),
            "kube-system": (
                _mark(str(tools.module(kube_system.MODULE)), cluster.services, layout.aggregator.pem),
                self._kube_system,
            ),
        }
        if cluster.managed_prometheus:
            # The kinds as Google publishes them, which stay. No operator runs, and nothing is collected.
            folder = tools.module(_PROMETHEUS)
            setup = partial(_definitions, folder / "manifests" / "setup.yaml")
            self._parts[_PROMETHEUS] = (_mark(str(folder)), setup)
        if cluster.ray_operator:
            self._parts[_RAY] = (_mark(str(tools.module(_RAY))), self._kuberay)
        # These kinds stay when their add-on is switched off, as that of the slice controller does on GKE.
        kinds = {"slice": cluster.slice_controller, "checkpoint_configuration": cluster.multi_tier_checkpointing}
        for name in (name for name, enabled in kinds.items() if enabled):
            kind = Path(__file__).parent / "data" / f"{name}.yaml"
            self._parts[name] = (_mark(kind.read_text()), partial(_definitions, kind))
        self._rendering = (
            {name: asyncio.ensure_future(render()) for name, (_, render) in self._parts.items()} if fresh else {}
        )

    async def finish(self, api: Api) -> None:
        """Apply what was not applied before; returns when the API server serves every custom resource."""
        keeper = await api.get("Namespace", _KEEPER)
        marks = (keeper or {}).get("metadata", {}).get("annotations", {})
        missing = [name for name, (mark, _) in self._parts.items() if marks.get(f"{_APPLIED}{name}") != mark]
        if not missing:
            return
        rendered = await asyncio.gather(
            *(self._rendering.get(name) or asyncio.ensure_future(self._parts[name][1]()) for name in missing)
        )
        items = [item for group in rendered for item in group]
        crds = [item for item in items if item["kind"] == "CustomResourceDefinition"]
        namespaces = [item for item in items if item["kind"] == "Namespace"]
        await each(namespaces, api.apply)
        await each([item for item in items if item not in namespaces], api.apply)
        await each(crds, lambda crd: established(api, crd["metadata"]["name"]))
        annotations = {f"{_APPLIED}{name}": self._parts[name][0] for name in missing}
        await api.merge("Namespace", _KEEPER, {"metadata": {"annotations": annotations}})

    def cancel(self) -> None:
        """Cancel what is still being rendered."""
        for task in self._rendering.values():
            task.cancel()

    async def _base(self) -> list[Object]:
        """kwok's own rights, and what every GKE cluster has: storage classes, the kinds of its cluster autoscaler."""
        tools = self._layout.tools
        folder = tools.module("kwok") / "kustomize" / "rbac"
        rendered = await _rendered(tools.binary("kubectl"), folder)
        return [
            *_for_process(rendered),
            *read_data("tpuplane_twin.cluster", "storage_classes"),
            compute_class.definition(),
            *await _definitions(
                tools.module(_REQUESTS) / "config" / "crd" / "autoscaling.x-k8s.io_provisioningrequests.yaml"
            ),
        ]

    async def _kuberay(self) -> list[Object]:
        """The Ray operator's namespace, CRDs and RBAC, as its module has them."""
        tools = self._layout.tools
        rendered = await _rendered(tools.binary("kubectl"), tools.module(_RAY) / "config" / "default")
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": RAY_NAMESPACE}}
        return [namespace, *_for_process(rendered, RAY_NAMESPACE)]

    async def _kube_system(self) -> list[Object]:
        module = self._layout.tools.module(kube_system.MODULE)
        return await asyncio.to_thread(kube_system.objects, module, self._services, self._layout.aggregator.pem)


async def _rendered(kubectl: Path, folder: Path) -> list[Object]:
    """The objects that `kubectl kustomize` makes of a tool's `folder`. Raises `ClusterError` with kubectl's message.

    They are kept in the folder, because rendering KubeRay's four megabytes takes a processor for four seconds.
    """
    kept = folder / "rendered.json"
    if kept.exists():
        return list(json.loads(await asyncio.to_thread(kept.read_bytes)))
    process = await asyncio.create_subprocess_exec(
        str(kubectl),
        "kustomize",
        str(folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    output, errors = await process.communicate()
    if process.returncode != 0:
        raise ClusterError(f"{folder} cannot be rendered: {errors.decode(errors='replace').strip()}")
    items = await asyncio.to_thread(lambda: [item for item in yaml.load_all(output, yaml.CSafeLoader) if item])
    with contextlib.suppress(OSError):  # tools that several users share can be read-only
        write_atomic(kept, json.dumps(items), mode=0o644)
    return items


async def _definitions(file: Path) -> list[Object]:
    """The definitions of custom resources in a file of manifests."""
    text = await asyncio.to_thread(file.read_text)
    found = await asyncio.to_thread(lambda: list(yaml.load_all(text, yaml.CSafeLoader)))
    return [item for item in found if item and item["kind"] == "CustomResourceDefinition"]


def _for_process(items: list[Object], namespace: str | None = None) -> list[Object]:
    """What of `items` the cluster needs when the operator is a process without webhooks.

    Its kinds convert nothing. `namespace` replaces the namespace that the manifests name.
    """
    kept = [copy.deepcopy(item) for item in items if item["kind"] in KINDS - _NOT_FOR_A_PROCESS]
    for item in kept:
        if item["kind"] == "CustomResourceDefinition":
            item["spec"]["conversion"] = {"strategy": "None"}
        for place in (item["metadata"], *item.get("subjects", ())):
            if namespace is not None and "namespace" in place:
                place["namespace"] = namespace
    return kept


async def established(api: Api, name: str, *, within: float = _ESTABLISHED_SECONDS) -> None:
    """Wait until the API server serves the definition; ClusterError gives the reason after `within` seconds.

    Never, where a user's own definition has its names.
    """
    deadline = time.monotonic() + within
    while True:
        crd = await api.get("CustomResourceDefinition", name)
        # A new definition has `conditions: null` for a moment.
        conditions = (crd or {}).get("status", {}).get("conditions") or []
        if any(item["type"] == "Established" and item["status"] == "True" for item in conditions):
            return
        if time.monotonic() > deadline:
            why = "; ".join(str(item.get("message", "")) for item in conditions if item["status"] != "True")
            raise ClusterError(f"the API server does not serve {name} after {within:g} s: {why or 'reason unknown'}")
        await asyncio.sleep(0.05)


def _mark(*parts: str) -> str:
    # The twin's own version is part of it: another version may render the same module differently.
    return hashlib.sha256("\n".join([version("tpuplane-twin"), *parts]).encode()).hexdigest()[:16]
