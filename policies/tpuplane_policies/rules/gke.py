"""GKE clusters: who reaches them, what they encrypt, record and keep."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tpuplane.tpu import GkeVersion, SliceError

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import Resource, Stack
from tpuplane_policies.core.values import Value
from tpuplane_policies.rules.kinds import CLUSTER, POOL
from tpuplane_policies.rules.pools import node_range

MAX_NODES = 15_000  # google/gke-policy-automation, scalability/nodes_per_cluster.rego
MAX_SKEW = 2  # minor versions that nodes may be behind their control plane


@resource_rule("GKE001", CLUSTER)
def nodes_are_private(cluster: Resource, options: Options) -> Demands:
    """Nodes without public addresses."""
    at = cluster["privateClusterConfig.enablePrivateNodes"]
    yield demand(at.is_true, at, "nodes have public addresses")


@resource_rule("GKE001", POOL)
def pools_keep_it_private(pool: Resource, options: Options) -> Demands:
    """A pool may overrule its cluster; it must not."""
    at = pool["networkConfig.enablePrivateNodes"]
    yield demand(~at.one_of(False), at, "this pool's nodes have public addresses")


@resource_rule("GKE002", CLUSTER)
def the_control_plane_is_not_public(cluster: Resource, options: Options) -> Demands:
    """A private endpoint, or no address at all beside the DNS name that Google guards with IAM."""
    at = cluster["privateClusterConfig.enablePrivateEndpoint"]
    dns_only = cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].one_of(False)
    yield demand(at.is_true | dns_only, at, "the control plane has a public address")


@resource_rule("GKE003", CLUSTER)
def only_named_networks_reach_it(cluster: Resource, options: Options) -> Demands:
    """The block is there, and does not name the whole world."""
    block = cluster["masterAuthorizedNetworksConfig"]
    yield demand(block.test(lambda it: it is not None), block, "every network reaches the control plane")
    for allowed in block["cidrBlocks"].each():
        at = allowed["cidrBlock"]
        yield demand(~at.one_of("0.0.0.0/0", "::/0"), at, "the whole internet reaches the control plane")


@resource_rule("GKE004", CLUSTER)
def workloads_have_identities(cluster: Resource, options: Options) -> Demands:
    """Workload Identity; Autopilot always has it."""
    at = cluster["workloadIdentityConfig.workloadPool"]
    yield demand(at.is_set | cluster["enableAutopilot"].is_true, at, "pods share the identity of their node")


@resource_rule("GKE008", CLUSTER)
def no_legacy_authorization(cluster: Resource, options: Options) -> Demands:
    """RBAC alone decides."""
    at = cluster["enableLegacyAbac"]
    yield demand(~at.is_true, at, "every service account of the cluster may do almost anything")


@resource_rule("GKE009", CLUSTER)
def no_static_credentials(cluster: Resource, options: Options) -> Demands:
    """Neither a password nor a client certificate, which nobody can revoke."""
    auth = cluster["masterAuth"]
    yield demand(~auth["username"].is_set & ~auth["password"].is_set, auth["username"], "a password opens the cluster")
    at = auth["clientCertificateConfig.issueClientCertificate"]
    yield demand(~at.is_true, at, "a client certificate cannot be revoked")


@resource_rule("GKE011", CLUSTER)
def versions_come_from_a_channel(cluster: Resource, options: Options) -> Demands:
    """A release channel; no alpha features, which end after 30 days."""
    at = cluster["releaseChannel.channel"]
    yield demand(at.one_of("RAPID", "REGULAR", "STABLE", "EXTENDED"), at, "nobody upgrades this cluster in time")
    at = cluster["enableKubernetesAlpha"]
    yield demand(~at.is_true, at, "an alpha cluster is deleted after 30 days")


@resource_rule("GKE013", CLUSTER)
def upgrades_have_their_time(cluster: Resource, options: Options) -> Demands:
    """An upgrade ends a slice's job: it comes when it was said to."""
    at = cluster["maintenancePolicy"]
    window = at["recurringWindow"].is_set | at["dailyMaintenanceWindow"].is_set
    yield demand(window, at, "upgrades come at any hour, and end the jobs of whole slices")


