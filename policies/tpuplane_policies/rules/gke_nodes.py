"""GKE nodes: who they are, what they run, how they are kept."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane_policies.core.judging import Demands, Options, Repairs, demand
from tpuplane_policies.core.registry import repair_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.iam import grants
from tpuplane_policies.rules.kinds import IAM, INSTANCE
from tpuplane_policies.rules.pools import node_range, zone_count

BROAD = ("roles/editor", "roles/owner", "roles/container.admin", "roles/compute.admin", "roles/iam.serviceAccountUser")
COS = ("COS", "COS_CONTAINERD")
EXPOSING = ("UNSPECIFIED", "EXPOSE", "MODE_UNSPECIFIED", "GCE_METADATA")
MAX_NODES_PER_ZONE = 1000  # google/gke-policy-automation, scalability/nodes_per_pool_zone.rego


def _first_pool_stays(cluster: Resource) -> bool:
    """Whether the cluster keeps nodes that are written in the cluster itself."""
    return bool(~cluster["removeDefaultNodePool"].is_true & ~cluster["enableAutopilot"].is_true)


def _own_account(account: Value) -> Truth:
    return account.test(
        lambda it: bool(it) and it != "default" and not str(it).endswith("-compute@developer.gserviceaccount.com")
    )


@resource_rule("GKE004", POOL)
def nodes_hide_their_identity(pool: Resource, options: Options) -> Demands:
    """Pods ask GKE's metadata server, never the machine's."""
    config = pool["nodeConfig.workloadMetadataConfig"]
    at = config["mode"]
    text = "pods could take the node's identity; allowed: GKE_METADATA"
    yield demand(hides_metadata(config), at, text, like=like_metadata(pool["nodeConfig"]))


def like_metadata(nodes: Value) -> str:
    """Checks of others that find it too: trivy's looks only where nodes are described."""
    return "CKV_GCP_69" + (" GCP-0057" if (~nodes.one_of(None)).holds else "")


def exposes_metadata(config: Value) -> Truth:
    """Whether it is said that pods see the machine's own metadata."""
    return config["mode"].one_of(*EXPOSING) | config["nodeMetadata"].one_of(*EXPOSING)


def hides_metadata(config: Value) -> Truth:
    """Whether pods see GKE's metadata server; the second name is that of the API's earlier versions."""
    return config["mode"].one_of("GKE_METADATA") | config["nodeMetadata"].one_of("GKE_METADATA_SERVER", "SECURE")


@resource_rule("GKE005", POOL)
def nodes_run_as_their_own_account(pool: Resource, options: Options) -> Demands:
    """Compute Engine's default account may edit the whole project."""
    at = pool["nodeConfig.serviceAccount"]
    yield demand(_own_account(at), at, "nodes run as Compute Engine's default account", like=_like(at))


@resource_rule("GKE005", CLUSTER)
def clusters_own_nodes_too(cluster: Resource, options: Options) -> Demands:
    """The first pool, and what GKE makes by itself, have an account of their own as well."""
    makes_its_own = cluster["clusterAutoscaling.enabled"].is_true | cluster["enableAutopilot"].is_true
    if _first_pool_stays(cluster):
        at = cluster["nodeConfig.serviceAccount"]
        text = "nodes run as Compute Engine's default account"
        yield demand(_own_account(at), at, text, like="" if makes_its_own.holds else _like(at))
    if makes_its_own:
        at = cluster["clusterAutoscaling.autoProvisioningDefaults.serviceAccount"]
        text = "auto-provisioned nodes run as Compute Engine's default account"
        yield demand(_own_account(at), at, text, like=_like(at))


def _like(account: Value) -> str:
    """Which check of others finds it: trivy's looks whether an account is named, not whose it is."""
    return "" if account.is_set.holds else "GCP-0050"


