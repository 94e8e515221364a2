"""Inputs: checked, and in the form in which they can be compared with what the API server keeps."""

import base64
import binascii
import re
from decimal import Decimal
from typing import Any, Final

from tpuplane_standins.providers.contract import ProviderError, Request
from tpuplane_standins.providers.kubernetes import kinds, metadata
from tpuplane_standins.providers.kubernetes.cluster import Operation
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import Object, mark_secrets, to_kubernetes, to_pulumi
from tpuplane_standins.providers.values import has_unknown

_REJECTED = {
    "kubernetes:helm.sh/v3:Release": "render the chart and create its objects one by one (their YAML with "
    "pulumi_kubernetes.yaml.ConfigGroup, or typed resources)"
}

# Written by the server alone.
READ_ONLY: Final = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)

_EMPTY_IS_MISSING: Final = ("annotations", "finalizers", "labels", "ownerReferences")

_QUANTITY = re.compile(r"([+-]?\d+(?:\.\d*)?)(m|[kMGTPE]|[KMGTPE]i)?")
_SCALE = {"": Decimal(1), "m": Decimal("0.001")}
_SCALE |= {unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", start=1)}
_SCALE |= {f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)}


def check(operation: Operation) -> Object:
    """The inputs with name and namespace filled in, secrets kept secret. Raises `ProviderError`."""
    cluster, request, log = operation.cluster, operation.request, operation.log
    token = request.urn.type
    if token in _REJECTED:
        raise ProviderError(
            f"{token} needs the official Kubernetes plugin, which is not installed; with the twin's own provider "
            f"{_REJECTED[token]}"
        )
    if cluster.unreachable and cluster.settings.skip_update_unreachable:
        log.say("warning", "Cluster is unreachable but skipUpdateUnreachable flag is set to true, skipping...")
        return request.olds
    kind = Kind.of_type(token)
    if kind.built_in and kind.name.endswith("List"):
        raise ProviderError(
            "list resources exist for compatibility with YAML manifests and Helm charts, "
            "and cannot be created directly. Use the underlying resource type instead"
        )
    obj, before = normalize(to_kubernetes(request.news)), to_kubernetes(request.olds)
    if kinds.is_patch(request.urn, obj) and not metadata.is_named(obj):
        raise ProviderError("patch resources require the `.metadata.name` field to be set")
    for key in metadata.metadata(obj).get("annotations") or ():
        if str(key).startswith(metadata.AUTONAMED):
            log.say("warning", f'ignoring user-specified value for internal annotation "{key}"')
    if before:
        _adopt_name(obj, before)
    else:
        _autoname(obj, request)
    if metadata.is_generate_name(obj):
        raise ProviderError("the `.metadata.generateName` field is not supported in Server-Side Apply mode")
    unplaced = not metadata.metadata(obj).get("namespace")
    if cluster.default_namespace and unplaced and cluster.namespaced(kind) is not False:
        holder = obj.setdefault("metadata", {})
        if isinstance(holder, dict):
            holder["namespace"] = cluster.default_namespace
    if kinds.is_crd(obj):
        cluster.remember_crd(obj)
    return mark_secrets(to_pulumi(obj), request.news)


def _adopt_name(obj: Object, before: Object) -> None:
    if not metadata.is_named(obj) and metadata.is_true(before, metadata.AUTONAMED):
        obj.setdefault("metadata", {})
        metadata.set_autoname(obj, metadata.name(before))
    # The label comes from client-side apply; it stays where it is and is never added.
    if metadata.has_managed_by_label(before):
        metadata.set_entry(obj, "labels", metadata.MANAGED_BY, metadata.managed_by_value())


def _autoname(obj: Object, request: Request) -> None:
    autonaming = request.autonaming
    if metadata.is_named(obj) or metadata.is_generate_name(obj):
        return
    if autonaming and autonaming.mode == "DISABLE":
        raise ProviderError("autonaming is disabled, resource requires the .metadata.name field to be set")
    proposed = autonaming.proposed if autonaming else ""
    chosen = proposed or metadata.unique_name(f"{request.urn.name}-", request.seed)
    obj.setdefault("metadata", {})
    metadata.set_autoname(obj, chosen)


def normalize(obj: Object) -> Object:
    """The object without what the server would not keep as written. Changes and returns `obj`."""
    if not has_unknown(obj):
        if kinds.is_core(obj, "Secret"):
            _normalize_secret(obj)
        elif kinds.is_crd(obj):
            obj.pop("status", None)
            spec = obj.get("spec")
            if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
                del spec["preserveUnknownFields"]
    holder = metadata.metadata(obj)
    for key in READ_ONLY:
        holder.pop(key, None)
    for key in _EMPTY_IS_MISSING:
        if key in holder and not holder[key]:
            del holder[key]
    return obj


def _normalize_secret(obj: Object) -> None:
    """The server moves `stringData` into `data`, and writes base64 its own way."""
    data = dict(obj.get("data") or {})
    strings = obj.get("stringData") or {}
    if strings:
        data |= {key: base64.b64encode(str(value).encode()).decode() for key, value in strings.items()}
        obj.pop("stringData")
        obj["data"] = data
    elif data:
        obj["data"] = {key: _canonical_base64(value) for key, value in data.items()}


def _canonical_base64(value: Any) -> Any:
    try:
        return base64.b64encode(base64.b64decode(value, validate=False)).decode()
    except (binascii.Error, TypeError, ValueError):
        return value  # the server rejects it with the better message


def prune(live: Any, shape: Any, *, as_written: bool = False) -> Any:
    """The part of `live` that `shape` also has: of the object in the cluster, what the program manages. A copy.

    With `as_written` in the program's spelling, where the server of a built-in kind only has another one: a false or
    empty value that the server leaves out stays, and "1000m" that it keeps as "1".
    """
    if isinstance(live, dict) and isinstance(shape, dict):
        kept = {key: prune(value, shape[key], as_written=as_written) for key, value in live.items() if key in shape}
        left_out = {key: value for key, value in shape.items() if key not in live and value is not None and not value}
        return kept | left_out if as_written else kept
    if isinstance(live, list) and isinstance(shape, list):
        if live and shape and type(live[0]) is not type(shape[0]):
            return list(live)
        # What the server added at the end of a list is its own.
        return [prune(value, part, as_written=as_written) for value, part in zip(live, shape, strict=False)]
    return shape if as_written and same_quantity(live, shape) else live


def same_quantity(left: Any, right: Any) -> bool:
    """Whether both are resource quantities, and of the same amount."""
    amount = _amount(left)
    return amount is not None and amount == _amount(right)


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = _QUANTITY.fullmatch(str(value))
    return Decimal(found[1]) * _SCALE[found[2] or ""] if found else None
