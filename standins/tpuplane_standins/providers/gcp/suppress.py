"""Differences that mean nothing: another form of the same value, or something that the API added by itself."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from tpuplane_standins.providers.values import UNKNOWN

Root = Mapping[str, Any]
"""The resource's whole planned state."""


def suppressed(rule: str, old: Any, new: Any, root: Root) -> bool:
    """Whether the rule named in the table (`name` or `name:argument`) calls `old` and `new` the same."""
    if new is UNKNOWN:
        return False
    name, _, argument = rule.partition(":")
    if name == "emptyOr":
        return {old or "", new or ""} == {"", argument}
    return _RULES[name](old, new, root)


def managed_label(key: str) -> bool:
    """Whether GKE itself put this label on a node pool: its absence from the inputs is no change."""
    return key.startswith(("goog-gke", "sandbox.gke.io/"))


def same_link(old: Any, new: Any) -> bool:
    """Whether two links, or a link and a bare name, mean the same resource."""
    if not (isinstance(old, str) and isinstance(new, str) and new):
        return False
    if "/" not in new:
        return old.rpartition("/")[2] == new
    return relative(old) == relative(new)


def relative(link: str) -> str:
    """A link without the host and version of its API."""
    _, marker, path = link.partition("projects/")
    return marker + path if marker else link


def _removed_while_off(old: Any, new: Any, root: Root) -> bool:
    """A disabled block equals no block."""
    return isinstance(old, Mapping) and new is None and not old.get("enabled")


def _private_cluster(old: Any, new: Any, root: Root) -> bool:
    """The block when both sides say "public"; the endpoint's subnetwork that the API chose."""
    if isinstance(old, Mapping) and new is None:
        private = ("enablePrivateEndpoint", "enablePrivateNodes", "privateEndpointSubnetwork")
        return not any(old.get(key) for key in private)
    block = root.get("privateClusterConfig") or {}
    chosen = isinstance(old, str) and not new and bool(block.get("masterIpv4CidrBlock"))
    return same_link(old, new) or chosen


def _added_scopes(old: Any, new: Any, root: Root) -> bool:
    monitoring = "https://www.googleapis.com/auth/monitoring.write"
    return isinstance(old, list) and isinstance(new, list) and set(old) == {*new, monitoring}


def _same_dashboard(old: Any, new: Any, root: Root) -> bool:
    """Two dashboards in JSON; what only the API adds (name, etag, defaults) is no difference."""
    return bool(isinstance(old, str) and isinstance(new, str) and _said(json.loads(old), json.loads(new)))


def _said(old: Any, new: Any) -> bool:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return all(key in old and _said(old[key], value) for key, value in new.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_said(*pair) for pair in zip(old, new, strict=True))
    return bool(old == new)


_RULES: Final[dict[str, Callable[[Any, Any, Root], bool]]] = {
    "addedScopes": _added_scopes,
    "autopilot": lambda old, new, root: bool(root.get("enableAutopilot")),
    "bucketName": lambda old, new, root: str(old).removeprefix("b/") == str(new).removeprefix("b/"),
    "case": lambda old, new, root: isinstance(old, str) and isinstance(new, str) and old.lower() == new.lower(),
    # the user asked for a size ("/14"), the API chose the range
    "cidrOrSize": lambda old, new, root: str(new).startswith("/") and str(old).endswith(new),
    "dashboard": _same_dashboard,
    "databaseEncryption": lambda old, new, root: {old, new} == {"ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED"},
    "disabledBlock": _removed_while_off,
    "dnsScope": lambda old, new, root: not old and new == "DNS_SCOPE_UNSPECIFIED",
    "enableLogging": lambda old, new, root: new is None and bool(root.get("enableLogging")),
    "managedLabels": lambda old, new, root: False,  # decided key by key, see `managed_label`
    "privateClusterConfig": _private_cluster,
    "projectName": lambda old, new, root: new == f"projects/{old}",
    "sameItems": lambda old, new, root: sorted(old or ()) == sorted(new or ()),
    "selfLink": lambda old, new, root: same_link(old, new),
    "sourceRanges": lambda old, new, root: old == ["0.0.0.0/0"] and not new,
}
