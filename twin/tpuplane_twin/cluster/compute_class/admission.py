"""What GKE's admission does to pods: the default compute class of a namespace, the toleration of a class. Pure."""

from __future__ import annotations

import copy
from typing import Any

Pod = dict[str, Any]

LABEL = "cloud.google.com/compute-class"
NAMESPACE_DEFAULT = "cloud.google.com/default-compute-class"

# For the API server's match conditions (CEL).
NAMES_A_CLASS = f"has(object.spec.nodeSelector) && '{LABEL}' in object.spec.nodeSelector"
NAMES_NONE = f"!({NAMES_A_CLASS})"


def tolerating(pod: Pod) -> Pod:
    """The pod with a toleration of the nodes of the class that it selects."""
    name = (pod["spec"].get("nodeSelector") or {}).get(LABEL)
    if name is None or any(it.get("key") == LABEL for it in pod["spec"].get("tolerations") or []):
        return pod
    pod = copy.deepcopy(pod)
    toleration = {"key": LABEL, "operator": "Equal", "value": name, "effect": "NoSchedule"}
    pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or []), toleration]
    return pod


def defaulted(pod: Pod, name: str | None) -> Pod:
    """The pod in the class `name`, unless it selects one itself or there is none."""
    selector = pod["spec"].get("nodeSelector") or {}
    if name is None or LABEL in selector:
        return pod
    return tolerating({**pod, "spec": {**pod["spec"], "nodeSelector": {**selector, LABEL: name}}})
