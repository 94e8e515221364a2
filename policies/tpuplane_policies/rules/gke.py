"""GKE clusters: who reaches them, what they encrypt, record and keep."""

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
ENFORCING = (
    "PROJECT_SINGLETON_POLICY_ENFORCE",
    "POLICY_BINDINGS",
    "POLICY_BINDINGS_AND_PROJECT_SINGLETON_POLICY_ENFORCE",
)
MAX_SKEW = 2  # minor versions that nodes may be behind their control plane


@resource_rule("GKE001", CLUSTER)
def nodes_are_private(cluster: Resource, options: Options) -> Demands:
    """Nodes without public addresses."""
    block = cluster["privateClusterConfig"]
    at = block["enablePrivateNodes"]
    # checkov is content with a block that says nothing; nodes are public then.
    like = "GCP-0059 CKV_GCP_25 CKV_GCP_64" if block.one_of(None).holds else "GCP-0059"
    yield demand(at.is_true, at, "nodes have public addresses", like=like)


@resource_rule("GKE001", POOL)
def pools_keep_it_private(pool: Resource, options: Options) -> Demands:
    """A pool may overrule its cluster; it must not."""
    at = pool["networkConfig.enablePrivateNodes"]
    yield demand(~at.one_of(False), at, "this pool's nodes have public addresses")


@resource_rule("GKE002", CLUSTER)
def the_control_plane_is_not_public(cluster: Resource, options: Options) -> Demands:
    """No address that the internet reaches: a private endpoint, the DNS name alone, or named private networks."""
    at = cluster["privateClusterConfig.enablePrivateEndpoint"]
    off = at.is_true | cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].one_of(False)
    unsaid = Truth(not options["privateEndpoint"]) & at.one_of(None)
    yield demand(off | unsaid, at, "the control plane has a public address")
    for at in _networks(cluster):
        yield demand(~at.test(is_world), at, "the control plane is the whole internet's", like="CKV_GCP_18 GCP-0053")


@resource_rule("GKE003", CLUSTER)
def only_named_networks_reach_it(cluster: Resource, options: Options) -> Demands:
    """The block is there, and does not name the whole world. Without IP endpoints there is nothing to name."""
    block = cluster["masterAuthorizedNetworksConfig"]
    no_address = cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].one_of(False)
    there = block.test(lambda it: it is not None) | no_address
    yield demand(there, block, "every network reaches the control plane", like="CKV_GCP_20 GCP-0061")
    for at in _networks(cluster):
        yield demand(~at.test(is_world), at, "the whole internet reaches the control plane")


def _networks(cluster: Resource) -> Iterator[Value]:
    return (allowed["cidrBlock"] for allowed in cluster["masterAuthorizedNetworksConfig.cidrBlocks"].each())


@resource_rule("GKE004", CLUSTER)
def workloads_have_identities(cluster: Resource, options: Options) -> Demands:
    """Workload Identity; Autopilot always has it, and GKE takes GKE_METADATA only where it is on."""
    at, mode = cluster["workloadIdentityConfig.workloadPool"], cluster["nodeConfig.workloadMetadataConfig"]
    on = at.is_set | cluster["enableAutopilot"].is_true | hides_metadata(mode)
    yield demand(on, at, "pods share the identity of their node", like=like_metadata(cluster["nodeConfig"]))
    hidden = ~exposes_metadata(mode)
    yield demand(hidden, mode["mode"], "pods could take the node's identity", like="CKV_GCP_69 GCP-0057")


@resource_rule("GKE008", CLUSTER)
def no_legacy_authorization(cluster: Resource, options: Options) -> Demands:
    """RBAC alone decides."""
    at = cluster["enableLegacyAbac"]
    text = "every service account of the cluster may do almost anything"
    yield demand(~at.is_true, at, text, like="CKV_GCP_7 GCP-0062")


@resource_rule("GKE009", CLUSTER)
def no_static_credentials(cluster: Resource, options: Options) -> Demands:
    """Neither a password nor a client certificate, which nobody can revoke."""
    auth = cluster["masterAuth"]
    none = ~auth["username"].is_set & ~auth["password"].is_set
    yield demand(none, auth["username"], "a password opens the cluster", like="GCP-0064")
    at = auth["clientCertificateConfig.issueClientCertificate"]
    yield demand(~at.is_true, at, "a client certificate cannot be revoked", like="CKV_GCP_13 GCP-0064")


