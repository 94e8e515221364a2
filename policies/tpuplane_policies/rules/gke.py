"""GKE clusters and nodes: access, protection, versions, identity, images, labels, and GKE's limits."""

from tpuplane.tpu import GkeVersion, SliceError

from tpuplane_policies.core.judging import Demand, Demands, Options, Repairs, demand, separately
from tpuplane_policies.core.registry import data, repair_rule, resource_rule, stack_rule
from tpuplane_policies.core.resources import CLUSTER, DEFAULT_POOL, POOL, Resource, Stack, keeps_default_pool
from tpuplane_policies.core.values import NOWHERE, Total, Truth, UndecidedError, Value
from tpuplane_policies.rules.iam import grants, is_account, is_of_google, is_workload
from tpuplane_policies.rules.kinds import COUNTED, IAM, SERVICE
from tpuplane_policies.rules.places import clusters_of, home, may_be, placed, zone_count
from tpuplane_policies.rules.pods import pod_count
from tpuplane_policies.rules.pools import node_range, sized_by, tpu_slice

MAX_NODES = 15_000  # google/gke-policy-automation, scalability/nodes_per_cluster.rego
MAX_PODS, MAX_SERVICES = 200_000, 10_000  # google/gke-policy-automation, scalability/{pods,services}_per_cluster.rego
CHOSEN_BY_GKE = (None, "", "-", "latest")
MAX_SKEW = 2  # minor versions by which nodes may be older than their control plane
MAX_NODES_PER_ZONE = 1000  # google/gke-policy-automation, scalability/nodes_per_pool_zone.rego


@resource_rule("GKE002", CLUSTER)
def control_plane_is_private(cluster: Resource, options: Options) -> Demands:
    """The endpoint is private, or only the DNS endpoint exists."""
    at = cluster["privateClusterConfig.enablePrivateEndpoint"]
    off = at.is_true | cluster["controlPlaneEndpointsConfig.ipEndpointsConfig.enabled"].is_false
    unset = Truth(not options["privateEndpoint"]) & at.one_of(None)
    yield demand(off | unset, at, "the control plane has a public address")


@resource_rule("GKE009", CLUSTER)
def no_passwords(cluster: Resource, options: Options) -> Demands:
    """No user has a password."""
    auth = cluster["masterAuth"]
    none = ~auth["username"].is_set & ~auth["password"].is_set
    text, remedy = "a user name with a password gives access to the cluster", "remove username and password"
    yield demand(none, auth, text, like="GCP-0064", remedy=remedy)


@resource_rule("GKE022", CLUSTER)
def pulumi_protects_the_cluster(cluster: Resource, options: Options) -> Demands:
    """Pulumi rejects the deletion in the preview, before Google does."""
    text, remedy = "the resource option protect is not set", "set the resource option protect"
    yield demand(cluster.protect, NOWHERE, text, remedy=remedy)


@resource_rule("GKE024", CLUSTER)
def control_plane_survives_a_zone(cluster: Resource, options: Options) -> Demands:
    """The location is a region, or a zone of a region with a single zone."""
    at = cluster["location"]
    alone = tuple(options["singleZoneRegions"])
    regional = at.scalar.test(lambda place: str(place).count("-") == 1 or str(place).rpartition("-")[0] in alone)
    yield demand(regional, at, "the control plane is in one zone")


@stack_rule("GKE025")
def node_versions_match_the_control_plane(stack: Stack, options: Options) -> Demands:
    """Only for versions that the program sets."""
    pools = [pool for pool in stack.of(POOL, DEFAULT_POOL) if pool["version"].raw is not None]
    clusters = list(stack.of(CLUSTER))
    for at in (*(pool["version"] for pool in pools), *(cluster["minMasterVersion"] for cluster in clusters)):
        readable = at.one_of(*CHOSEN_BY_GKE) | at.test(lambda version: _minor(version) is not None)
        text, remedy = "not a version of GKE; allowed: such as 1.34 or 1.34.1-gke.1829001", f"correct {at.path}"
        yield demand(readable, at, text, remedy=remedy)

    def within(pool: Resource) -> Demands:
        at = pool["version"]
        for cluster in clusters_of(pool, clusters):
            master = cluster["minMasterVersion"]
            ahead, behind = _minor(master.get()), _minor(at.get())
            if ahead is not None and behind is not None:
                text = f"the control plane is {master.get()}; allowed: at most {MAX_SKEW} minor versions behind"
                yield demand(ahead - behind <= MAX_SKEW, at, text, remedy="raise the version of the pool")
                text = f"newer than the control plane, which is {master.get()}"
                remedy = "lower the version of the pool, or upgrade the cluster first"
                yield demand(ahead >= behind, at, text, remedy=remedy)

    yield from separately(pools, within)


