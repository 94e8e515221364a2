"""GKE nodes: who they are, what they run, how they are kept."""

from __future__ import annotations

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.kinds import CLUSTER, IAM, POOL
from tpuplane_policies.rules.pools import node_range, zone_count

BROAD = ("roles/editor", "roles/owner", "roles/container.admin", "roles/compute.admin", "roles/iam.serviceAccountUser")
MAX_NODES_PER_ZONE = 1000  # google/gke-policy-automation, scalability/nodes_per_pool_zone.rego


def _first_pool_stays(cluster: Resource) -> bool:
    """Whether the cluster keeps nodes that are written in the cluster itself."""
    return cluster["removeDefaultNodePool"].is_true.holds is False and cluster["enableAutopilot"].is_true.holds is False


def _own_account(account: Value) -> Truth:
    return account.test(
        lambda it: bool(it) and it != "default" and not str(it).endswith("-compute@developer.gserviceaccount.com")
    )


@resource_rule("GKE004", POOL)
def nodes_hide_their_identity(pool: Resource, options: Options) -> Demands:
    """Pods ask GKE's metadata server, never the machine's."""
    at = pool["nodeConfig.workloadMetadataConfig.mode"]
    yield demand(at.one_of("GKE_METADATA"), at, "pods could take the node's identity; allowed: GKE_METADATA")


@resource_rule("GKE005", POOL)
def nodes_run_as_their_own_account(pool: Resource, options: Options) -> Demands:
    """Compute Engine's default account may edit the whole project."""
    at = pool["nodeConfig.serviceAccount"]
    yield demand(_own_account(at), at, "nodes run as Compute Engine's default account")


@resource_rule("GKE005", CLUSTER)
def clusters_own_nodes_too(cluster: Resource, options: Options) -> Demands:
    """The first pool and auto-provisioned pools have an account of their own as well."""
    if _first_pool_stays(cluster):
        at = cluster["nodeConfig.serviceAccount"]
        yield demand(_own_account(at), at, "nodes run as Compute Engine's default account")
    if cluster["clusterAutoscaling.enabled"].is_true.holds:
        at = cluster["clusterAutoscaling.autoProvisioningDefaults.serviceAccount"]
        yield demand(_own_account(at), at, "auto-provisioned nodes run as Compute Engine's default account")


@resource_rule("GKE005", IAM)
def nodes_hold_narrow_roles(binding: Resource, options: Options) -> Demands:
    """A role for a service account that is as broad as the project is a way out of every cluster."""
    role = binding["role"]
    members = [*binding["members"].each(), binding["member"]]
    for member in members:
        is_account = member.test(lambda it: str(it).startswith("serviceAccount:"))
        yield demand(~(is_account & role.one_of(*BROAD)), role, "too broad for a service account")


@resource_rule("GKE006", CLUSTER)
def nodes_are_shielded(cluster: Resource, options: Options) -> Demands:
    """GKE's default is on."""
    at = cluster["enableShieldedNodes"]
    yield demand(~at.one_of(False), at, "nodes could be replaced by an attacker's")


@resource_rule("GKE006", POOL)
def nodes_check_what_they_boot(pool: Resource, options: Options) -> Demands:
    """Secure boot is off by default, integrity monitoring on."""
    config = pool["nodeConfig.shieldedInstanceConfig"]
    yield demand(config["enableSecureBoot"].is_true, config["enableSecureBoot"], "unsigned kernels could boot")
    at = config["enableIntegrityMonitoring"]
    yield demand(~at.one_of(False), at, "a changed boot would not be noticed")


@resource_rule("GKE007", POOL)
def nodes_run_cos(pool: Resource, options: Options) -> Demands:
    """COS with containerd is GKE's default."""
    at = pool["nodeConfig.imageType"]
    cos = at.test(lambda it: it is None or str(it).upper() == "COS_CONTAINERD")
    yield demand(cos, at, "not Container-Optimized OS; allowed: COS_CONTAINERD")


@resource_rule("GKE010", POOL)
def legacy_metadata_is_off(pool: Resource, options: Options) -> Demands:
    """GKE turns the old endpoints off by default; nobody may turn them on."""
    at = pool["nodeConfig.metadata"].child("disable-legacy-endpoints")
    yield demand(at.one_of(None, "true", True), at, "the old metadata endpoints answer without a header")


@resource_rule("GKE012", POOL)
def broken_nodes_are_repaired(pool: Resource, options: Options) -> Demands:
    """On, except for flex-start hosts, for which GKE refuses it."""
    at = pool["management.autoRepair"]
    flex = pool["nodeConfig.flexStart"].is_true
    yield demand(flex | at.is_true, at, "a broken host stays, and with it the whole slice")


@resource_rule("GKE013", POOL)
def nodes_are_upgraded(pool: Resource, options: Options) -> Demands:
    """A pool that is left behind ends outside the supported versions."""
    at = pool["management.autoUpgrade"]
    yield demand(at.is_true, at, "nodes stay on a version with known holes")


@resource_rule("GKE018", POOL)
def boot_disks_have_a_key(pool: Resource, options: Options) -> Demands:
    """Google encrypts anyway; a key of one's own can be taken away."""
    at = pool["nodeConfig.bootDiskKmsKey"]
    yield demand(at.is_set, at, "the disk has no key of your own")


@resource_rule("GKE021", CLUSTER)
def clusters_say_whose_they_are(cluster: Resource, options: Options) -> Demands:
    """The labels that `labels` names."""
    for key in options["labels"]:
        at = cluster["resourceLabels"].child(key)
        yield demand(at.is_set, at, f"the bill does not say whose it is; wanted: {', '.join(options['labels'])}")


@resource_rule("GKE021", POOL)
def pools_say_whose_they_are(pool: Resource, options: Options) -> Demands:
    """Machines carry the labels too: they are what costs."""
    for key in options["labels"]:
        at = pool["nodeConfig.resourceLabels"].child(key)
        yield demand(at.is_set, at, f"the bill does not say whose it is; wanted: {', '.join(options['labels'])}")


@resource_rule("GKE026", POOL)
def pools_are_within_gkes_limits(pool: Resource, options: Options) -> Demands:
    """A thousand nodes in one zone of one pool."""
    largest = node_range(pool)[1] // zone_count(pool)
    at = pool["autoscaling.maxNodeCount"] if pool["autoscaling"].is_set.holds else pool["nodeCount"]
    yield demand(largest <= MAX_NODES_PER_ZONE, at, f"a pool has at most {MAX_NODES_PER_ZONE} nodes in a zone")
