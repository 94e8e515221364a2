"""Workloads and RBAC in a cluster: permissions of pods, requests, images, roles."""

from tpuplane.labels import TPU

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource, matches
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.kinds import CLUSTER_SCOPED, NAMESPACED, ROLE, WORKLOAD
from tpuplane_policies.rules.pods import all_containers, containers, pod_specs

HIGH_UID = 10_000  # users of the node can have lower ids (checkov CKV_K8S_40)
FILTERING = ("RuntimeDefault", "Localhost")
USED_VERBS = ("create", "update", "delete", "deletecollection", "impersonate", "*", "list", "get")  # KSV-0046
COUNTED = {
    ("requests", "cpu"): "CKV_K8S_10 KSV-0015",
    ("limits", "cpu"): "CKV_K8S_11 KSV-0011",
    ("requests", "memory"): "CKV_K8S_12",
    ("limits", "memory"): "CKV_K8S_13",
}
INHERITED = ("runAsGroup", "runAsNonRoot", "runAsUser", "seLinuxOptions", "seccompProfile", "windowsOptions")


def _effective(pod: Value, container: Value, field: str) -> Value:
    """A field of the container's security context, or of the pod's if the container does not set it."""
    own = container["securityContext"][field]
    return pod["securityContext"][field] if own.raw is None else own


@resource_rule("K8S004", *WORKLOAD)
def requests_and_limits(workload: Resource, options: Options) -> Demands:
    """For cpu and memory. A container with TPUs has its host to itself, so it needs neither."""
    for pod in pod_specs(workload):
        for container in containers(pod):
            resources = container["resources"]
            has_tpu = resources["limits"].child(TPU).is_set
            for (kind, name), like in COUNTED.items():
                at = resources[kind][name]
                copied = resources["limits"][name].is_set  # Kubernetes copies limits to requests that are not set
                text = f"Kueue and the scheduler cannot count the container's {name}"
                if kind == "limits":
                    text = f"the container can use all {name} of its node"
                yield demand(has_tpu | at.is_set | copied, at, text, like=like, remedy=f"set {at.path}")


@resource_rule("K8S006", *NAMESPACED, *WORKLOAD)
def not_in_the_default_namespace(resource: Resource, options: Options) -> Demands:
    """Only the objects that Kubernetes itself creates may be in the default namespace."""
    if matches(CLUSTER_SCOPED, resource.type) or not (matches(NAMESPACED, resource.type) or any(pod_specs(resource))):
        return
    at, kind = resource["metadata.namespace"], resource.type.rpartition(":")[2]
    named = {"ServiceAccount": "default", "Service": "kubernetes"}.get(kind)
    given = Value(resource.namespace, "the namespace of the provider", resource)
    elsewhere = ~(given if at.raw is None and not resource.path else at).one_of(None, "default")
    own = resource["metadata.name"].one_of(named) if named else Truth(False)
    yield demand(elsewhere | own, at, "the default namespace has no quota and no queue", like="CKV_K8S_21")


@resource_rule("K8S008", *WORKLOAD)
def not_root(workload: Resource, options: Options) -> Demands:
    """A user id that no node uses, or a user namespace."""
    for pod, container in all_containers(workload):
        at = _effective(pod, container, "runAsUser")
        judged = ".containers[" in container.path  # both checks of checkov ignore other containers
        not_root = _effective(pod, container, "runAsNonRoot")
        other = not_root.is_true | at.test(lambda user: _from(1, user))
        text, remedy = "the container can run as root", f"set {not_root.path} to true"
        yield demand(other, at, text, like="CKV_K8S_23" if judged else "", remedy=remedy)
        high = at.test(lambda user: _from(HIGH_UID, user)) | pod["hostUsers"].one_of(False)
        text = f"a user of the node can have the same id; allowed: from {HIGH_UID}"
        remedy = f"set {at.path} to at least {HIGH_UID}"
        yield demand(high, at, text, like="CKV_K8S_40" if judged else "", remedy=remedy)


def _from(least: int, user: object) -> bool:
    return isinstance(user, int | float) and user >= least


@resource_rule("K8S009", *WORKLOAD)
def system_calls_are_filtered(workload: Resource, options: Options) -> Demands:
    """Each container has a security context, and a seccomp profile."""
    for pod, container in all_containers(workload):
        own, inherited = container["securityContext"], pod["securityContext"]
        inherits = any(not inherited[field].one_of(None).holds for field in INHERITED)
        like = "CKV_K8S_30" if inherits else "CKV_K8S_30 KSV-0118"
        text, remedy = "the container has no security context", f"set {own.path}.seccompProfile.type to RuntimeDefault"
        yield demand(own.mapping.is_set, own, text, like=like, remedy=remedy)
        at = _effective(pod, container, "seccompProfile")["type"]
        text = f"system calls are not filtered; allowed: {', '.join(FILTERING)}"
        yield demand(at.one_of(*FILTERING), at, text, like="CKV_K8S_31")


@resource_rule("K8S014", ROLE)
def roles_have_no_wildcards(role: Resource, options: Options) -> Demands:
    """No wildcards in verbs, resources and API groups."""
    cluster_wide = "ClusterRole" in role.type
    for index, rule in enumerate(role["rules"].each()):
        stars = {field: rule[field].contains("*") for field in ("apiGroups", "resources", "verbs")}
        everything = stars["apiGroups"] & stars["resources"] & stars["verbs"]
        used = rule["verbs"].contains(*USED_VERBS)
        like = "CKV_K8S_49" if index == 0 else ""
        like += " KSV-0044" if everything.holds else ""
        like += " KSV-0046" if cluster_wide and (stars["resources"] & used).holds else ""
        for field in stars:
            some = rule[field].any(lambda name: "*" in str(name))
            yield demand(~some, rule[field], "a wildcard also applies to later additions", like=like)
        anywhere = rule["nonResourceURLs"].any(lambda url: str(url) in ("*", "/*"))
        text, remedy = "the role reads every path of the API server", "name the paths"
        yield demand(~anywhere, rule["nonResourceURLs"], text, remedy=remedy)
