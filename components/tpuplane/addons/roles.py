"""Kubernetes roles with their bindings, and service accounts with a token."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.resource_options import after

RBAC = "rbac.authorization.k8s.io"
Rules = list[kubernetes.rbac.v1.PolicyRuleArgsDict]
Subjects = list[kubernetes.rbac.v1.SubjectArgsDict]


def grant(
    names: tuple[str, str],
    called: str,
    namespace: str | None,
    rules: Rules,
    subjects: Subjects,
    opts: pulumi.ResourceOptions,
) -> pulumi.Resource:
    """Create a role and its binding, in a namespace or for the cluster. `names` are the names of both in Pulumi."""
    rbac = kubernetes.rbac.v1
    if namespace is None:
        everywhere = rbac.ClusterRole(names[0], metadata={"name": called}, rules=rules, opts=opts)
        return rbac.ClusterRoleBinding(
            names[1],
            metadata={"name": called},
            role_ref={"kind": "ClusterRole", "name": called, "api_group": RBAC},
            subjects=subjects,
            opts=after(opts, [everywhere]),
        )
    placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": called, "namespace": namespace}
    role = rbac.Role(names[0], metadata=placed, rules=rules, opts=opts)
    return rbac.RoleBinding(
        names[1],
        metadata=placed,
        role_ref={"kind": "Role", "name": called, "api_group": RBAC},
        subjects=subjects,
        opts=after(opts, [role]),
    )


def account_with_token(
    name: str, called: str, namespace: str, opts: pulumi.ResourceOptions
) -> tuple[kubernetes.core.v1.ServiceAccount, kubernetes.core.v1.Secret]:
    """Create a service account and a Secret with its token, which Kubernetes sets, so programs do not contain it."""
    placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": called, "namespace": namespace}
    account = kubernetes.core.v1.ServiceAccount(
        f"{name}-account", metadata=placed, automount_service_account_token=False, opts=opts
    )
    token = kubernetes.core.v1.Secret(
        f"{name}-token",
        metadata={**placed, "annotations": {"kubernetes.io/service-account.name": called}},
        type="kubernetes.io/service-account-token",
        opts=after(opts, [account]),
    )
    return account, token
