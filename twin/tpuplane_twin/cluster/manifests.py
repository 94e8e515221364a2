"""An operator's manifests, from its Go module's folder, turned into those of a process on this machine."""

from __future__ import annotations

import asyncio
import base64
import copy
from pathlib import Path
from typing import Any

import yaml

from tpuplane_twin.cluster.api import KINDS, Object
from tpuplane_twin.cluster.errors import ClusterError

# What belongs to a container image: the operator is a process here and gets its configuration as files.
_NOT_FOR_A_PROCESS = frozenset({"APIService", "ConfigMap", "Deployment", "Secret", "Service"})


class ManifestError(ClusterError):
    """A module's manifests cannot be rendered."""


async def render(kubectl: Path, folder: Path) -> list[Object]:
    """The objects that `kubectl kustomize` makes of `folder`.

    Raises `ManifestError` with kubectl's own words.
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


def for_process(
    items: list[Object], *, webhooks: str | None, authority: str, namespace: str | None = None
) -> list[Object]:
    """What of `items` the cluster needs when the operator is a process that serves webhooks at `webhooks`.

    Webhook and conversion services become URLs with `authority` (PEM) as their trust; a conversion of an
    operator without webhooks becomes none. `namespace` replaces the namespace that the manifests name.
    """
    bundle = base64.b64encode(authority.encode()).decode()
    kept = [copy.deepcopy(item) for item in items if item["kind"] in KINDS - _NOT_FOR_A_PROCESS]
    for item in kept:
        if item["kind"] == "CustomResourceDefinition":
            _localise_conversion(item, webhooks, bundle)
        for webhook in item.get("webhooks", ()):
            webhook["clientConfig"] = _client(webhook["clientConfig"], webhooks or "", bundle)
        if namespace is not None:
            _move(item, namespace)
    return kept


def without_webhooks_for(items: list[Object], groups: frozenset[str]) -> list[Object]:
    """`items` without the webhooks that only concern the API groups `groups`."""
    for item in items:
        if "webhooks" in item:
            item["webhooks"] = [
                webhook
                for webhook in item["webhooks"]
                if not all(set(rule["apiGroups"]) <= groups for rule in webhook["rules"])
            ]
    return items


def _localise_conversion(item: Object, webhooks: str | None, bundle: str) -> None:
    conversion = item["spec"].get("conversion", {})
    if conversion.get("strategy") != "Webhook":
        return
    if len(item["spec"]["versions"]) == 1 or webhooks is None:
        item["spec"]["conversion"] = {"strategy": "None"}
    else:
        conversion["webhook"]["clientConfig"] = _client(conversion["webhook"]["clientConfig"], webhooks, bundle)


def _client(config: dict[str, Any], webhooks: str, bundle: str) -> dict[str, Any]:
    return {"url": f"{webhooks}{config['service']['path']}", "caBundle": bundle}


def _move(item: Object, namespace: str) -> None:
    if "namespace" in item["metadata"]:
        item["metadata"]["namespace"] = namespace
    for subject in item.get("subjects", ()):
        if "namespace" in subject:
            subject["namespace"] = namespace
