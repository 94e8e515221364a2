"""What the provider reads from and writes to an object's metadata: names, annotations, labels."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Mapping
from typing import Any, Final

from tpuplane_standins.providers.kubernetes.values import Object
from tpuplane_standins.providers.values import UNKNOWN

AUTONAMED: Final = "pulumi.com/autonamed"
SKIP_AWAIT: Final = "pulumi.com/skipAwait"
WAIT_FOR: Final = "pulumi.com/waitFor"
TIMEOUT_SECONDS: Final = "pulumi.com/timeoutSeconds"
REPLACE_UNREADY: Final = "pulumi.com/replaceUnready"
PATCH_FORCE: Final = "pulumi.com/patchForce"
PATCH_FIELD_MANAGER: Final = "pulumi.com/patchFieldManager"
DELETION_PROPAGATION: Final = "pulumi.com/deletionPropagationPolicy"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"

DEFAULT_TIMEOUT: Final = 600.0
"""Seconds that creating, updating or deleting one object may take unless the program says otherwise."""


def metadata(obj: Mapping[str, Any]) -> Object:
    """The object's metadata; empty where it is missing or unknown."""
    found = obj.get("metadata")
    return found if isinstance(found, dict) else {}


def name(obj: Mapping[str, Any]) -> str:
    """The object's name; empty where it has none, or none that is known."""
    found = metadata(obj).get("name")
    return found if isinstance(found, str) else ""


def namespace(obj: Mapping[str, Any]) -> str:
    """The object's namespace; empty where it has none, or none that is known."""
    found = metadata(obj).get("namespace")
    return found if isinstance(found, str) else ""


def generation(obj: Mapping[str, Any]) -> int:
    """How often the object's specification has changed, 0 before the first time."""
    return int(metadata(obj).get("generation") or 0)


def identifier(obj: Mapping[str, Any]) -> str:
    """The resource's id: `namespace/name`, or `name` outside namespaces."""
    return f"{namespace(obj)}/{name(obj)}" if namespace(obj) else name(obj)


def parse_identifier(text: str) -> tuple[str, str]:
    """Namespace (may be empty) and name of an id."""
    first, slash, rest = text.partition("/")
    return (first, rest.partition("/")[0]) if slash else ("", first)


def annotation(obj: Mapping[str, Any], key: str) -> str:
    """The value of an annotation, empty where it is missing or unknown."""
    annotations = metadata(obj).get("annotations")
    value = annotations.get(key) if isinstance(annotations, dict) else None
    return value if isinstance(value, str) else ""


def is_true(obj: Mapping[str, Any], key: str) -> bool:
    """Whether an annotation is "true"."""
    return annotation(obj, key) == "true"


def set_entry(obj: Object, section: str, key: str, value: str) -> None:
    """Set a label or an annotation; does nothing where the section is unknown."""
    holder = obj.setdefault("metadata", {})
    if holder is UNKNOWN:
        return
    entries = holder.get(section)
    if entries is None:
        entries = holder[section] = {}
    if entries is not UNKNOWN:
        entries[key] = value


def is_named(obj: Mapping[str, Any]) -> bool:
    """Whether the program names the object, be it with a name that is not known yet."""
    return bool(metadata(obj).get("name"))


def is_generate_name(obj: Mapping[str, Any]) -> bool:
    """Whether the API server is asked to make up a name."""
    return not is_named(obj) and bool(metadata(obj).get("generateName"))


def set_autoname(obj: Object, chosen: str) -> None:
    """Name the object for the program, and mark that in an annotation."""
    set_entry(obj, "annotations", AUTONAMED, "true")
    if obj["metadata"] is not UNKNOWN:
        obj["metadata"]["name"] = chosen


def unique_name(prefix: str, seed: bytes = b"") -> str:
    """`prefix` and eight hexadecimal digits: the same for the same seed (preview and update agree), else random."""
    suffix = hashlib.sha256(seed).hexdigest()[:8] if seed else secrets.token_hex(4)
    return f"{prefix}{suffix}"


def managed_by_value() -> str:
    """What the managed-by label says; `PULUMI_KUBERNETES_MANAGED_BY_LABEL` overrides it."""
    return os.environ.get("PULUMI_KUBERNETES_MANAGED_BY_LABEL", "pulumi")


def has_managed_by_label(obj: Mapping[str, Any]) -> bool:
    """Whether the object carries our managed-by label, or may carry it."""
    labels = metadata(obj).get("labels")
    if labels is UNKNOWN:
        return True
    value = labels.get(MANAGED_BY) if isinstance(labels, dict) else None
    return value is UNKNOWN or value == managed_by_value()


def timeout(obj: Mapping[str, Any], requested: float) -> float:
    """Seconds to wait: the resource's customTimeouts, else the timeoutSeconds annotation, else ten minutes."""
    if requested:
        return requested
    with contextlib.suppress(ValueError):
        return float(int(annotation(obj, TIMEOUT_SECONDS)))
    return DEFAULT_TIMEOUT


def deletion_propagation(obj: Mapping[str, Any]) -> str:
    """How dependents are deleted: Foreground unless annotated otherwise."""
    wanted = annotation(obj, DELETION_PROPAGATION).lower()
    return {"orphan": "Orphan", "background": "Background"}.get(wanted, "Foreground")