@stack_rule("GKE027")
def clusters_are_within_gke_limits(stack: Stack, options: Options) -> Demands:
    """The nodes of each cluster at full scale."""
    pools = list(placed(stack))
    if Total.of(pools, lambda pool: node_range(pool)[1]).at_most(MAX_NODES).holds:
        return  # so is each cluster
    known = [pool for pool in pools if not pool["cluster"].is_unknown]
    unknown = tuple(pool["cluster"] for pool in pools if pool["cluster"].is_unknown)
    for cluster in sorted({home(pool) for pool in known}, key=str):
        own = [pool for pool in known if may_be(home(pool), cluster)]
        nodes = Total.of(own, lambda pool: node_range(pool)[1]) + Total(0, unknown)
        text = f"{cluster[0]} grows to {nodes.known:g} nodes; allowed: at most {MAX_NODES}"
        yield demand(nodes.at_most(MAX_NODES), NOWHERE, text)
    if unknown:
        raise UndecidedError(*unknown)


@stack_rule("GKE027")
def workloads_are_within_gke_limits(stack: Stack, options: Options) -> Demands:
    """The pods and Services of the stack."""
    pods = Total.of(stack.of(*COUNTED), pod_count)
    text = f"the workloads request {pods.known:.0f} pods; a cluster runs at most {MAX_PODS}"
    yield demand(pods.at_most(MAX_PODS), NOWHERE, text)
    services = sum(1 for _ in stack.of(SERVICE))
    yield demand(services <= MAX_SERVICES, NOWHERE, f"{services} Services; a cluster has at most {MAX_SERVICES}")


def _minor(version: str | None) -> int | None:
    """The minor version; None for a version that GKE chooses, and for one that is wrong."""
    try:
        return GkeVersion.parse(version or "").minor
    except SliceError:
        return None


@resource_rule("GKE005", POOL)
def nodes_have_their_own_account(pool: Resource, options: Options) -> Demands:
    """The nodes of a pool."""
    yield _own_account(pool["nodeConfig.serviceAccount"], "nodes")


@resource_rule("GKE005", CLUSTER)
def nodes_of_clusters_have_their_own_account(cluster: Resource, options: Options) -> Demands:
    """The nodes of the default pool, and auto-provisioned nodes."""
    provisions = cluster["clusterAutoscaling.enabled"].is_true | cluster["enableAutopilot"].is_true
    if keeps_default_pool(cluster):
        yield _own_account(cluster["nodeConfig.serviceAccount"], "nodes", compared=not provisions.holds)
    if provisions:
        at = cluster["clusterAutoscaling.autoProvisioningDefaults.serviceAccount"]
        yield _own_account(at, "auto-provisioned nodes")


def _own_account(at: Value, nodes: str, *, compared: bool = True) -> Demand:
    """The demand that nodes have their own account. `compared`: trivy has a check, which asks only for any account."""
    own = ~at.one_of(None, "", "default") & ~at.test(is_of_google)
    like = "GCP-0050" if compared and not at.is_set.holds else ""
    return demand(own, at, f"{nodes} run as an account that Google creates in the project", like=like)


@resource_rule("GKE005", IAM)
def nodes_have_narrow_roles(binding: Resource, options: Options) -> Demands:
    """Service accounts and workloads have no roles that give control outside of their cluster."""
    roles = data("roles")
    broad = {*roles["basic"], *roles["legacy"], *roles["broad"]} - {*roles["reading"]}
    for role, members in grants(binding):
        for member in members:
            text, remedy = "too broad for a service account or a workload", "grant narrower roles"
            machine = member.test(is_account) | member.test(is_workload)
            yield demand(~(machine & role.one_of(*broad)), role, text, remedy=remedy)


@repair_rule("GKE006", CLUSTER)
def shield_nodes(cluster: Resource, options: Options) -> Repairs:
    """GKE makes this change in place. Secure boot would replace the pool, or the cluster of a default pool."""
    if cluster["enableShieldedNodes"].is_false:
        yield ("enableShieldedNodes",), True


@resource_rule("GKE021", CLUSTER, POOL)
def configured_labels_are_set(resource: Resource, options: Options) -> Demands:
    """The labels of the option `labels`."""
    for key in options["labels"]:
        at = resource[".".join(_labels_path(resource))].child(key)
        yield demand(at.is_set, at, f"costs cannot be attributed; required labels: {', '.join(options['labels'])}")


@repair_rule("GKE021", CLUSTER, POOL)
def set_missing_labels(resource: Resource, options: Options) -> Repairs:
    """Labels with a value are not changed."""
    path = _labels_path(resource)
    for key, value in options["values"].items():
        if resource[".".join(path)].child(key).get() in (None, ""):
            yield (*path, key), value


def _labels_path(resource: Resource) -> tuple[str, ...]:
    return ("resourceLabels",) if resource.type == CLUSTER else ("nodeConfig", "resourceLabels")


@resource_rule("GKE026", POOL)
def pools_are_within_gke_limits(pool: Resource, options: Options) -> Demands:
    """The nodes of one pool in one zone at full scale."""
    largest = node_range(pool)[1] // zone_count(pool)
    if largest > MAX_NODES_PER_ZONE and (shape := tpu_slice(pool)) is not None and shape.hosts == largest:
        return  # GKE creates one slice of any size
    at = sized_by(pool, "Max")
    yield demand(largest <= MAX_NODES_PER_ZONE, at, f"a pool has at most {MAX_NODES_PER_ZONE} nodes in a zone")
