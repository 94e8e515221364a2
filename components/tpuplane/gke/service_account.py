"""The identity of a cluster's nodes: a service account with only the roles of the plan."""

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.cluster import ClusterPlan, ServiceAccountPlan


class NodeServiceAccount(pulumi.ComponentResource):
    """A service account for GKE nodes. It replaces Compute Engine's default account and its Editor role."""

    account: gcp.serviceaccount.Account
    email: pulumi.Output[str]
    """Address of the account, for `node_config.service_account`."""

    def __init__(
        self, name: str, project: pulumi.Input[str], plan: ServiceAccountPlan, parent: pulumi.Resource
    ) -> None:
        """Create the account and grant its roles in the project. A new account ID replaces the account."""
        super().__init__("tpuplane:index:NodeServiceAccount", name, {}, pulumi.ResourceOptions(parent=parent))
        self.account = gcp.serviceaccount.Account(
            name,
            account_id=plan.account_id,
            display_name=plan.display_name,
            project=project,
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        for role in plan.roles:
            gcp.projects.IAMMember(
                f"{name}-{role.removeprefix('roles/')}",
                project=project,
                role=role,
                member=pulumi.Output.concat("serviceAccount:", self.account.email),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.email = self.account.email
        self.register_outputs({"email": self.email})


def own_accounts(
    name: str, project: pulumi.Input[str], plan: ClusterPlan, parent: pulumi.Resource
) -> list[NodeServiceAccount]:
    """Create the service account of a cluster's nodes, which depend on it; none if the plan uses an existing one."""
    if plan.service_account is None:
        return []
    return [NodeServiceAccount(f"{name}-nodes", project, plan.service_account, parent)]
