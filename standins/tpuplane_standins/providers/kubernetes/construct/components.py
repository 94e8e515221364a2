"""The components by their types: their inputs, and the objects that they become. And the function that decodes YAML."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2, resource_pb2_grpc

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.kubernetes.cluster import Cluster
from tpuplane_standins.providers.kubernetes.construct import helm, manifests
from tpuplane_standins.providers.kubernetes.construct.monitor import Monitor
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.log import EngineLog
from tpuplane_standins.providers.kubernetes.values import Object, to_kubernetes
from tpuplane_standins.providers.values import (
    ASSET_SIGNATURE,
    RESOURCE_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN,
    decode_struct,
    encode_struct,
    has_unknown,
)

Inputs = dict[str, Any]

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


def construct(
    request: provider_pb2.ConstructRequest, cluster: Cluster, version: str, log: EngineLog
) -> provider_pb2.ConstructResponse:
    """Make a component and its objects. Raises `ProviderError`."""
    make = _COMPONENTS.get(request.type)
    if make is None:
        raise ProviderError(
            f"the twin's own Kubernetes provider does not offer the component {request.type}; allowed: "
            f"{', '.join(_COMPONENTS)}; or install the official Kubernetes plugin"
        )
    files = request.inputs.fields.get(helm.VALUE_FILES)
    others = {key: value for key, value in request.inputs.fields.items() if key != helm.VALUE_FILES}
    plain = struct_pb2.Struct(fields=others)
    inputs = decode_struct(plain)
    with grpc.insecure_channel(request.monitorEndpoint, options=_GRPC_CHANNEL_OPTIONS) as channel:
        monitor = Monitor(resource_pb2_grpc.ResourceMonitorStub(channel), version)
        urn = monitor.component(request)
        if has_unknown(inputs):
            log.send(urn, "warning", "Input properties have unknown values. Preview is incomplete.")
            return provider_pb2.ConstructResponse(urn=urn)
        inputs = {key: value for key, value in to_kubernetes(inputs).items() if value is not None}
        if files is not None:
            inputs[helm.VALUE_FILES] = [_text(each) for each in files.list_value.values]
        objects, namespace = make(request.name, inputs, cluster)
        found, unresolved = manifests.normalize(copy.deepcopy(objects), namespace or cluster.default_namespace, cluster)
        if unresolved:
            log.send(urn, "warning", _UNRESOLVED.format(", ".join(unresolved)))
        if inputs.get("skipAwait"):
            for obj in found:
                annotations = obj["metadata"].get("annotations") or {}
                obj["metadata"]["annotations"] = {**annotations, "pulumi.com/skipAwait": "true"}
        prefix = inputs.get("resourcePrefix", request.name)
        # References that the program's SDK turns into resources. One without an id is not created yet.
        resources = [
            {SIGNATURE_KEY: RESOURCE_SIGNATURE, "urn": made.urn, "id": made.id or UNKNOWN, "packageVersion": version}
            for made in monitor.objects(found, urn, prefix)
        ]
        state = encode_struct({"resources": resources})
        return provider_pb2.ConstructResponse(urn=urn, state=state)


_UNRESOLVED = (
    "Unable to determine whether the following kinds are namespaced without a reachable cluster or a matching "
    "CustomResourceDefinition, so they are rendered without a namespace: {}. Set .metadata.namespace explicitly, or "
    "include the CustomResourceDefinition, to control the namespace."
)


def _text(value: struct_pb2.Value) -> str:
    """The text of an asset. Raises `ProviderError` for anything else, and for what cannot be read."""
    fields = value.struct_value.fields
    if SIGNATURE_KEY not in fields or fields[SIGNATURE_KEY].string_value != ASSET_SIGNATURE:
        raise ProviderError("valueYamlFiles: a list of assets is wanted, such as pulumi.FileAsset('values.yaml')")
    if path := fields["path"].string_value:
        try:
            return Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise ProviderError(f"valueYamlFiles: {error}") from error
    if fields["uri"].string_value:
        raise ProviderError("valueYamlFiles: the twin's own Kubernetes provider takes files and texts, no addresses")
    return fields["text"].string_value


def _chart(name: str, inputs: Inputs, cluster: Cluster) -> tuple[list[Object], str]:
    return manifests.parse([helm.render(name, inputs, cluster)]), inputs.get("namespace") or ""


def _config_group(name: str, inputs: Inputs, cluster: Cluster) -> tuple[list[Object], str]:
    texts = [text for pattern in inputs.get("files") or () for text in _read(str(pattern), glob=True)]
    objects = manifests.parse([*texts, str(inputs.get("yaml") or "")])
    return [*objects, *(inputs.get("objs") or ())], ""


def _config_file(name: str, inputs: Inputs, cluster: Cluster) -> tuple[list[Object], str]:
    return manifests.parse(_read(str(inputs.get("file") or ""), glob=False)), ""


def _read(place: str, *, glob: bool) -> list[str]:
    if "://" in place:
        raise ProviderError(
            f"{place}: the twin's own Kubernetes provider fetches no YAML over the network; download the file, or "
            "install the official Kubernetes plugin"
        )
    path = Path(place)
    found = sorted(path.parent.glob(path.name)) if glob and any(sign in path.name for sign in "*?[") else [path]
    try:
        return [each.read_text(encoding="utf-8") for each in found]
    except OSError as error:
        raise ProviderError(f"reading YAML file from disk: {error}") from error


def _decode(cluster: Cluster, arguments: Object) -> list[Any]:
    text, default_namespace = arguments.get("text"), arguments.get("defaultNamespace")
    if not isinstance(text, str):
        raise ProviderError("missing required field 'text' of type string")
    objects = []
    for document in manifests.load_all(text):
        if not isinstance(document, dict) or not document.get("kind") or not document.get("apiVersion"):
            continue
        holder = document.setdefault("metadata", {})
        if default_namespace and cluster.namespaced(Kind.of(document)) is not False:
            holder["namespace"] = holder.get("namespace") or default_namespace
        objects.append(document)
    return objects


_COMPONENTS: Mapping[str, Callable[[str, Inputs, Cluster], tuple[list[Object], str]]] = {
    "kubernetes:helm.sh/v4:Chart": _chart,
    "kubernetes:yaml/v2:ConfigGroup": _config_group,
    "kubernetes:yaml/v2:ConfigFile": _config_file,
}
