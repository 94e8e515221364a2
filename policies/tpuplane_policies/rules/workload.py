"""Workloads in a cluster: what their pods may do, that they can be scheduled and repeated, and who may do what."""

from __future__ import annotations

from tpuplane.labels import TPU

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource, matches
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.kinds import NAMESPACED, ROLE, ROLE_BINDING, WORKLOAD
from tpuplane_policies.rules.pods import all_containers, containers, pod_specs

HIGH_UID = 10_000  # below it, users of the node may have the same number (checkov CKV_K8S_40)
ADDABLE = ("NET_BIND_SERVICE",)
HOST_NAMESPACES = {
    "hostPID": "CKV_K8S_17 KSV-0010",
    "hostIPC": "CKV_K8S_18 KSV-0008",
    "hostNetwork": "CKV_K8S_19 KSV-0009",
}
SOCKETS = ("/var/run/docker.sock",)
USED_VERBS = ("create", "update", "delete", "deletecollection", "impersonate", "*", "list", "get")  # KSV-0046
EVERYONE = ("system:authenticated", "system:unauthenticated", "system:anonymous", "system:serviceaccounts")
"""Users and groups that are not a team's own (Kubernetes, RBAC, "Default roles and role bindings")."""
COUNTED = {
    ("requests", "cpu"): "CKV_K8S_10 KSV-0015",
    ("limits", "cpu"): "CKV_K8S_11 KSV-0011",
    ("requests", "memory"): "CKV_K8S_12",
    ("limits", "memory"): "CKV_K8S_13",
}
INHERITED = ("runAsGroup", "runAsNonRoot", "runAsUser", "seLinuxOptions", "seccompProfile", "windowsOptions")


def _effective(pod: Value, container: Value, field: str) -> Value:
    """A field of the container's security context, or else of its pod's."""
    own = container["securityContext"][field]
    return pod["securityContext"][field] if own.one_of(None) else own


@resource_rule("K8S001", *WORKLOAD)
def not_privileged(workload: Resource, options: Options) -> Demands:
    """TPU pods need no privilege since GKE 1.28."""
    for _, container in all_containers(workload):
        at = container["securityContext.privileged"]
        yield demand(~at.is_true, at, "the container is root on its node", like="CKV_K8S_16")


@resource_rule("K8S002", *WORKLOAD)
def no_more_rights_later(workload: Resource, options: Options) -> Demands:
    """No setuid program gives more rights than the container began with."""
    for _, container in all_containers(workload):
        at = container["securityContext.allowPrivilegeEscalation"]
        yield demand(at.one_of(False), at, "a setuid program makes it root; allowed: false", like="CKV_K8S_20 KSV-0001")


@resource_rule("K8S003", *WORKLOAD)
def no_capabilities(workload: Resource, options: Options) -> Demands:
    """All are dropped, and none but the harmless are added again."""
    for _, container in all_containers(workload):
        at = container["securityContext.capabilities.drop"]
        dropped = at.test(lambda it: any(str(name).upper() == "ALL" for name in it or ()))
        raw = at.contains("NET_RAW").holds  # enough for one of checkov's checks
        like = "CKV_K8S_37 KSV-0003 KSV-0106" + ("" if raw else " CKV_K8S_28")
        yield demand(dropped, at, "capabilities stay; wanted: [ALL]", like=like)
        for added in container["securityContext.capabilities.add"].each():
            text = f"allowed: {', '.join(ADDABLE)}"
            yield demand(added.one_of(*ADDABLE), added, text, like="KSV-0106", remedy="add no capability")


@resource_rule("K8S004", *WORKLOAD)
def requests_and_limits(workload: Resource, options: Options) -> Demands:
    """CPU and memory are requested and limited; what has TPUs has its host to itself."""
    for pod in pod_specs(workload):
        for container in containers(pod):
            resources = container["resources"]
            has_tpu = resources["limits"].child(TPU).is_set
            for (kind, name), like in COUNTED.items():
                at = resources[kind][name]
                yield demand(has_tpu | at.is_set, at, "Kueue and the scheduler cannot count it", like=like)


@resource_rule("K8S005", *WORKLOAD)
def images_are_pinned(workload: Resource, options: Options) -> Demands:
    """By digest: a tag is whatever somebody pushed last."""
    for _, container in all_containers(workload):
        at = container["image"]
        moving = at.test(_is_latest).holds
        like = "CKV_K8S_43 CKV_K8S_14" if moving else "CKV_K8S_43"
        yield demand(at.test(lambda it: "@" in str(it)), at, "a tag can be moved; wanted: …@sha256:…", like=like)


def _is_latest(image: object) -> bool:
    """Whether it is what was pushed last, said or unsaid. The registry's port is no tag."""
    return str(image or "").rpartition("/")[2].partition(":")[2] in ("", "latest")


@resource_rule("K8S006", *NAMESPACED, *WORKLOAD)
def not_in_the_default_namespace(it: Resource, options: Options) -> Demands:
    """Quotas, queues and rights are given by namespace. What Kubernetes itself keeps there is not ours."""
    if it.type.endswith("List") or not (matches(NAMESPACED, it.type) or any(pod_specs(it))):
        return  # each of a list has its own; of other projects' kinds some are in no namespace
    at, kind = it["metadata.namespace"], it.type.rpartition(":")[2]
    named = {"ServiceAccount": "default", "Service": "kubernetes"}.get(kind)
    elsewhere = ~at.one_of(None, "default")
    own = it["metadata.name"].one_of(named) if named else Truth(False)
    yield demand(elsewhere | own, at, "nobody's quota counts it", like="CKV_K8S_21")