@resource_rule("GKE011", CLUSTER)
def versions_come_from_a_channel(cluster: Resource, options: Options) -> Demands:
    """A release channel; no alpha features, which end after 30 days."""
    at = cluster["releaseChannel.channel"]
    channel = at.one_of("RAPID", "REGULAR", "STABLE", "EXTENDED")
    like = "" if at.is_set.holds else "CKV_GCP_70"
    yield demand(channel, at, "nobody upgrades this cluster in time", like=like)
    at = cluster["enableKubernetesAlpha"]
    yield demand(~at.is_true, at, "an alpha cluster is deleted after 30 days", like="CKV2_GCP_19")


@resource_rule("GKE013", CLUSTER)
def upgrades_have_their_time(cluster: Resource, options: Options) -> Demands:
    """An upgrade ends a slice's job: it comes when it was said to."""
    at = cluster["maintenancePolicy"]
    window = at["recurringWindow"].is_set | at["dailyMaintenanceWindow"].is_set
    yield demand(window, at, "upgrades come at any hour, and end the jobs of whole slices")


@resource_rule("GKE014", CLUSTER)
def network_policies_hold(cluster: Resource, options: Options) -> Demands:
    """Dataplane V2 has them built in, and Autopilot has Dataplane V2."""
    at = cluster["datapathProvider"]
    built_in = at.one_of("ADVANCED_DATAPATH") | cluster["enableAutopilot"].is_true
    enforced = built_in | cluster["networkPolicy.enabled"].is_true
    yield demand(enforced, at, "NetworkPolicies are accepted and not enforced", like="CKV_GCP_12 GCP-0056")


@resource_rule("GKE015", CLUSTER)
def traffic_is_native_and_seen(cluster: Resource, options: Options) -> Demands:
    """VPC-native addresses, and traffic between pods of one node that flow logs see. Autopilot has both."""
    at, autopilot = cluster["ipAllocationPolicy"], cluster["enableAutopilot"].is_true
    native = at.test(lambda it: it is not None) | cluster["networkingMode"].one_of("VPC_NATIVE") | autopilot
    yield demand(native, at, "pods have no addresses of the VPC", like="CKV_GCP_23 GCP-0049")
    at = cluster["enableIntranodeVisibility"]
    yield demand(at.is_true | autopilot, at, "traffic inside a node is not seen", like="CKV_GCP_61")


@resource_rule("GKE015", SUBNETWORK)
def traffic_is_recorded(subnetwork: Resource, options: Options) -> Demands:
    """Flow logs, save in subnetworks that hold nothing but load balancers' proxies."""
    at = subnetwork["logConfig"]
    proxies = subnetwork["purpose"].one_of(*PROXIES)
    text = "nobody can say afterwards who talked to whom"
    remedy = "set logConfig on the subnetwork"
    yield demand(proxies | at.is_set, at, text, like="CKV_GCP_26 GCP-0076", remedy=remedy)


@resource_rule("GKE016", CLUSTER)
def the_cluster_is_observed(cluster: Resource, options: Options) -> Demands:
    """Logs, metrics and managed Prometheus, each of which is on by default."""
    for name, like in (("logging", "CKV_GCP_1 GCP-0060"), ("monitoring", "CKV_GCP_8 GCP-0052")):
        at = cluster[f"{name}Service"]
        yield demand(~at.one_of("none", ""), at, "nothing is recorded", like=like)
        legacy = at.one_of(f"{name}.googleapis.com")
        yield demand(~legacy, at, "Kubernetes' own records are missing", like=like.partition(" ")[2])
        at = cluster[f"{name}Config.enableComponents"]
        system = at.one_of(None) | at.contains("SYSTEM_COMPONENTS")
        yield demand(system, at, "the system's components are not recorded; wanted: SYSTEM_COMPONENTS")
    at = cluster["monitoringConfig.managedPrometheus.enabled"]
    yield demand(~at.one_of(False), at, "TPU metrics reach no Prometheus")


@resource_rule("GKE017", CLUSTER)
def secrets_have_a_key(cluster: Resource, options: Options) -> Demands:
    """Application-layer encryption with a key of one's own."""
    at = cluster["databaseEncryption.state"]
    yield demand(at.one_of("ENCRYPTED"), at, "secrets are encrypted with Google's key only")


