"""Repositories for container images: Artifact Registry, and who may pull from it and push to it."""

from collections.abc import Mapping

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.images import RepositoryPlan


class ImageRepository(pulumi.ComponentResource):
    """An Artifact Registry repository, its readers and its writers."""

    def __init__(
        self,
        name: str,
        project: str,
        plan: RepositoryPlan,
        accounts: Mapping[str, pulumi.Input[str]],
        parent: pulumi.Resource,
    ) -> None:
        """Create them. `accounts` are the e-mail addresses of the nodes' accounts, by cluster.

        Another location or source replaces the repository, and deletes the old one first, because it has the same name.
        With `deletionProtection` Pulumi rejects both.
        """
        super().__init__("tpuplane:index:ImageRepository", name, {}, pulumi.ResourceOptions(parent=parent))
        repository = gcp.artifactregistry.Repository(
            name,
            project=project,
            location=plan.location,
            repository_id=plan.name,
            format="DOCKER",
            mode="REMOTE_REPOSITORY" if plan.remote else "STANDARD_REPOSITORY",
            remote_repository_config=plan.remote,
            docker_config={"immutable_tags": True} if plan.immutable_tags else None,
            cleanup_policies=list(plan.cleanup),
            cleanup_policy_dry_run=plan.cleanup_dry_run,
            labels=dict(plan.labels),
            opts=pulumi.ResourceOptions(
                parent=self, protect=plan.deletion_protection or None, delete_before_replace=True
            ),
        )
        nodes = {key: pulumi.Output.concat("serviceAccount:", accounts[key]) for key in plan.readers}
        members: dict[str, Mapping[str, pulumi.Input[str]]] = {
            "reader": nodes,
            "writer": {member: member for member in plan.writers},
        }
        for kind, role in plan.roles.items():
            for key, member in members[kind].items():
                gcp.artifactregistry.RepositoryIamMember(
                    # No name of a repository or cluster has a dot.
                    f"{name}.{key}",
                    project=project,
                    location=plan.location,
                    repository=repository.name,
                    role=role,
                    member=member,
                    opts=pulumi.ResourceOptions(parent=self, deleted_with=repository),
                )
        self.register_outputs({"id": repository.id})
