"""What runs in an adopted cluster: operators, and Kueue's queues as teams of a stack file. They stay as they are."""

import json
from collections.abc import Iterator, Mapping, Sequence

from tpuplane.adopt.describe import Adopted
from tpuplane.adopt.facts import Json, NotAdopted, dig, is_at
from tpuplane.adopt.fields import Described
from tpuplane.labels import GKE_POOL_LABEL, GPU, MACHINE_LABEL, TPU
from tpuplane.plan import NodePoolPlan, plan
from tpuplane.quantities import thousandths
from tpuplane.spec import parse_platform

OPERATORS = {"kueue-controller-manager": "Kueue", "jobset-controller-manager": "JobSet", "kuberay-operator": "KubeRay"}
_STAYS = "`pulumi import` adds no object whose provider the same stack creates"

Inside = Mapping[str, Sequence[Json]]
"""Objects of a cluster: Deployments as `operators`, and Kueue's `queues`, `local_queues` and `flavors`."""


def cluster_at(adopted: Adopted, clusters: Sequence[Json], host: str) -> str | None:
    """The key of the adopted cluster whose control plane has this address; None if there is none."""
    for it in clusters:
        identity = f"projects/{adopted.config['project']}/locations/{it['location']}/clusters/{it['name']}"
        if identity in adopted.places and is_at(it, host):
            return adopted.places[identity][1]
    return None


def left_inside(key: str, inside: Inside) -> Iterator[NotAdopted]:
    """Operators and queues of the cluster `key`, none of which is adopted."""
    for it in inside["operators"]:
        title, namespace = OPERATORS[it["metadata"]["name"]], it["metadata"]["namespace"]
        image = dig(next(iter(dig(it, "spec.template.spec.containers", ())), {}), "image", "")
        version = image.partition("@")[0].rpartition("/")[2].partition(":")[2] or "of an unknown version"
        yield NotAdopted(f"cluster {key}, {title} {version} in {namespace}", _STAYS)
    if inside["queues"]:
        names = ", ".join(it["metadata"]["name"] for it in inside["queues"])
        yield NotAdopted(f"cluster {key}, cluster queues {names}", f"{_STAYS}. See the end of the stack file")


def teams(adopted: Adopted, key: str, inside: Inside) -> Described:
    """The cluster's queues as teams of a stack file. A flavor's quota is that of the first pool with its nodes."""
    (cluster,) = (it for it in plan(parse_platform(adopted.config)).clusters if it.key == key)
    labels = {it["metadata"]["name"]: dig(it, "spec.nodeLabels", {}) for it in inside["flavors"]}
    found: Described = {}
    for queue in inside["queues"]:
        name, quotas = queue["metadata"]["name"], Described()
        for flavor in (it for group in dig(queue, "spec.resourceGroups", ()) for it in group["flavors"]):
            pool = next((it for it in cluster.pools if _on(it, labels.get(flavor["name"], {}))), None)
            for resource in flavor["resources"]:
                if pool is not None and resource["name"] in _UNITS:
                    kind, unit = _UNITS[resource["name"]]
                    amount = thousandths(resource["nominalQuota"]) // 1000
                    quotas.setdefault(kind, {}).setdefault(pool.pool, {unit: amount})
        own = [it["metadata"] for it in inside["local_queues"] if dig(it, "spec.clusterQueue") == name]
        used = {"namespaces": sorted({it["namespace"] for it in own}), "queue": own[0]["name"]} if own else {}
        found[name] = {**used, "clusters": {key: quotas}}
    return found


_UNITS = {TPU: ("pools", "chips"), GPU: ("gpuPools", "gpus")}


def _on(pool: NodePoolPlan, labels: Json) -> bool:
    """Whether the nodes of a node pool have the labels of a flavor, as far as they are GKE's."""
    own = {**pool.hardware.node_labels, GKE_POOL_LABEL: pool.name, MACHINE_LABEL: pool.machine_type}
    known = labels.keys() & own.keys()
    return bool(known) and all(own[label] == labels[label] for label in known)


def teams_text(found: Described) -> Iterator[str]:
    """The teams as comments for a stack file."""
    yield "# The queues of the cluster as teams, for a cluster in which tpuplane installs Kueue (addons.kueue):"
    yield from (f"#   teams.{name}: {json.dumps(it)}" for name, it in found.items())
