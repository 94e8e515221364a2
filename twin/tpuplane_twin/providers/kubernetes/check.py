"""Check: from what the program wrote to the inputs that everything after works with."""

from __future__ import annotations

from tpuplane_twin.providers.contract import Autonaming, ProviderError
from tpuplane_twin.providers.kubernetes import kinds, metadata
from tpuplane_twin.providers.kubernetes.cluster import Operation
from tpuplane_twin.providers.kubernetes.inputs import normalize
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.values import Object, mark_secrets, to_kubernetes, to_pulumi

_REJECTED = {
    "kubernetes:helm.sh/v3:Release": "render the chart and create its objects one by one (their YAML with "
    "pulumi_kubernetes.yaml.ConfigGroup, or typed resources)",
}


def check(operation: Operation, olds: Object, news: Object, seed: bytes, autonaming: Autonaming | None) -> Object:
    """The inputs with name and namespace filled in, secrets kept secret. Raises `ProviderError`."""
    cluster, urn, log = operation.cluster, operation.urn, operation.log
    token = kinds.type_of_urn(urn)
    reject(token)
    if cluster.unreachable and cluster.settings.skip_update_unreachable:
        log.say("warning", "Cluster is unreachable but skipUpdateUnreachable flag is set to true, skipping...")
        return olds
    kind = Kind.of_type(token)
    if kind.built_in and kind.name.endswith("List"):
        raise ProviderError(
            "list resources exist for compatibility with YAML manifests and Helm charts, "
            "and cannot be created directly. Use the underlying resource type instead"
        )
    obj, before = normalize(to_kubernetes(news)), to_kubernetes(olds)
    if kinds.is_patch(urn, obj) and not metadata.is_named(obj):
        raise ProviderError("patch resources require the `.metadata.name` field to be set")
    for key in metadata.metadata(obj).get("annotations") or ():
        if str(key).startswith(metadata.AUTONAMED):
            log.say("warning", f'ignoring user-specified value for internal annotation "{key}"')
    if before:
        _adopt_name(obj, before)
    else:
        _autoname(obj, urn, seed, autonaming)
    if metadata.is_generate_name(obj):
        raise ProviderError("the `.metadata.generateName` field is not supported in Server-Side Apply mode")
    unplaced = not metadata.metadata(obj).get("namespace")
    if cluster.default_namespace and unplaced and cluster.namespaced(kind):
        holder = obj.setdefault("metadata", {})
        if isinstance(holder, dict):
            holder["namespace"] = cluster.default_namespace
    if kinds.is_crd(obj):
        cluster.remember_crd(obj)
    return mark_secrets(to_pulumi(obj), news)


def reject(token: str) -> None:
    """Raise `ProviderError` for a type that this stand-in does not serve."""
    if token in _REJECTED:
        raise ProviderError(
            f"{token} needs the official Kubernetes plugin, which is not installed; with the twin's own provider "
            f"{_REJECTED[token]}"
        )


def _adopt_name(obj: Object, before: Object) -> None:
    if not metadata.is_named(obj) and metadata.is_true(before, metadata.AUTONAMED):
        obj.setdefault("metadata", {})
        metadata.set_autoname(obj, metadata.name(before))
    # The label comes from client-side apply; it stays where it is and is never added.
    if metadata.has_managed_by_label(before):
        metadata.set_entry(obj, "labels", metadata.MANAGED_BY, metadata.managed_by_value())


def _autoname(obj: Object, urn: str, seed: bytes, autonaming: Autonaming | None) -> None:
    if metadata.is_named(obj) or metadata.is_generate_name(obj):
        return
    if autonaming and autonaming.mode == "DISABLE":
        raise ProviderError("autonaming is disabled, resource requires the .metadata.name field to be set")
    proposed = autonaming.proposed if autonaming else ""
    chosen = proposed or metadata.unique_name(f"{kinds.name_of_urn(urn)}-", seed)
    obj.setdefault("metadata", {})
    metadata.set_autoname(obj, chosen)
