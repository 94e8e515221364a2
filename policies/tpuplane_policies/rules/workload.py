"""Workloads in a cluster: what their pods may do, and that they can be scheduled and repeated."""

from __future__ import annotations

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.kinds import WORKLOAD
from tpuplane_policies.rules.pods import TPU, all_containers, containers, pod_specs

HIGH_UID = 10_000  # below it, users of the node may have the same number (checkov CKV_K8S_40)
ADDABLE = ("NET_BIND_SERVICE",)


def _either(pod: Value, container: Value, field: str, *good: object) -> Truth:
    """Whether a field of the container's security context, or else of its pod's, is good."""
    own, inherited = container["securityContext"][field], pod["securityContext"][field]
    return own.one_of(*good) | (own.one_of(None) & inherited.one_of(*good))


@resource_rule("K8S001", *WORKLOAD)
def not_privileged(workload: Resource, options: Options) -> Demands:
    """TPU pods need no privilege since GKE 1.28."""
    for _, container in all_containers(workload):
        at = container["securityContext.privileged"]
        yield demand(~at.is_true, at, "the container is root on its node")


@resource_rule("K8S002", *WORKLOAD)
def no_more_rights_later(workload: Resource, options: Options) -> Demands:
    """No setuid program gives more rights than the container began with."""
    for _, container in all_containers(workload):
        at = container["securityContext.allowPrivilegeEscalation"]
        yield demand(at.one_of(False), at, "a setuid program makes it root; allowed: false")


@resource_rule("K8S003", *WORKLOAD)
def no_capabilities(workload: Resource, options: Options) -> Demands:
    """All are dropped, and none but the harmless are added again."""
    for _, container in all_containers(workload):
        at = container["securityContext.capabilities.drop"]
        yield demand(at.contains("ALL"), at, "capabilities stay; wanted: [ALL]")
        for added in container["securityContext.capabilities.add"].each():
            yield demand(added.one_of(*ADDABLE), added, f"allowed: {', '.join(ADDABLE)}")


@resource_rule("K8S004", *WORKLOAD)
def requests_and_limits(workload: Resource, options: Options) -> Demands:
    """CPU and memory are requested, memory is limited; what has TPUs has its host to itself."""
    for pod in pod_specs(workload):
        for container in containers(pod):
            resources = container["resources"]
            has_tpu = resources["limits"].child(TPU).is_set
            for kind, name in (("requests", "cpu"), ("requests", "memory"), ("limits", "memory")):
                at = resources[kind][name]
                limit = resources["limits"][name].is_set
                yield demand(has_tpu | at.is_set | limit, at, "Kueue and the scheduler cannot count it")


@resource_rule("K8S005", *WORKLOAD)
def images_are_pinned(workload: Resource, options: Options) -> Demands:
    """By digest: a tag is whatever somebody pushed last."""
    for _, container in all_containers(workload):
        at = container["image"]
        yield demand(at.test(lambda it: "@sha256:" in str(it)), at, "a tag can be moved; wanted: …@sha256:…")


@resource_rule("K8S006", *WORKLOAD)
def not_in_the_default_namespace(workload: Resource, options: Options) -> Demands:
    """Quotas, queues and rights are given by namespace."""
    at = workload["metadata.namespace"]
    yield demand(~at.one_of(None, "default"), at, "nobody's quota counts it")


@resource_rule("K8S007", *WORKLOAD)
def file_systems_are_read_only(workload: Resource, options: Options) -> Demands:
    """What must be written has a volume."""
    for _, container in all_containers(workload):
        at = container["securityContext.readOnlyRootFilesystem"]
        yield demand(at.is_true, at, "an intruder can leave programs behind")


@resource_rule("K8S008", *WORKLOAD)
def not_root(workload: Resource, options: Options) -> Demands:
    """A user that no node knows."""
    for pod, container in all_containers(workload):
        at = container["securityContext.runAsUser"]
        inherited = pod["securityContext.runAsUser"]
        high = at.test(_is_high) | (at.one_of(None) & inherited.test(_is_high))
        yield demand(_either(pod, container, "runAsNonRoot", True) | high, at, "the container may run as root")
        yield demand(at.one_of(None) | at.test(_is_high), at, f"a user of the node may be the same; from {HIGH_UID}")


def _is_high(user: object) -> bool:
    return isinstance(user, int | float) and user >= HIGH_UID


@resource_rule("K8S009", *WORKLOAD)
def system_calls_are_filtered(workload: Resource, options: Options) -> Demands:
    """Seccomp, with the runtime's own profile or a local one."""
    for pod, container in all_containers(workload):
        good = ("RuntimeDefault", "Localhost")
        at = container["securityContext.seccompProfile.type"]
        inherited = pod["securityContext.seccompProfile.type"]
        filtered = at.one_of(*good) | (at.one_of(None) & inherited.one_of(*good))
        yield demand(filtered, at, f"every system call is open; allowed: {', '.join(good)}")


@resource_rule("K8S010", *WORKLOAD)
def no_token_unasked(workload: Resource, options: Options) -> Demands:
    """Few pods talk to the API server."""
    for pod in pod_specs(workload):
        at = pod["automountServiceAccountToken"]
        yield demand(at.one_of(False), at, "every intruder finds a token")


@resource_rule("K8S011", *WORKLOAD)
def secrets_are_files(workload: Resource, options: Options) -> Demands:
    """Environments are logged, inherited and shown."""
    for _, container in all_containers(workload):
        for variable in container["env"].each():
            at = variable["valueFrom.secretKeyRef"]
            yield demand(~at.is_set, at, "a secret in the environment")
        for source in container["envFrom"].each():
            yield demand(~source["secretRef"].is_set, source["secretRef"], "a secret in the environment")
