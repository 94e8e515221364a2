"""GKE's ComputeClass as the twin serves it: the definition, from `data/`, rejects what GKE's rejects.

It is written down apart from `tpuplane.spec`, so that the two check each other.
"""

import copy

from tpuplane.data_files import read_data

from tpuplane_twin.cluster.api import Object

LABEL = "cloud.google.com/compute-class"
NAMESPACE_DEFAULT = "cloud.google.com/default-compute-class"


def definition() -> Object:
    """The CustomResourceDefinition that every cluster has from its start."""
    found: Object = read_data("tpuplane_twin.cluster", "compute_class")
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
