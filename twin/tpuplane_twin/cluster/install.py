"""Putting into a cluster what its controllers and operators need, once: CRDs, RBAC, webhook configurations."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version

from tpuplane.data_files import read_data

from tpuplane_twin.cluster import compute_class, kube_system, manifests, ray_operator
from tpuplane_twin.cluster.api import Api, ClusterError, Object, each
from tpuplane_twin.cluster.layout import Layout

_ESTABLISHED_SECONDS = 300.0
_APPLIED = "twin.tpuplane.dev/applied-"
_REQUESTS = "cluster-autoscaler-apis"
_PROMETHEUS = "managed-prometheus"
_KEEPER = "kube-system"  # the namespace whose annotations mark what was applied, kept with the cluster's data


class Installation:
    """What must be in a cluster. Rendering starts at once, applying at `finish`."""

    def __init__(self, layout: Layout, services: str, *, fresh: bool, ray: bool, prometheus: bool = True) -> None:
        """`services` is the range of the cluster's Services; `ray` is whether it has the Ray add-on.

        `prometheus` is whether the cluster has managed Prometheus, whose kinds stay once they are there.

        `fresh` is whether the cluster is new: then everything will be needed, and is rendered meanwhile.
        """
        self._layout = layout
        self._services = services
        self._sources: dict[str, Callable[[], Awaitable[list[Object]]]] = {"base": self._base}
        modules = [str(layout.tools.module(name)) for name in ("kwok", _REQUESTS)]
        system = str(layout.tools.module(kube_system.MODULE))
        self._sources["kube-system"] = self._kube_system
        self._marks = {
            "base": _mark(*modules, json.dumps([compute_class.definition()])),
            "kube-system": _mark(system, services, layout.aggregator.pem),
        }
        if prometheus:
            # The kinds as Google publishes them. No operator runs, and nothing is collected.
            folder = layout.tools.module(_PROMETHEUS)
            self._sources[_PROMETHEUS] = partial(manifests.definitions, folder / "manifests" / "setup.yaml")
            self._marks[_PROMETHEUS] = _mark(str(folder))
        if ray:
            self._sources[ray_operator.NAME] = partial(ray_operator.objects, layout)
            self._marks[ray_operator.NAME] = _mark(str(layout.tools.module(ray_operator.NAME)))
        self._rendering = (
            {name: asyncio.ensure_future(source()) for name, source in self._sources.items()} if fresh else {}
        )

    async def finish(self, api: Api) -> None:
        """Apply what was not applied before; returns when the API server serves every custom resource."""
        keeper = await api.get("Namespace", _KEEPER)
        marks = (keeper or {}).get("metadata", {}).get("annotations", {})
        missing = [name for name, mark in self._marks.items() if marks.get(f"{_APPLIED}{name}") != mark]
        if not missing:
            return
        rendered = await asyncio.gather(
            *(self._rendering.get(name) or asyncio.ensure_future(self._sources[name]()) for name in missing)
        )
        items = [item for group in rendered for item in group]
        crds = [item for item in items if item["kind"] == "CustomResourceDefinition"]
        namespaces = [item for item in items if item["kind"] == "Namespace"]
        await each(namespaces, api.apply)
        await each([item for item in items if item not in namespaces], api.apply)
        await each(crds, lambda crd: established(api, crd["metadata"]["name"]))
        annotations = {f"{_APPLIED}{name}": self._marks[name] for name in missing}
        await api.merge("Namespace", _KEEPER, {"metadata": {"annotations": annotations}})

    def cancel(self) -> None:
        """Cancel what is still being rendered."""
        for task in self._rendering.values():
            task.cancel()

    async def _base(self) -> list[Object]:
        """kwok's own rights, and what every GKE cluster has: storage classes, the kinds of its cluster autoscaler."""
        tools = self._layout.tools
        folder = tools.module("kwok") / "kustomize" / "rbac"
        rendered = await manifests.render(tools.binary("kubectl"), folder)
        return [
            *manifests.for_process(rendered),
            *read_data("tpuplane_twin.cluster", "storage_classes"),
            compute_class.definition(),
            *await manifests.definitions(
                tools.module(_REQUESTS) / "config" / "crd" / "autoscaling.x-k8s.io_provisioningrequests.yaml"
            ),
        ]

    async def _kube_system(self) -> list[Object]:
        module = self._layout.tools.module(kube_system.MODULE)
        return await asyncio.to_thread(kube_system.objects, module, self._services, self._layout.aggregator.pem)


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
            raise ClusterError(f"the API server does not serve {name} after {within:g} s: {why or 'it says no reason'}")
        await asyncio.sleep(0.05)


def _mark(*parts: str) -> str:
    # The twin's own version is part of it: another version may render the same module differently.
    return hashlib.sha256("\n".join([version("tpuplane-twin"), *parts]).encode()).hexdigest()[:16]
