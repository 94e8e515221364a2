"""GKE's ComputeClass as the twin serves it: the definition, from `data/`, rejects what GKE's rejects.

GKE brings the definition with every cluster, and no registry has it. It is written down apart from `tpuplane.spec`, so
that the two check each other.
"""

import copy
from functools import cache

from tpuplane.data_files import read_data

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.cluster.compute_class.notation import Notation, Schema, rules

LABEL = "cloud.google.com/compute-class"
NAMESPACE_DEFAULT = "cloud.google.com/default-compute-class"

_META = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}


def definition() -> Object:
    """The CustomResourceDefinition that every cluster has from its start."""
    found: Object = read_data(__package__, "definition")
    found["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema()}
    return found


@cache
def schema() -> Schema:
    """The OpenAPI schema of a ComputeClass, with its CEL rules."""
    whole = Notation(*(read_data(__package__, name) for name in ("spec", "nodes", "status"))).schema()
    whole["properties"]["spec"]["x-kubernetes-validations"] = rules(list(_whole_rules()))
    whole["properties"]["spec"]["properties"]["priorities"]["default"] = []
    return {**whole, "properties": {**_META, **whole["properties"]}}


def _whole_rules() -> list[dict[str, str]]:
    """The rules of `data/rules.yaml`, each one CEL expression over the spec."""
    data = read_data(__package__, "rules")
    found = []
    for item in data["rules"]:
        rule = f"self.priorities.all(p, {item['each']})" if "each" in item else item["rule"]
        if "when" in item:
            rule = f"!({data['conditions'][item['when']]}) || ({rule})"
        found.append({"rule": rule, "says": item["says"]})
    return found


def tolerating(pod: Object) -> Object:
    """The pod with a toleration of the nodes of the class that it selects."""
    name = (pod["spec"].get("nodeSelector") or {}).get(LABEL)
    if name is None or any(toleration.get("key") == LABEL for toleration in pod["spec"].get("tolerations") or []):
        return pod
    pod = copy.deepcopy(pod)
    toleration = {"key": LABEL, "operator": "Equal", "value": name, "effect": "NoSchedule"}
    pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or []), toleration]
    return pod


def defaulted(pod: Object, name: str | None) -> Object:
    """The pod in the class `name`, unless it selects one itself or there is none."""
    selector = pod["spec"].get("nodeSelector") or {}
    if name is None or LABEL in selector:
        return pod
    return tolerating({**pod, "spec": {**pod["spec"], "nodeSelector": {**selector, LABEL: name}}})
