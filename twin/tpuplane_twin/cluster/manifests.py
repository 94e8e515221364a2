"""An operator's manifests, from its Go module's folder, turned into those of a process on this machine."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path

import yaml

from tpuplane_twin.cluster.api import KINDS, ClusterError, Object

# What belongs to a container image: the operator is a process here and gets its configuration as files.
_NOT_FOR_A_PROCESS = frozenset(
    {
        *("APIService", "ConfigMap", "Deployment", "Namespace", "Secret", "Service"),
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    }
)


class ManifestError(ClusterError):
    """A module's manifests cannot be rendered."""


async def render(kubectl: Path, folder: Path) -> list[Object]:
    """The objects that `kubectl kustomize` makes of `folder`.

    Raises `ManifestError` with kubectl's message.
    """
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
        raise ManifestError(f"{folder} cannot be rendered: {errors.decode(errors='replace').strip()}")
    return await asyncio.to_thread(lambda: [item for item in yaml.load_all(output, yaml.CSafeLoader) if item])


async def definitions(file: Path) -> list[Object]:
    """The definitions of custom resources in a file of manifests."""
    text = await asyncio.to_thread(file.read_text)
    found = await asyncio.to_thread(lambda: list(yaml.load_all(text, yaml.CSafeLoader)))
    return [item for item in found if item and item["kind"] == "CustomResourceDefinition"]


def for_process(items: list[Object], namespace: str | None = None) -> list[Object]:
    """What of `items` the cluster needs when the operator is a process without webhooks.

    Its kinds convert nothing. `namespace` replaces the namespace that the manifests name.
    """
    kept = [copy.deepcopy(item) for item in items if item["kind"] in KINDS - _NOT_FOR_A_PROCESS]
    for item in kept:
        if item["kind"] == "CustomResourceDefinition":
            item["spec"]["conversion"] = {"strategy": "None"}
        if namespace is not None:
            _move(item, namespace)
    return kept


def _move(item: Object, namespace: str) -> None:
    if "namespace" in item["metadata"]:
        item["metadata"]["namespace"] = namespace
    for subject in item.get("subjects", ()):
        if "namespace" in subject:
            subject["namespace"] = namespace
