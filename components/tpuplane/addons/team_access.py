"""Permissions of a team's members, and of agents that start jobs for them, in the team's namespaces."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.roles import RBAC, grant
from tpuplane.plan.queue_model import LauncherPlan, TeamPlan

ROLE = "tpuplane-team"
LAUNCHER_ROLE = "tpuplane-launch-agent"
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
    grant((f"{name}-launch-role", f"{name}-launch"), LAUNCHER_ROLE, namespace, rules, [account], opts)


def grant_access(name: str, namespace: str, team: TeamPlan, opts: pulumi.ResourceOptions) -> None:
    """Let the members of the team run workloads in one namespace."""
    subjects: list[kubernetes.rbac.v1.SubjectArgsDict] = [
        {"kind": member.kind, "name": member.name, "api_group": RBAC} for member in team.members
    ]
    grant((f"{name}-role", f"{name}-work"), ROLE, namespace, _RULES, subjects, opts)
    kubernetes.rbac.v1.RoleBinding(
        f"{name}-edit",
        metadata={"name": f"{ROLE}-edit", "namespace": namespace},
        role_ref={"kind": "ClusterRole", "name": "edit", "api_group": RBAC},
        subjects=subjects,
        opts=opts,
    )
