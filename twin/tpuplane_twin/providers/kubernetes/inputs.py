"""Inputs in the form in which they can be compared with what the API server keeps."""

from __future__ import annotations

import base64
import binascii
import re
from decimal import Decimal
from typing import Any, Final

from tpuplane_twin.providers.kubernetes import kinds
from tpuplane_twin.providers.kubernetes.values import Object
from tpuplane_twin.providers.values import has_unknown

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
        for key in _EMPTY_IS_MISSING:
            if key in metadata and not metadata[key]:
                del metadata[key]
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


def as_written(live: Any, shape: Any) -> Any:
    """`prune`, but in the program's spelling where the server of a built-in kind only has another one.

    A false or empty value that the server leaves out stays, and "1000m" that it keeps as "1".
    """
    if isinstance(live, dict) and isinstance(shape, dict):
        kept = {key: as_written(value, shape[key]) for key, value in live.items() if key in shape}
        left_out = {key: value for key, value in shape.items() if key not in live and value is not None and not value}
        return kept | left_out
    if isinstance(live, list) and isinstance(shape, list) and live and shape and type(live[0]) is type(shape[0]):
        return [as_written(value, part) for value, part in zip(live, shape, strict=False)]
    return shape if same_quantity(live, shape) else prune(live, shape)


def same_quantity(left: Any, right: Any) -> bool:
    """Whether both are resource quantities, and of the same amount."""
    amount = _amount(left)
    return amount is not None and amount == _amount(right)


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = _QUANTITY.fullmatch(str(value))
    return Decimal(found[1]) * _SCALE[found[2] or ""] if found else None
