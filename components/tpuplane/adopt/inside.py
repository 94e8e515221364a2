"""The operators in an adopted cluster, and Kueue's queues as teams of a stack file. They stay as they are."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from tpuplane.adopt.describe import Adopted
from tpuplane.adopt.facts import Json, NotAdopted, dig, is_at
from tpuplane.adopt.fields import Described
from tpuplane.labels import GKE_POOL_LABEL, GPU, MACHINE_LABEL, OPERATORS, TPU
from tpuplane.plan import NodePoolPlan, plan
from tpuplane.quantities import thousandths
from tpuplane.spec import parse_platform

_STAYS = "`pulumi import` cannot add an object if its provider is created by the same stack"

Inside = Mapping[str, Sequence[Json]]
"""Objects of a cluster: Deployments as `operators`, and Kueue's `queues`, `local_queues` and `flavors`."""


def cluster_at(adopted: Adopted, clusters: Sequence[Json], host: str) -> str | None:
    """The key of the adopted cluster whose control plane has this address; None if there is none."""
    for cluster in clusters:
        identity = f"projects/{adopted.config['project']}/locations/{cluster['location']}/clusters/{cluster['name']}"
        if identity in adopted.places and is_at(cluster, host):
            return adopted.places[identity][1]
    return None


def left_inside(key: str, inside: Inside) -> Iterator[NotAdopted]:
    """Operators and queues of the cluster `key`. None of them is adopted."""
    for operator in inside["operators"]:
        title, namespace = OPERATORS[operator["metadata"]["name"]], operator["metadata"]["namespace"]
        image = dig(next(iter(dig(operator, "spec.template.spec.containers", ())), {}), "image", "")
        version = image.partition("@")[0].rpartition("/")[2].partition(":")[2] or "of an unknown version"
        yield NotAdopted(f"cluster {key}, {title} {version} in {namespace}", _STAYS)
    if inside["queues"]:
        names = ", ".join(queue["metadata"]["name"] for queue in inside["queues"])
        yield NotAdopted(f"cluster {key}, cluster queues {names}", f"{_STAYS}. See the end of the stack file")


def teams(adopted: Adopted, key: str, inside: Inside) -> Described:
    """The cluster's queues as teams of a stack file. The quota of a flavor belongs to the first pool with its nodes."""
    (cluster,) = (cluster for cluster in plan(parse_platform(adopted.config)).clusters if cluster.key == key)
    labels = {flavor["metadata"]["name"]: dig(flavor, "spec.nodeLabels", {}) for flavor in inside["flavors"]}
    found: Described = {}
    for queue in inside["queues"]:
        name, quotas = queue["metadata"]["name"], Described()
        for flavor in chain.from_iterable(group["flavors"] for group in dig(queue, "spec.resourceGroups", ())):
            pool = next((pool for pool in cluster.pools if _on(pool, labels.get(flavor["name"], {}))), None)
            for resource in flavor["resources"]:
                if pool is not None and resource["name"] in _UNITS:
                    kind, unit = _UNITS[resource["name"]]
                    amount = thousandths(resource["nominalQuota"]) // 1000
                    quotas.setdefault(kind, {}).setdefault(pool.pool, {unit: amount})
        own = [queue["metadata"] for queue in inside["local_queues"] if dig(queue, "spec.clusterQueue") == name]
        found[name] = {"clusters": {key: quotas}}
        if own:
            found[name] |= {"namespaces": sorted({queue["namespace"] for queue in own}), "queue": own[0]["name"]}
    return found


_UNITS = {TPU: ("pools", "chips"), GPU: ("gpuPools", "gpus")}


def _on(pool: NodePoolPlan, labels: Json) -> bool:
    """Whether the nodes of a node pool have those labels of a flavor that GKE sets."""
    own = {**pool.hardware.node_labels, GKE_POOL_LABEL: pool.name, MACHINE_LABEL: pool.machine_type}
    known = labels.keys() & own.keys()
    return bool(known) and all(own[label] == labels[label] for label in known)


def teams_text(found: Described) -> Iterator[str]:
    """The teams as comments for a stack file."""
    yield "# The queues of the cluster as teams, for a cluster in which tpuplane installs Kueue (addons.kueue):"
    yield from (f"#   teams.{name}: {json.dumps(team)}" for name, team in found.items())