@resource_rule("GKE019", CLUSTER)
def images_are_authorized(cluster: Resource, options: Options) -> Demands:
    """Binary Authorization, by the project's policy or by policies that the cluster names."""
    at = cluster["binaryAuthorization.evaluationMode"]
    on = at.one_of(*ENFORCING) | cluster["enableBinaryAuthorization"].is_true
    yield demand(on, at, "any image may run", like="CKV_GCP_66")


@resource_rule("GKE020", CLUSTER)
def groups_have_roles(cluster: Resource, options: Options) -> Demands:
    """Google Groups in RBAC."""
    at = cluster["authenticatorGroupsConfig.securityGroup"]
    yield demand(at.is_set, at, "rights are given to people one by one", like="CKV_GCP_65")


@resource_rule("GKE022", CLUSTER)
def the_cluster_is_not_deleted_by_mistake(cluster: Resource, options: Options) -> Demands:
    """Twice: Google refuses the deletion, and Pulumi refuses it already in the preview."""
    at = cluster["deletionProtection"]
    yield demand(~at.one_of(False), at, "Google would delete this cluster at once")
    yield demand(cluster.protect, NOWHERE, "the resource option protect is not set")


@resource_rule("GKE023", CLUSTER)
def pools_are_resources_of_their_own(cluster: Resource, options: Options) -> Demands:
    """A pool that is written inside its cluster cannot be changed without the cluster."""
    at = cluster["removeDefaultNodePool"]
    yield demand(at.is_true | cluster["enableAutopilot"].is_true, at, "the default pool stays")
    inside = cluster["nodePools"]  # beside removeDefaultNodePool they are gone once the cluster is there
    yield demand(~inside.is_set | at.is_true, inside, "pools are written inside their cluster", like="CKV_GCP_123")


@resource_rule("GKE024", CLUSTER)
def the_control_plane_survives_a_zone(cluster: Resource, options: Options) -> Demands:
    """A region, save where a region has a single zone."""
    at = cluster["location"]
    alone = tuple(options["singleZoneRegions"])
    regional = at.test(lambda it: str(it).count("-") == 1 or str(it).rpartition("-")[0] in alone)
    yield demand(regional, at, "the control plane is in one zone")


@stack_rule("GKE025")
def nodes_follow_their_control_plane(stack: Stack, options: Options) -> Demands:
    """Versions that are written down; what GKE chooses itself is in order."""
    pools = [pool for pool in stack.of(POOL) if not pool["version"].one_of(None)]
    masters = {it["name"].get(): it["minMasterVersion"] for it in stack.of(CLUSTER)} if pools else {}
    for pool in pools:
        at, master = pool["version"], masters.get(cluster_of(pool), NOWHERE)
        ahead, behind = _minor(master.get()), _minor(at.get())
        if ahead is not None and behind is not None:
            skew = ahead - behind
            text = f"the control plane is {master.get()}; at most {MAX_SKEW} behind"
            yield demand(0 <= skew <= MAX_SKEW, at, text)


@stack_rule("GKE027")
def clusters_are_within_gkes_limits(stack: Stack, options: Options) -> Demands:
    """15,000 nodes in a private cluster."""
    nodes: dict[Any, int] = defaultdict(int)
    for pool in stack.of(POOL):
        nodes[cluster_of(pool)] += node_range(pool)[1]
    for cluster, count in nodes.items():
        yield demand(count <= MAX_NODES, NOWHERE, f"{cluster} grows to {count} nodes; at most {MAX_NODES}")


@stack_rule("GKE027")
def what_runs_is_within_gkes_limits(stack: Stack, options: Options) -> Demands:
    """Pods and Services that the stack declares."""
    pods = sum(pod_count(it) for it in stack.of(*COUNTED))
    text = f"the workloads ask for {pods} pods; a cluster runs at most {MAX_PODS}"
    yield demand(pods <= MAX_PODS, NOWHERE, text)
    services = sum(1 for _ in stack.of(SERVICE))
    yield demand(services <= MAX_SERVICES, NOWHERE, f"{services} services; a cluster has at most {MAX_SERVICES}")


def _minor(version: str | None) -> int | None:
    """The minor version; None for "latest", "-" and what is not set, which GKE chooses itself."""
    try:
        return GkeVersion.parse(version or "").minor
    except SliceError:
        return None
