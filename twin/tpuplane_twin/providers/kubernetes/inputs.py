"""Inputs in the form in which they can be compared with what the API server keeps."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from tpuplane_twin.providers.kubernetes import kinds
from tpuplane_twin.providers.kubernetes.values import Object, has_unknown

# Written by the server alone, whatever a program says.
READ_ONLY: Final = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)


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
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        for key in READ_ONLY:
            metadata.pop(key, None)
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
        return value  # the server refuses it with the better message


def prune(live: Any, shape: Any) -> Any:
    """The part of `live` that `shape` also has: of the object in the cluster, what the program manages. A copy."""
    if isinstance(live, dict) and isinstance(shape, dict):
        return {key: prune(value, shape[key]) for key, value in live.items() if key in shape}
    if isinstance(live, list) and isinstance(shape, list) and live and shape:
        if type(live[0]) is not type(shape[0]):
            return list(live)
        # What the server added at the end of a list is its own.
        return [prune(value, part) for value, part in zip(live, shape, strict=False)]
    if isinstance(live, list) and isinstance(shape, list):
        return []
    return live
