"""GKE clusters: access, encryption, logs and protection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tpuplane.tpu import GkeVersion, SliceError

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Truth, Value
from tpuplane_policies.rules.kinds import COUNTED, SERVICE
from tpuplane_policies.rules.pods import pod_count
from tpuplane_policies.rules.pools import cluster_of, node_range
from tpuplane_policies.rules.project import is_world

MAX_NODES = 15_000  # google/gke-policy-automation, scalability/nodes_per_cluster.rego
MAX_PODS, MAX_SERVICES = 200_000, 10_000  # the same, scalability/{pods,services}_per_cluster.rego
MAX_SKEW = 2  # minor versions that nodes may be behind their control plane


@resource_rule("GKE002", CLUSTER)
def control_plane_is_private(cluster: Resource, options: Options) -> Demands:
    """The endpoint is private, or only the DNS endpoint exists; authorized networks exclude the internet."""
    at = cluster["privateClusterConfig.enablePrivateEndpoint"]
    off = at.is_true | cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].one_of(False)
    unset = Truth(not options["privateEndpoint"]) & at.one_of(None)
    yield demand(off | unset, at, "the control plane has a public address")
    for at in _networks(cluster):
        text = "the whole internet can reach the control plane"
        yield demand(~at.test(is_world), at, text, like="CKV_GCP_18 GCP-0053")


@resource_rule("GKE003", CLUSTER)
def authorized_networks_exclude_the_internet(cluster: Resource, options: Options) -> Demands:
    """No authorized network contains all addresses."""
    for at in _networks(cluster):
        yield demand(~at.test(is_world), at, "the whole internet can reach the control plane")


def _networks(cluster: Resource) -> Iterator[Value]:
    return (allowed["cidrBlock"] for allowed in cluster["masterAuthorizedNetworksConfig.cidrBlocks"].each())


@resource_rule("GKE009", CLUSTER)
def no_passwords(cluster: Resource, options: Options) -> Demands:
    """No user has a password."""
    auth = cluster["masterAuth"]
    none = ~auth["username"].is_set & ~auth["password"].is_set
    yield demand(none, auth["username"], "a password gives access to the cluster", like="GCP-0064")


@resource_rule("GKE022", CLUSTER)
def pulumi_protects_the_cluster(cluster: Resource, options: Options) -> Demands:
    """Pulumi rejects the deletion in the preview, before Google does."""
    yield demand(cluster.protect, NOWHERE, "the resource option protect is not set")


@resource_rule("GKE024", CLUSTER)
def control_plane_survives_a_zone(cluster: Resource, options: Options) -> Demands:
    """The location is a region, or a zone of a region with a single zone."""
    at = cluster["location"]
    alone = tuple(options["singleZoneRegions"])
    regional = at.test(lambda it: str(it).count("-") == 1 or str(it).rpartition("-")[0] in alone)
    yield demand(regional, at, "the control plane is in one zone")


@stack_rule("GKE025")
def node_versions_match_the_control_plane(stack: Stack, options: Options) -> Demands:
    """Only for versions that the program sets."""
    pools = [pool for pool in stack.of(POOL) if not pool["version"].one_of(None)]
    masters = {it["name"].get(): it["minMasterVersion"] for it in stack.of(CLUSTER)} if pools else {}
    for pool in pools:
        at, master = pool["version"], masters.get(cluster_of(pool), NOWHERE)
        ahead, behind = _minor(master.get()), _minor(at.get())
        if ahead is not None and behind is not None:
            text = f"the control plane is {master.get()}; allowed: at most {MAX_SKEW} minor versions behind"
            yield demand(0 <= ahead - behind <= MAX_SKEW, at, text)


@stack_rule("GKE027")
def clusters_are_within_gke_limits(stack: Stack, options: Options) -> Demands:
    """Nodes of each cluster."""
    nodes: dict[Any, int] = defaultdict(int)
    for pool in stack.of(POOL):
        nodes[cluster_of(pool)] += node_range(pool)[1]
    for cluster, count in nodes.items():
        yield demand(count <= MAX_NODES, NOWHERE, f"{cluster} grows to {count} nodes; allowed: at most {MAX_NODES}")


@stack_rule("GKE027")
def workloads_are_within_gke_limits(stack: Stack, options: Options) -> Demands:
    """Pods and Services of the stack."""
    pods = sum(pod_count(it) for it in stack.of(*COUNTED))
    yield demand(pods <= MAX_PODS, NOWHERE, f"the workloads request {pods} pods; a cluster runs at most {MAX_PODS}")
    services = sum(1 for _ in stack.of(SERVICE))
    yield demand(services <= MAX_SERVICES, NOWHERE, f"{services} Services; a cluster has at most {MAX_SERVICES}")


def _minor(version: str | None) -> int | None:
    """The minor version; None for "latest", "-" and an unset version, which GKE chooses."""
    try:
        return GkeVersion.parse(version or "").minor
    except SliceError:
        return None
