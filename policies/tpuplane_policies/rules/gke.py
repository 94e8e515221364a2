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
from tpuplane_policies.rules.gke_nodes import exposes_metadata, hides_metadata, like_metadata
from tpuplane_policies.rules.kinds import COUNTED, PROXIES, SERVICE, SUBNETWORK
from tpuplane_policies.rules.pods import pod_count
from tpuplane_policies.rules.pools import cluster_of, node_range
from tpuplane_policies.rules.project import is_world

MAX_NODES = 15_000  # google/gke-policy-automation, scalability/nodes_per_cluster.rego
MAX_PODS, MAX_SERVICES = 200_000, 10_000  # the same, scalability/{pods,services}_per_cluster.rego
MAX_SKEW = 2  # minor versions that nodes may be behind their control plane


@resource_rule("GKE001", CLUSTER)
def nodes_are_private(cluster: Resource, options: Options) -> Demands:
    """Nodes have no public addresses. checkov accepts an empty block, with which GKE gives them some."""
    block = cluster["privateClusterConfig"]
    at = block["enablePrivateNodes"]
    like = "GCP-0059 CKV_GCP_25 CKV_GCP_64" if block.one_of(None).holds else "GCP-0059"
    yield demand(at.is_true, at, "nodes have public addresses", like=like)


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
def authorized_networks_are_set(cluster: Resource, options: Options) -> Demands:
    """Without IP endpoints no block is needed."""
    block = cluster["masterAuthorizedNetworksConfig"]
    no_address = cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].one_of(False)
    exists = block.test(lambda it: it is not None) | no_address
    yield demand(exists, block, "every network can reach the control plane", like="CKV_GCP_20 GCP-0061")
    for at in _networks(cluster):
        yield demand(~at.test(is_world), at, "the whole internet can reach the control plane")


def _networks(cluster: Resource) -> Iterator[Value]:
    return (allowed["cidrBlock"] for allowed in cluster["masterAuthorizedNetworksConfig.cidrBlocks"].each())


@resource_rule("GKE004", CLUSTER)
def workload_identity_is_on(cluster: Resource, options: Options) -> Demands:
    """Autopilot always has it. GKE accepts GKE_METADATA only with it."""
    at, mode = cluster["workloadIdentityConfig.workloadPool"], cluster["nodeConfig.workloadMetadataConfig"]
    on = at.is_set | cluster["enableAutopilot"].is_true | hides_metadata(mode)
    yield demand(on, at, "pods share the identity of their node", like=like_metadata(cluster["nodeConfig"]))
    text = "pods can use the identity of the node"
    yield demand(~exposes_metadata(mode), mode["mode"], text, like="CKV_GCP_69 GCP-0057")


@resource_rule("GKE009", CLUSTER)
def no_static_credentials(cluster: Resource, options: Options) -> Demands:
    """No password and no client certificate."""
    auth = cluster["masterAuth"]
    none = ~auth["username"].is_set & ~auth["password"].is_set
    yield demand(none, auth["username"], "a password gives access to the cluster", like="GCP-0064")
    at = auth["clientCertificateConfig.issueClientCertificate"]
    yield demand(~at.is_true, at, "a client certificate cannot be revoked", like="CKV_GCP_13 GCP-0064")


@resource_rule("GKE011", CLUSTER)
def versions_come_from_a_channel(cluster: Resource, options: Options) -> Demands:
    """checkov accepts every channel, also UNSPECIFIED."""
    at = cluster["releaseChannel.channel"]
    channel = at.one_of("RAPID", "REGULAR", "STABLE", "EXTENDED")
    like = "" if at.is_set.holds else "CKV_GCP_70"
    yield demand(channel, at, "GKE does not upgrade this cluster in time", like=like)


@resource_rule("GKE013", CLUSTER)
def maintenance_has_a_window(cluster: Resource, options: Options) -> Demands:
    """A recurring or a daily window."""
    at = cluster["maintenancePolicy"]
    window = at["recurringWindow"].is_set | at["dailyMaintenanceWindow"].is_set
    yield demand(window, at, "upgrades run at any time and end the jobs of whole slices")


@resource_rule("GKE014", CLUSTER)
def network_policies_are_enforced(cluster: Resource, options: Options) -> Demands:
    """Dataplane V2 enforces them, and Autopilot has Dataplane V2."""
    at = cluster["datapathProvider"]
    built_in = at.one_of("ADVANCED_DATAPATH") | cluster["enableAutopilot"].is_true
    enforced = built_in | cluster["networkPolicy.enabled"].is_true
    yield demand(enforced, at, "NetworkPolicies are accepted but not enforced", like="CKV_GCP_12 GCP-0056")


@resource_rule("GKE015", CLUSTER)
def networking_is_vpc_native(cluster: Resource, options: Options) -> Demands:
    """Autopilot is always VPC-native."""
    at, autopilot = cluster["ipAllocationPolicy"], cluster["enableAutopilot"].is_true
    native = at.test(lambda it: it is not None) | cluster["networkingMode"].one_of("VPC_NATIVE") | autopilot
    yield demand(native, at, "pods have no addresses of the VPC", like="CKV_GCP_23 GCP-0049")


@resource_rule("GKE015", SUBNETWORK)
def flow_logs_are_on(subnetwork: Resource, options: Options) -> Demands:
    """Subnetworks for proxies of load balancers have no flow logs."""
    at = subnetwork["logConfig"]
    proxies = subnetwork["purpose"].one_of(*PROXIES)
    text, remedy = "there is no record of network traffic", "set logConfig on the subnetwork"
    yield demand(proxies | at.is_set, at, text, like="CKV_GCP_26 GCP-0076", remedy=remedy)


@resource_rule("GKE016", CLUSTER)
def logs_and_metrics_are_on(cluster: Resource, options: Options) -> Demands:
    """Both are on by default."""
    for name, like in (("logging", "CKV_GCP_1 GCP-0060"), ("monitoring", "CKV_GCP_8 GCP-0052")):
        at = cluster[f"{name}Service"]
        yield demand(~at.one_of("none", ""), at, "nothing is recorded", like=like)
        legacy = at.one_of(f"{name}.googleapis.com")
        yield demand(~legacy, at, "Kubernetes resources are not recorded", like=like.partition(" ")[2])
        at = cluster[f"{name}Config.enableComponents"]
        system = at.one_of(None) | at.contains("SYSTEM_COMPONENTS")
        yield demand(system, at, "system components are not recorded; add SYSTEM_COMPONENTS")


@resource_rule("GKE022", CLUSTER)
def pulumi_protects_the_cluster(cluster: Resource, options: Options) -> Demands:
    """Pulumi rejects the deletion in the preview, before Google does."""
    yield demand(cluster.protect, NOWHERE, "the resource option protect is not set")


@resource_rule("GKE023", CLUSTER)
def pools_are_separate_resources(cluster: Resource, options: Options) -> Demands:
    """With removeDefaultNodePool the pools inside the cluster are deleted when it exists."""
    at, inside = cluster["removeDefaultNodePool"], cluster["nodePools"]
    yield demand(~inside.is_set | at.is_true, inside, "node pools are part of the cluster", like="CKV_GCP_123")


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