@resource_rule("GKE005", IAM)
def nodes_hold_narrow_roles(binding: Resource, options: Options) -> Demands:
    """A role for a service account that is as broad as the project is a way out of every cluster."""
    for role, members in grants(binding):
        for member in members:
            is_account = member.test(lambda it: str(it).startswith("serviceAccount:"))
            yield demand(
                ~(is_account & role.one_of(*BROAD)),
                role,
                "too broad for a service account",
                remedy="grant narrower roles",
            )


@resource_rule("GKE006", CLUSTER)
def nodes_are_shielded(cluster: Resource, options: Options) -> Demands:
    """GKE's default is on."""
    at = cluster["enableShieldedNodes"]
    yield demand(~at.one_of(False, "false"), at, "nodes could be replaced by an attacker's", like="CKV_GCP_71 GCP-0055")


@resource_rule("GKE006", CLUSTER, POOL)
def nodes_check_what_they_boot(it: Resource, options: Options) -> Demands:
    """Secure boot is off by default, integrity monitoring on."""
    for written in _node_configs(it):
        config = written["shieldedInstanceConfig"]
        at = config["enableSecureBoot"]
        yield demand(at.is_true, at, "unsigned kernels could boot", like="CKV_GCP_68")
        at = config["enableIntegrityMonitoring"]
        yield demand(~at.one_of(False, "false"), at, "a changed boot would not be noticed", like="CKV_GCP_72")


@repair_rule("GKE006", CLUSTER)
def shield_nodes(cluster: Resource, options: Options) -> Repairs:
    """GKE turns it on in place."""
    if cluster["enableShieldedNodes"].is_false:
        yield ("enableShieldedNodes",), True


@repair_rule("GKE006", CLUSTER, POOL)
def check_what_nodes_boot(it: Resource, options: Options) -> Repairs:
    """Of nodes that are made anew; existing pools would be replaced for it, which REP002 holds up."""
    if it.type == POOL or it["nodeConfig"].is_set:
        config = it["nodeConfig.shieldedInstanceConfig"]
        for name in ("enableSecureBoot", "enableIntegrityMonitoring"):
            wanted = config[name].get() is False or (name == "enableSecureBoot" and config[name].get() is None)
            if wanted:
                yield ("nodeConfig", "shieldedInstanceConfig", name), True


@resource_rule("GKE007", CLUSTER, POOL)
def nodes_run_cos(it: Resource, options: Options) -> Demands:
    """COS with containerd is GKE's default; plain COS is what it was called before."""
    for written in _node_configs(it):
        at = written["imageType"]
        cos = at.test(lambda image: not image or str(image).upper() in COS)
        yield demand(cos, at, "not Container-Optimized OS; allowed: COS_CONTAINERD", like="CKV_GCP_22 GCP-0054")


@resource_rule("GKE010", CLUSTER, POOL)
def legacy_metadata_is_off(it: Resource, options: Options) -> Demands:
    """GKE turns the old endpoints off by default; nobody may turn them on."""
    for written in _node_configs(it):
        at = written["metadata"].child("disable-legacy-endpoints")
        off = at.one_of(None, "true", True)
        yield demand(off, at, "the old metadata endpoints answer without a header", like="GCP-0048")


@resource_rule("GKE012", POOL)
def broken_nodes_are_repaired(pool: Resource, options: Options) -> Demands:
    """On, except for flex-start hosts, for which GKE refuses it."""
    at = pool["management.autoRepair"]
    flex = pool["nodeConfig.flexStart"].is_true
    yield demand(flex | at.is_true, at, "a broken host stays, and with it the whole slice", like="CKV_GCP_9 GCP-0063")


@resource_rule("GKE013", POOL)
def nodes_are_upgraded(pool: Resource, options: Options) -> Demands:
    """A pool that is left behind ends outside the supported versions."""
    at = pool["management.autoUpgrade"]
    yield demand(at.is_true, at, "nodes stay on a version with known holes", like="CKV_GCP_10 GCP-0058")


