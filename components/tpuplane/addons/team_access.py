"""What a team's members may do in the team's namespaces: run work and see why it waits, nothing cluster-wide."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.plan.queue_model import ClusterQueuePlan

ROLE = "tpuplane-team"

# Kubernetes' own role `edit` covers pods, jobs and services; custom resources bring no part of it everywhere.
_RULES: list[kubernetes.rbac.v1.PolicyRuleArgsDict] = [
    {"api_groups": ["batch"], "resources": ["jobs", "cronjobs"], "verbs": ["*"]},
    {"api_groups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["*"]},
    {"api_groups": ["ray.io"], "resources": ["rayclusters", "rayjobs", "rayservices", "raycronjobs"], "verbs": ["*"]},
    {
        "api_groups": ["kueue.x-k8s.io"],
        "resources": ["localqueues", "workloads"],
        "verbs": ["get", "list", "watch"],
    },
]


def grant_access(name: str, namespace: str, team: ClusterQueuePlan, opts: pulumi.ResourceOptions) -> None:
    """Let the team's members work in one namespace."""
    subjects: list[kubernetes.rbac.v1.SubjectArgsDict] = [
        {"kind": member.kind, "name": member.name, "api_group": "rbac.authorization.k8s.io"} for member in team.members
    ]
    role = kubernetes.rbac.v1.Role(
        f"{name}-role", metadata={"name": ROLE, "namespace": namespace}, rules=_RULES, opts=opts
    )
    kubernetes.rbac.v1.RoleBinding(
        f"{name}-work",
        metadata={"name": ROLE, "namespace": namespace},
        role_ref={"kind": "Role", "name": ROLE, "api_group": "rbac.authorization.k8s.io"},
        subjects=subjects,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[role])),
    )
    kubernetes.rbac.v1.RoleBinding(
        f"{name}-edit",
        metadata={"name": f"{ROLE}-edit", "namespace": namespace},
        role_ref={"kind": "ClusterRole", "name": "edit", "api_group": "rbac.authorization.k8s.io"},
        subjects=subjects,
        opts=opts,
    )