@resource_rule("K8S007", *WORKLOAD)
def file_systems_are_read_only(workload: Resource, options: Options) -> Demands:
    """What must be written has a volume."""
    for _, container in all_containers(workload):
        at = container["securityContext.readOnlyRootFilesystem"]
        yield demand(at.is_true, at, "an intruder can leave programs behind", like="CKV_K8S_22")


@resource_rule("K8S008", *WORKLOAD)
def not_root(workload: Resource, options: Options) -> Demands:
    """A user that no node knows, unless its numbers are not the node's."""
    for pod, container in all_containers(workload):
        at = _effective(pod, container, "runAsUser")
        judged = ".containers[" in container.path  # checkov's two look at no others
        other = _effective(pod, container, "runAsNonRoot").is_true | at.test(lambda it: _from(1, it))
        yield demand(other, at, "the container may run as root", like="CKV_K8S_23" if judged else "")
        high = at.test(lambda it: _from(HIGH_UID, it)) | pod["hostUsers"].one_of(False)
        text = f"a user of the node may be the same; from {HIGH_UID}"
        yield demand(high, at, text, like="CKV_K8S_40" if judged else "")


def _from(least: int, user: object) -> bool:
    return isinstance(user, int | float) and user >= least


@resource_rule("K8S009", *WORKLOAD)
def system_calls_are_filtered(workload: Resource, options: Options) -> Demands:
    """Seccomp with the runtime's own profile; and nobody forgot the security context."""
    for pod in pod_specs(workload):
        at = pod["securityContext"]
        yield demand(at.is_set, at, "the pod has every default", like="CKV_K8S_29 KSV-0118")
    for pod, container in all_containers(workload):
        own, inherited = container["securityContext"], pod["securityContext"]
        like = "CKV_K8S_30" if _inherits(inherited) else "CKV_K8S_30 KSV-0118"
        yield demand(own.is_set, own, "the container has every default", like=like)
        at = _effective(pod, container, "seccompProfile")["type"]
        yield demand(at.one_of("RuntimeDefault"), at, "calls stay open; allowed: RuntimeDefault", like="CKV_K8S_31")


def _inherits(context: Value) -> bool:
    """Whether a pod's security context says something of its containers."""
    return any(not context[field].one_of(None).holds for field in INHERITED)


@resource_rule("K8S010", *WORKLOAD)
def no_token_unasked(workload: Resource, options: Options) -> Demands:
    """Few pods talk to the API server."""
    for pod in pod_specs(workload):
        at = pod["automountServiceAccountToken"]
        yield demand(at.one_of(False), at, "every intruder finds a token", like="CKV_K8S_38")


@resource_rule("K8S011", *WORKLOAD)
def secrets_are_files(workload: Resource, options: Options) -> Demands:
    """Environments are logged, inherited and shown."""
    for _, container in all_containers(workload):
        for at in (
            *(variable["valueFrom.secretKeyRef"] for variable in container["env"].each()),
            *(source["secretRef"] for source in container["envFrom"].each()),
        ):
            yield demand(~at.is_set, at, "a secret in the environment", like="CKV_K8S_35")


@resource_rule("K8S012", *WORKLOAD)
def not_in_the_hosts_namespaces(workload: Resource, options: Options) -> Demands:
    """A pod sees its own processes, memory and network."""
    for pod in pod_specs(workload):
        for field, like in HOST_NAMESPACES.items():
            yield demand(~pod[field].is_true, pod[field], "the pod sees what is the node's", like=like)


@resource_rule("K8S013", *WORKLOAD)
def no_paths_of_the_host(workload: Resource, options: Options) -> Demands:
    """A path of the node outlives the pod, and the container runtime's socket is root on the node."""
    for pod in pod_specs(workload):
        for volume in pod["volumes"].each():
            at = volume["hostPath"]
            like = "KSV-0023" + (" CKV_K8S_27 KSV-0006" if at["path"].one_of(*SOCKETS).holds else "")
            yield demand(at.one_of(None), at, "the pod has files of its node", like=like)


@resource_rule("K8S014", ROLE)
def roles_name_what_they_give(role: Resource, options: Options) -> Demands:
    """Verbs, resources and API groups by their names: `*` is also what comes later."""
    cluster_wide = "ClusterRole" in role.type
    for index, rule in enumerate(role["rules"].each()):
        stars = {field: rule[field].contains("*") for field in ("apiGroups", "resources", "verbs")}
        everything = stars["apiGroups"] & stars["resources"] & stars["verbs"]
        used = rule["verbs"].contains(*USED_VERBS)
        like = "CKV_K8S_49" if index == 0 else ""
        like += " KSV-0044" if everything.holds else ""
        like += " KSV-0046" if cluster_wide and (stars["resources"] & used).holds else ""
        for field in stars:
            some = rule[field].test(lambda it: any("*" in str(name) for name in it or ()))
            yield demand(~some, rule[field], "whatever there is, and whatever comes later", like=like)


@resource_rule("K8S015", ROLE_BINDING)
def rights_are_given_to_someone(binding: Resource, options: Options) -> Demands:
    """Not to everyone who can log in, and no administrator of the whole cluster."""
    for subject in binding["subjects"].each():
        at = subject["name"]
        like = "KSV-0122" if at.one_of("system:unauthenticated", "system:anonymous").holds else ""
        yield demand(~at.one_of(*EVERYONE), at, "everyone has the role", like=like)
    at = binding["roleRef.name"]
    wide = ("cluster-admin", "admin", "edit") if "ClusterRoleBinding" in binding.type else ("cluster-admin",)
    yield demand(~at.one_of(*wide), at, "its subjects may do almost anything", like="KSV-0111")