@resource_rule("GKE012", CLUSTER)
def what_gke_makes_is_repaired(cluster: Resource, options: Options) -> Demands:
    """Pools of node auto-provisioning: GKE's default is on."""
    at = cluster["clusterAutoscaling.autoProvisioningDefaults.management.autoRepair"]
    yield demand(~at.one_of(False), at, "auto-provisioned nodes stay broken")


@resource_rule("GKE013", CLUSTER)
def what_gke_makes_is_upgraded(cluster: Resource, options: Options) -> Demands:
    """Pools of node auto-provisioning: GKE's default is on."""
    at = cluster["clusterAutoscaling.autoProvisioningDefaults.management.autoUpgrade"]
    yield demand(~at.one_of(False), at, "auto-provisioned nodes stay on a version with known holes")


@resource_rule("GKE018", CLUSTER, POOL)
def boot_disks_have_a_key(it: Resource, options: Options) -> Demands:
    """Google encrypts anyway; a key of one's own can be taken away."""
    for written in _node_configs(it):
        at = written["bootDiskKmsKey"]
        yield demand(at.is_set, at, "the disk has no key of your own")


@resource_rule("GKE018", INSTANCE)
def machines_disks_have_a_key(machine: Resource, options: Options) -> Demands:
    """Machines beside the cluster, such as a bastion."""
    for disk in (machine["bootDisk"], *machine["attachedDisks"].each()):
        at = disk["kmsKeySelfLink"]
        yield demand(
            disk.one_of(None) | at.is_set,
            at,
            "the disk has no key of your own",
            like="GCP-0033",
            remedy="set the disk's kmsKeySelfLink",
        )


def _node_configs(it: Resource) -> Iterator[Value]:
    """Every description of nodes: a pool's own, the cluster's for its first pool, and that of auto-provisioning."""
    if it.type == POOL:
        yield it["nodeConfig"]
        return
    if it["nodeConfig"].is_set & ~it["enableAutopilot"].is_true:
        yield it["nodeConfig"]
    if it["clusterAutoscaling.enabled"].is_true:
        yield it["clusterAutoscaling.autoProvisioningDefaults"]


@resource_rule("GKE021", CLUSTER)
def clusters_say_whose_they_are(cluster: Resource, options: Options) -> Demands:
    """At least one, and those that `labels` names."""
    at = cluster["resourceLabels"]
    yield demand(at.is_set, at, "the bill does not say whose it is", like="CKV_GCP_21 GCP-0051")
    for key in options["labels"]:
        at = cluster["resourceLabels"].child(key)
        yield demand(at.is_set, at, f"the bill does not say whose it is; wanted: {', '.join(options['labels'])}")


@resource_rule("GKE021", POOL)
def pools_say_whose_they_are(pool: Resource, options: Options) -> Demands:
    """Machines carry the labels too: they are what costs."""
    for key in options["labels"]:
        at = pool["nodeConfig.resourceLabels"].child(key)
        yield demand(at.is_set, at, f"the bill does not say whose it is; wanted: {', '.join(options['labels'])}")


@repair_rule("GKE021", CLUSTER, POOL)
def say_whose_they_are(it: Resource, options: Options) -> Repairs:
    """The labels that `values` gives, where they are missing; nobody's own value is changed."""
    path = ("resourceLabels",) if it.type == CLUSTER else ("nodeConfig", "resourceLabels")
    labels = it[".".join(path)]
    for key, value in options["values"].items():
        if labels.child(key).get() in (None, ""):
            yield (*path, key), value


@resource_rule("GKE026", POOL)
def pools_are_within_gkes_limits(pool: Resource, options: Options) -> Demands:
    """A thousand nodes in one zone of one pool."""
    largest = node_range(pool)[1] // zone_count(pool)
    at = pool["autoscaling.maxNodeCount"] if pool["autoscaling"].is_set else pool["nodeCount"]
    yield demand(largest <= MAX_NODES_PER_ZONE, at, f"a pool has at most {MAX_NODES_PER_ZONE} nodes in a zone")
