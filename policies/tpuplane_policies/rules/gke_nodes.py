"""GKE nodes: identity, image, boot integrity, disks and labels."""

from __future__ import annotations

from tpuplane_policies.core.judging import Demand, Demands, Options, Repairs, demand
from tpuplane_policies.core.registry import repair_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource
from tpuplane_policies.core.values import Value
from tpuplane_policies.rules.iam import grants
from tpuplane_policies.rules.kinds import IAM
from tpuplane_policies.rules.pools import node_configs, node_range, zone_count

BROAD = ("roles/editor", "roles/owner", "roles/container.admin", "roles/compute.admin", "roles/iam.serviceAccountUser")
COS = ("COS", "COS_CONTAINERD")
MAX_NODES_PER_ZONE = 1000  # google/gke-policy-automation, scalability/nodes_per_pool_zone.rego


@resource_rule("GKE005", POOL)
def nodes_have_their_own_account(pool: Resource, options: Options) -> Demands:
    """Nodes of a pool."""
    yield _own_account(pool["nodeConfig.serviceAccount"], "nodes")


@resource_rule("GKE005", CLUSTER)
def nodes_of_clusters_have_their_own_account(cluster: Resource, options: Options) -> Demands:
    """Nodes of the default pool, and nodes that GKE creates."""
    autopilot = cluster["enableAutopilot"].is_true
    provisions = cluster["clusterAutoscaling.enabled"].is_true | autopilot
    if ~cluster["removeDefaultNodePool"].is_true & ~autopilot:
        yield _own_account(cluster["nodeConfig.serviceAccount"], "nodes", compared=not provisions.holds)
    if provisions:
        at = cluster["clusterAutoscaling.autoProvisioningDefaults.serviceAccount"]
        yield _own_account(at, "auto-provisioned nodes")


def _own_account(at: Value, nodes: str, *, compared: bool = True) -> Demand:
    """trivy checks only whether an account is set."""
    suffix = "-compute@developer.gserviceaccount.com"
    own = at.test(lambda it: bool(it) and it != "default" and not str(it).endswith(suffix))
    like = "GCP-0050" if compared and not at.is_set.holds else ""
    return demand(own, at, f"{nodes} run as Compute Engine's default account", like=like)


@resource_rule("GKE005", IAM)
def nodes_have_narrow_roles(binding: Resource, options: Options) -> Demands:
    """Service accounts have no roles that reach beyond their cluster."""
    for role, members in grants(binding):
        for member in members:
            is_account = member.test(lambda it: str(it).startswith("serviceAccount:"))
            text, remedy = "too broad for a service account", "grant narrower roles"
            yield demand(~(is_account & role.one_of(*BROAD)), role, text, remedy=remedy)


@repair_rule("GKE006", CLUSTER)
def shield_nodes(cluster: Resource, options: Options) -> Repairs:
    """GKE makes this change in place."""
    if cluster["enableShieldedNodes"].is_false:
        yield ("enableShieldedNodes",), True


@repair_rule("GKE006", CLUSTER, POOL)
def check_boot_integrity(it: Resource, options: Options) -> Repairs:
    """For new nodes. The change replaces an existing pool, which needs approval (REP002)."""
    if it.type == POOL or it["nodeConfig"].is_set:
        config = it["nodeConfig.shieldedInstanceConfig"]
        for name in ("enableSecureBoot", "enableIntegrityMonitoring"):
            if config[name].get() is False or (name == "enableSecureBoot" and config[name].get() is None):
                yield ("nodeConfig", "shieldedInstanceConfig", name), True


@resource_rule("GKE007", CLUSTER, POOL)
def nodes_run_cos(it: Resource, options: Options) -> Demands:
    """COS with containerd is GKE's default. COS is its former name."""
    for config in node_configs(it):
        at = config["imageType"]
        cos = at.test(lambda image: not image or str(image).upper() in COS)
        yield demand(cos, at, "not Container-Optimized OS; allowed: COS_CONTAINERD", like="CKV_GCP_22 GCP-0054")


@resource_rule("GKE021", CLUSTER, POOL)
def configured_labels_are_set(it: Resource, options: Options) -> Demands:
    """The labels of the option `labels`."""
    labels = it["resourceLabels"] if it.type == CLUSTER else it["nodeConfig.resourceLabels"]
    for key in options["labels"]:
        at = labels.child(key)
        yield demand(at.is_set, at, f"costs cannot be attributed; required labels: {', '.join(options['labels'])}")


@repair_rule("GKE021", CLUSTER, POOL)
def set_missing_labels(it: Resource, options: Options) -> Repairs:
    """Only labels without a value."""
    path = ("resourceLabels",) if it.type == CLUSTER else ("nodeConfig", "resourceLabels")
    labels = it[".".join(path)]
    for key, value in options["values"].items():
        if labels.child(key).get() in (None, ""):
            yield (*path, key), value


@resource_rule("GKE026", POOL)
def pools_are_within_gke_limits(pool: Resource, options: Options) -> Demands:
    """Nodes in one zone of one pool."""
    largest = node_range(pool)[1] // zone_count(pool)
    at = pool["autoscaling.maxNodeCount"] if pool["autoscaling"].is_set else pool["nodeCount"]
    yield demand(largest <= MAX_NODES_PER_ZONE, at, f"a pool has at most {MAX_NODES_PER_ZONE} nodes in a zone")
