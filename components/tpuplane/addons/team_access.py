"""Permissions of a team's members, and of agents that start jobs for them, in the team's namespaces."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.plan.queue_model import LauncherPlan, TeamPlan

ROLE = "tpuplane-team"
LAUNCHER_ROLE = "tpuplane-launch-agent"
_RBAC = "rbac.authorization.k8s.io"
_ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

# Kubernetes' role `edit` covers pods, jobs and services, but not always custom resources.
_RULES: list[kubernetes.rbac.v1.PolicyRuleArgsDict] = [
    {"api_groups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": _ALL},
    {"api_groups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": _ALL},
    {"api_groups": ["ray.io"], "resources": ["rayclusters", "rayjobs", "rayservices", "raycronjobs"], "verbs": _ALL},
    {
        "api_groups": ["kueue.x-k8s.io"],
        "resources": ["localqueues", "workloads"],
        "verbs": ["get", "list", "watch"],
    },
]


def grant_launch(name: str, namespace: str, launcher: LauncherPlan, opts: pulumi.ResourceOptions) -> None:
    """Let an agent run jobs in one namespace and keep its own key there, without access to other Secrets."""
    rules: list[kubernetes.rbac.v1.PolicyRuleArgsDict] = [
        {
            "api_groups": ["batch"],
            "resources": ["jobs", "jobs/status"],
            "verbs": ["create", "get", "list", "watch", "delete"],
        },
        {"api_groups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]},
        # Kubernetes cannot limit creation by name.
        {"api_groups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {
            "api_groups": [""],
            "resources": ["secrets"],
            "resource_names": [launcher.secret],
            "verbs": ["get", "delete"],
        },
    ]
    account: kubernetes.rbac.v1.SubjectArgsDict = {
        "kind": "ServiceAccount",
        "name": launcher.account,
        "namespace": launcher.namespace,
    }
    _grant((f"{name}-launch-role", f"{name}-launch"), LAUNCHER_ROLE, namespace, rules, [account], opts)


def grant_access(name: str, namespace: str, team: TeamPlan, opts: pulumi.ResourceOptions) -> None:
    """Let the members of the team run workloads in one namespace."""
    subjects: list[kubernetes.rbac.v1.SubjectArgsDict] = [
        {"kind": member.kind, "name": member.name, "api_group": _RBAC} for member in team.members
    ]
    _grant((f"{name}-role", f"{name}-work"), ROLE, namespace, _RULES, subjects, opts)
    kubernetes.rbac.v1.RoleBinding(
        f"{name}-edit",
        metadata={"name": f"{ROLE}-edit", "namespace": namespace},
        role_ref={"kind": "ClusterRole", "name": "edit", "api_group": _RBAC},
        subjects=subjects,
        opts=opts,
    )


def _grant(
    names: tuple[str, str],
    called: str,
    namespace: str,
    rules: list[kubernetes.rbac.v1.PolicyRuleArgsDict],
    subjects: list[kubernetes.rbac.v1.SubjectArgsDict],
    opts: pulumi.ResourceOptions,
) -> None:
    """Create a role in a namespace and its binding. `names` are the names of both in Pulumi."""
    placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": called, "namespace": namespace}
    role = kubernetes.rbac.v1.Role(names[0], metadata=placed, rules=rules, opts=opts)
    kubernetes.rbac.v1.RoleBinding(
        names[1],
        metadata=placed,
        role_ref={"kind": "Role", "name": called, "api_group": _RBAC},
        subjects=subjects,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[role])),
    )
