"""The provider's functions: decoding YAML, for the `pulumi_kubernetes.yaml` classes."""

from __future__ import annotations

from typing import Any

from tpuplane_twin.providers.contract import ProviderError
from tpuplane_twin.providers.kubernetes.cluster import Cluster
from tpuplane_twin.providers.kubernetes.construct.manifests import load_all
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object

_REJECTED = {
    "kubernetes:helm:template": "a Helm chart: render it with `helm template`",
    "kubernetes:kustomize:directory": "a kustomization: render it with `kubectl kustomize`",
}


def invoke(cluster: Cluster, token: str, arguments: Object) -> Object:
    """The function's result. Raises `ProviderError`."""
    if token == "kubernetes:yaml:decode":  # noqa: S105
        return {"result": _decode(cluster, arguments)}
    if token in _REJECTED:
        raise ProviderError(
            f"the twin's own Kubernetes provider cannot expand {_REJECTED[token]} and pass the YAML to "
            "pulumi_kubernetes.yaml.ConfigGroup, or install the official Kubernetes plugin"
        )
    raise ProviderError(f'unknown Invoke type "{token}"')


def _decode(cluster: Cluster, arguments: Object) -> list[Any]:
    text, default_namespace = arguments.get("text"), arguments.get("defaultNamespace")
    if not isinstance(text, str):
        raise ProviderError("missing required field 'text' of type string")
    documents = load_all(text)
    objects = []
    for document in documents:
        if not isinstance(document, dict) or not document.get("kind") or not document.get("apiVersion"):
            continue
        holder = document.setdefault("metadata", {})
        if default_namespace and not holder.get("namespace") and cluster.namespaced(Kind.of(document)):
            holder["namespace"] = default_namespace
        objects.append(document)
    return objects