@resource_rule("GKE014", CLUSTER)
def network_policies_hold(cluster: Resource, options: Options) -> Demands:
    """Dataplane V2 has them built in."""
    at = cluster["datapathProvider"]
    enforced = at.one_of("ADVANCED_DATAPATH") | cluster["networkPolicy.enabled"].is_true
    yield demand(enforced, at, "NetworkPolicies are accepted and not enforced")


@resource_rule("GKE015", CLUSTER)
def traffic_is_native_and_seen(cluster: Resource, options: Options) -> Demands:
    """VPC-native addresses, and traffic between pods of one node that flow logs see."""
    at = cluster["ipAllocationPolicy"]
    native = at.test(lambda it: it is not None) | cluster["networkingMode"].one_of("VPC_NATIVE")
    yield demand(native, at, "pods have no addresses of the VPC")
    at = cluster["enableIntranodeVisibility"]
    yield demand(at.is_true, at, "traffic inside a node is not seen")


@resource_rule("GKE016", CLUSTER)
def the_cluster_is_observed(cluster: Resource, options: Options) -> Demands:
    """Logs, metrics and managed Prometheus, each of which is on by default."""
    for service in ("loggingService", "monitoringService"):
        yield demand(~cluster[service].one_of("none"), cluster[service], "nothing is recorded")
    for block in ("loggingConfig", "monitoringConfig"):
        at = cluster[f"{block}.enableComponents"]
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
    """Binary Authorization."""
    at = cluster["binaryAuthorization.evaluationMode"]
    on = at.test(lambda it: it not in (None, "DISABLED", "EVALUATION_MODE_UNSPECIFIED"))
    yield demand(on, at, "any image may run")


@resource_rule("GKE020", CLUSTER)
def groups_have_roles(cluster: Resource, options: Options) -> Demands:
    """Google Groups in RBAC."""
    at = cluster["authenticatorGroupsConfig.securityGroup"]
    yield demand(at.is_set, at, "rights are given to people one by one")


@resource_rule("GKE022", CLUSTER)
def the_cluster_is_not_deleted_by_mistake(cluster: Resource, options: Options) -> Demands:
    """Twice: Google refuses the deletion, and Pulumi refuses it already in the preview."""
    at = cluster["deletionProtection"]
    yield demand(~at.one_of(False), at, "Google would delete this cluster at once")
    yield demand(cluster.protect, Value(None), "the resource option protect is not set")


@resource_rule("GKE023", CLUSTER)
def pools_are_resources_of_their_own(cluster: Resource, options: Options) -> Demands:
    """A pool that is written inside its cluster cannot be changed without the cluster."""
    at = cluster["removeDefaultNodePool"]
    yield demand(at.is_true | cluster["enableAutopilot"].is_true, at, "the default pool stays")
    yield demand(~cluster["nodePools"].is_set, cluster["nodePools"], "pools are written inside their cluster")


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
    masters = {it["name"].raw: it["minMasterVersion"].get() for it in stack.of(CLUSTER)}
    for pool in stack.of(POOL):
        at, master = pool["version"], masters.get(pool["cluster"].raw)
        ahead, behind = _minor(master), _minor(at.get())
        if ahead is not None and behind is not None:
            skew = ahead - behind
            yield demand(0 <= skew <= MAX_SKEW, at, f"the control plane is {master}; at most {MAX_SKEW} behind", pool)


@stack_rule("GKE026")
def clusters_are_within_gkes_limits(stack: Stack, options: Options) -> Demands:
    """15,000 nodes in a private cluster."""
    nodes: dict[Any, int] = defaultdict(int)
    for pool in stack.of(POOL):
        nodes[pool["cluster"].raw] += node_range(pool)[1]
    for cluster, count in nodes.items():
        yield demand(count <= MAX_NODES, Value(None), f"{cluster} grows to {count} nodes; at most {MAX_NODES}")


def _minor(version: str | None) -> int | None:
    """The minor version; None for "latest", "-" and what is not set, which GKE chooses itself."""
    try:
        return GkeVersion.parse(version or "").minor
    except SliceError:
        return None
