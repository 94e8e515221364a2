"""Flavors against nodes: what the program tells Kueue, and what the nodes of its own pools say of themselves.

The program registers flavors and pools; Google's API makes the pools; the nodes are what the twin makes of the API's
answer. Drift on either side leaves work pending without end (cluster-toolkit pull 5965).
"""

from __future__ import annotations

import copy
import ipaddress
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.plan.cluster import ClusterPlan
from tpuplane.spec import parse_platform
from tpuplane_twin.cluster.nodes import Place, Pool

from tests.support.components.deployment import deploy_platform, shipped
from tests.support.providers.gcp_driver import Driver
from tests.support.providers.google_api import GoogleApi
from tests.support.providers.platform_on_api import deploy_on

pytestmark = pytest.mark.twin

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
STACKS = {path.name.split(".")[1]: shipped(path) for path in sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))}
NETWORK = ipaddress.IPv4Network("10.64.0.0/24")

V6E: Json = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}
ONE_HOST: Json = {**V6E, "topology": "2x4"}
FLEX: Json = {"capacity": "flex-start", "autoscaling": {"maxSlices": 1}}
SHARED: Json = {"zones": ["us-central1-a"], "sharing": {"strategy": "MPS", "maxClients": 4}}
OTHER_KINDS: Json = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": {"mine": {"generation": "v6e", "zone": "us-east5-b", "chips": 64}},
    "classes": {"steady": {"clusters": ["tpus"], "priorities": [{"nodepools": ["owned"]}]}},
    "clusters": {
        "tpus": {
            "location": "us-east5",
            "pools": {
                "plain": V6E,
                "apart": V6E,
                "reserved": {**V6E, "capacity": "reservation", "reservation": {"name": "mine"}},
                "flex": {**V6E, **FLEX},
                "queued": {**V6E, **FLEX, "flexStart": {"queued": True}},
                "owned": {**ONE_HOST, "computeClass": "steady"},
                "wide": {**ONE_HOST, "machineType": "ct6e-standard-8t"},
                "single": {**V6E, "topology": "1x1"},
            },
        },
        "gpus": {
            "location": "us-central1",
            "network": {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"},
            "gpuPools": {
                "alone": {"accelerator": "nvidia-l4", "zones": ["us-central1-a", "us-central1-c"]},
                "shared": {"accelerator": "nvidia-l4", **SHARED},
                "divided": {"machineType": "a2-highgpu-1g", "partitionSize": "1g.5gb", **SHARED},
            },
        },
    },
}
"""What no stack has: a kind of pool for each way of sharing, buying and owning hosts."""

APART = "apart"
"""A pool that no team has, of the shape of one that a team has."""


def shared_by_all(description: Json) -> Json:
    """The same platform with a team that is in every pool of every cluster, so that every pool has a flavor."""
    found = copy.deepcopy(description)
    # Compute classes name the namespaces that there were.
    team: Json = {"namespaces": ["everyone", *found.get("teams", {})], "clusters": {}}
    for key, cluster in found["clusters"].items():
        cluster["addons"] = {**cluster.get("addons", {}), "kueue": {}}
        team["clusters"][key] = {
            "pools": {pool: {"slices": 0} for pool in cluster.get("pools", {}) if pool != APART},
            "gpuPools": {pool: {"nodes": 0} for pool in cluster.get("gpuPools", {})},
        }
    found["teams"] = {"everyone": team}
    return found


DESCRIPTIONS = {
    **{name: stack for name, stack in STACKS.items() if "teams" in stack},
    **{f"{name}, all pools": shared_by_all(stack) for name, stack in STACKS.items()},
    "other kinds": shared_by_all(OTHER_KINDS),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_every_flavor_admits_to_the_nodes_of_its_pools_and_to_no_others(
    name: str, driver: Driver, api: GoogleApi
) -> None:
    description = copy.deepcopy(DESCRIPTIONS[name])
    for cluster in description["clusters"].values():
        # Without keys, of which nodes say nothing; groups of teams need theirs.
        security = cluster.pop("security", {})
        cluster["security"] = {field: security[field] for field in ("securityGroup",) if field in security}
    list(deploy_on(driver, description, {}))
    registered = deploy_platform(description)
    for cluster in plan(parse_platform(description)).clusters:
        if cluster.queues is None:
            continue
        nodes = nodes_of(api, cluster)
        front = f"platform-{cluster.key}-queues-"
        objects = {
            kind: {
                resource.inputs["metadata"]["name"]: resource.inputs["spec"]
                for resource in registered.all(f":{kind}")
                if resource.name.startswith(front)
            }
            for kind in ("ResourceFlavor", "Topology")
        }
        pools = {flavor.name: set(flavor.pools) for flavor in cluster.queues.flavors}
        admitted = {flavor: admits(spec, nodes) for flavor, spec in objects["ResourceFlavor"].items()}
        assert admitted == pools
        for flavor, spec in objects["ResourceFlavor"].items():
            its_own = [node for pool in pools[flavor] for node in nodes[pool]]
            taints = {taint["key"] for node in its_own for taint in node["spec"]["taints"]}
            assert {toleration["key"] for toleration in spec.get("tolerations", ())} == taints, flavor
            if "topologyName" in spec:
                levels = {level["nodeLabel"] for level in objects["Topology"][spec["topologyName"]]["levels"]}
                assert all(levels <= node["metadata"]["labels"].keys() for node in its_own)


def nodes_of(api: GoogleApi, cluster: ClusterPlan) -> dict[str, list[Json]]:
    """A node of each pool in each of its zones, by the key that the pool has in the user's file."""
    keys = {pool.name: pool.pool for pool in cluster.pools}
    nodes: dict[str, list[Json]] = defaultdict(list)
    for (in_cluster, name), (pool, owner) in api.backend.pools.items():
        if in_cluster == cluster.name:
            made = Pool(pool, owner)
            nodes[keys.get(name, "system")] += [made.node(Place(zone, 0), "0", NETWORK) for zone in pool["locations"]]
    return nodes


def admits(flavor: Json, nodes: dict[str, list[Json]]) -> set[str]:
    """The pools on whose nodes a pod of the flavor is placed: it has the flavor's labels and tolerations."""
    tolerated = {(toleration["key"], toleration["effect"]) for toleration in flavor.get("tolerations", ())}

    def fits(node: Json) -> bool:
        taints = {(taint["key"], taint["effect"]) for taint in node["spec"]["taints"]}
        return flavor["nodeLabels"].items() <= node["metadata"]["labels"].items() and taints <= tolerated

    found = {pool for pool, pool_nodes in nodes.items() if any(map(fits, pool_nodes))}
    assert all(fits(node) for pool in found for node in nodes[pool]), "some nodes of a pool and not others"
    return found
