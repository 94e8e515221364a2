"""What runs in an adopted cluster: operators, and Kueue's queues as teams of a stack file. They stay as they are."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tpuplane.adopt.describe import Adopted, described
from tpuplane.adopt.facts import Json, NotAdopted, dig
from tpuplane.adopt.fields import Described
from tpuplane.labels import GKE_POOL_LABEL, GPU, MACHINE_LABEL, TPU
from tpuplane.plan import NodePoolPlan, plan
from tpuplane.quantities import thousandths
from tpuplane.spec import SpecError, parse_platform
from tpuplane.status.asking import Ask

_OPERATORS = {"kueue-controller-manager": "Kueue", "jobset-controller-manager": "JobSet", "kuberay-operator": "KubeRay"}
_STAYS = "`pulumi import` adds no object whose provider the same stack creates"


@dataclass(frozen=True, slots=True)
class Inside:
    """Objects of a cluster."""

    operators: Sequence[Json] = ()
    """Deployments of operators."""
    queues: Sequence[Json] = ()
    local_queues: Sequence[Json] = ()
    flavors: Sequence[Json] = ()


def read_inside(ask: Ask) -> Inside:
    """The operators and queues of a cluster. Raises `Rejected`."""
    named = (ask("/apis/apps/v1/deployments", fieldSelector=f"metadata.name={name}") for name in _OPERATORS)
    sources = ask.sources()
    kueue = {name: ask.items(sources[name][0])[0] for name in ("queues", "local_queues", "flavors") if name in sources}
    return Inside([item for found in named for item in found["items"]], **kueue)


def cluster_at(adopted: Adopted, clusters: Sequence[Json], host: str) -> str | None:
    """The key of the adopted cluster whose control plane has this address; None if there is none."""
    for it in clusters:
        found = {it.get("endpoint"), *(dig(it, path) for path in _ADDRESSES)} - {None, ""}
        place = adopted.places.get(f"projects/{adopted.spec.project}/locations/{it['location']}/clusters/{it['name']}")
        if place and host.removeprefix("https://") in found:
            return place[1]
    return None


_ADDRESSES = (
    "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint",
    "privateClusterConfig.privateEndpoint",
    "privateClusterConfig.publicEndpoint",
)


def left_inside(key: str, inside: Inside) -> Iterator[NotAdopted]:
    """Operators and queues of the cluster `key`, none of which is adopted."""
    for it in inside.operators:
        title, namespace = _OPERATORS[it["metadata"]["name"]], it["metadata"]["namespace"]
        image = dig(next(iter(dig(it, "spec.template.spec.containers", ())), {}), "image", "")
        version = image.partition("@")[0].rpartition("/")[2].partition(":")[2] or "of an unknown version"
        yield NotAdopted(f"cluster {key}, {title} {version} in {namespace}", f"{_installed(it)}; {_STAYS}")
    if inside.queues:
        names = ", ".join(it["metadata"]["name"] for it in inside.queues)
        yield NotAdopted(f"cluster {key}, cluster queues {names}", f"{_STAYS}. See the end of the stack file")


def _installed(operator: Json) -> str:
    """How an operator was installed."""
    metadata = operator["metadata"]
    if release := metadata.get("annotations", {}).get("meta.helm.sh/release-name"):
        return f"Helm release {release}"
    if metadata["namespace"].startswith(("gke-", "kube-system", "ray-system")):
        return "GKE's add-on"
    return f"applied by {dig(next(iter(metadata.get('managedFields', ())), {}), 'manager', 'an unknown client')}"


def teams(adopted: Adopted, key: str, inside: Inside) -> tuple[Described, tuple[str, ...]]:
    """The cluster's queues as teams of a stack file, and what of them its rules reject."""
    (cluster,) = (it for it in plan(adopted.spec).clusters if it.key == key)
    labels = {it["metadata"]["name"]: dig(it, "spec.nodeLabels", {}) for it in inside.flavors}
    found: Described = {}
    for queue in inside.queues:
        name, quotas = queue["metadata"]["name"], Described()
        for group in dig(queue, "spec.resourceGroups", ()):
            for flavor in group["flavors"]:
                _add(quotas, flavor, [it for it in cluster.pools if _on(it, labels.get(flavor["name"], {}))])
        own = [it["metadata"] for it in inside.local_queues if dig(it, "spec.clusterQueue") == name]
        found[name] = {
            **({"namespaces": sorted({it["namespace"] for it in own}), "queue": own[0]["name"]} if own else {}),
            "clusters": {key: quotas},
        }
    config = described(adopted.spec)
    config["clusters"][key].setdefault("addons", {})["kueue"] = {}
    try:
        parse_platform({**config, "teams": found})
    except SpecError as error:
        return found, tuple(str(it) for it in error.mistakes)
    return found, ()


def _on(pool: NodePoolPlan, labels: Json) -> bool:
    """Whether the nodes of a node pool have the labels of a flavor, as far as they are GKE's."""
    own = {**pool.hardware.node_labels, GKE_POOL_LABEL: pool.name, MACHINE_LABEL: pool.machine_type}
    known = labels.keys() & own.keys()
    return bool(known) and all(own[label] == labels[label] for label in known)


_UNITS = {TPU: ("pools", "chips"), GPU: ("gpuPools", "gpus")}


def _add(quotas: Described, flavor: Json, pools: Sequence[NodePoolPlan]) -> None:
    """Add the quota of a flavor to the first pool that has its nodes."""
    for resource in flavor["resources"]:
        if resource["name"] in _UNITS and pools:
            kind, unit = _UNITS[resource["name"]]
            names = {"nominalQuota": unit, "borrowingLimit": "borrowingLimit", "lendingLimit": "lendingLimit"}
            quota = {own: thousandths(resource[it]) // 1000 for it, own in names.items() if it in resource}
            quotas.setdefault(kind, {}).setdefault(pools[0].pool, quota)


def teams_text(found: Any, mistakes: Sequence[str]) -> Iterator[str]:
    """Comments for a stack file: the teams, and what is to be corrected."""
    yield "# The queues of the cluster as teams, for a cluster in which tpuplane installs Kueue (addons.kueue):"
    yield from (f"#   teams.{name}: {json.dumps(it)}" for name, it in found.items())
    yield from (f"#   to correct: {it}" for it in mistakes)
