"""Kubernetes roles with their bindings, for members of teams and for agents; and service accounts with a token."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.data_files import filled, read_data
from tpuplane.gke.resource_options import after
from tpuplane.plan.queue_model import Kinds, LauncherPlan, TeamPlan

RBAC = "rbac.authorization.k8s.io"
Rules = list[kubernetes.rbac.v1.PolicyRuleArgsDict]
Subjects = list[kubernetes.rbac.v1.SubjectArgsDict]

ROLE = "tpuplane-team"
LAUNCHER_ROLE = "tpuplane-launch-agent"
_data: Callable[[], dict[str, Any]] = cache(partial(read_data, "tpuplane.addons", "roles"))


def rules_of(role: str, kinds: Kinds = (), **values: str) -> Rules:
    """The rules of a role in `data/roles.yaml`, with values for its `$names`, and its rules for each of these kinds."""
    own = filled(_data()[role], {f"${name}": value for name, value in values.items()})
    return [*own, *(rule for group, plural in kinds for rule in rules_of(f"{role}Kind", group=group, plural=plural))]


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
    make_role: type[kubernetes.rbac.v1.ClusterRole | kubernetes.rbac.v1.Role] = rbac.ClusterRole
    make_binding: type[kubernetes.rbac.v1.ClusterRoleBinding | kubernetes.rbac.v1.RoleBinding] = rbac.ClusterRoleBinding
    metadata: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": called}
    if namespace is not None:
        make_role, make_binding = rbac.Role, rbac.RoleBinding
        metadata["namespace"] = namespace
    role = make_role(names[0], metadata=metadata, rules=rules, opts=opts)
    return make_binding(
        names[1],
        metadata=metadata,
        role_ref={"kind": make_role.__name__, "name": called, "api_group": RBAC},
        subjects=subjects,
        opts=after(opts, [role]),
    )


def account_subject(name: str, namespace: str) -> kubernetes.rbac.v1.SubjectArgsDict:
    """A service account, as the subject of a binding."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


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


def grant_launch(name: str, namespace: str, launcher: LauncherPlan, opts: pulumi.ResourceOptions) -> None:
    """Let an agent run jobs in one namespace and keep its own key there, without access to other Secrets."""
    allowed = rules_of("launcher", secret=launcher.secret)
    account = account_subject(launcher.account, launcher.namespace)
    grant((f"{name}-launch-role", f"{name}-launch"), LAUNCHER_ROLE, namespace, allowed, [account], opts)


def grant_access(name: str, namespace: str, team: TeamPlan, kinds: Kinds, opts: pulumi.ResourceOptions) -> None:
    """Let the members of the team run workloads in one namespace, also of these `kinds`."""
    subjects: Subjects = [{"kind": member.kind, "name": member.name, "api_group": RBAC} for member in team.members]
    grant((f"{name}-role", f"{name}-work"), ROLE, namespace, rules_of("team", kinds), subjects, opts)
    kubernetes.rbac.v1.RoleBinding(
        f"{name}-edit",
        metadata={"name": f"{ROLE}-edit", "namespace": namespace},
        role_ref={"kind": "ClusterRole", "name": "edit", "api_group": RBAC},
        subjects=subjects,
        opts=opts,
    )
