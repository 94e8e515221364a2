"""The buckets of a platform, and the access of its teams."""

from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.storage import BucketPlan


class Buckets(pulumi.ComponentResource):
    """Private buckets with uniform access. A bucket with objects is never deleted."""

    def __init__(
        self,
        name: str,
        project: str,
        plans: Sequence[BucketPlan],
        clusters: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Create them. `clusters` are those of the same program.

        Google rejects a grant to a namespace before the first cluster with Workload Identity exists, because this
        cluster creates the identity pool of the project.
        """
        super().__init__("tpuplane:index:Buckets", name, {}, opts)
        after_clusters = pulumi.ResourceOptions(parent=self, depends_on=list(clusters))
        number = ""
        if any(plan.grants for plan in plans):
            number = gcp.organizations.get_project(project, opts=pulumi.InvokeOptions(parent=self)).number
        for plan in plans:
            bucket = plan.name if plan.existing else self._bucket(f"{name}-{plan.key}", project, plan).name
            for grant in plan.grants:
                gcp.storage.BucketIAMMember(
                    f"{name}-{plan.key}-{grant.owner}-{grant.role.rpartition('.')[2]}",
                    bucket=bucket,
                    role=grant.role,
                    member=grant.member.format(number=number),
                    opts=after_clusters,
                )
        self.register_outputs({})

    def _bucket(self, name: str, project: str, plan: BucketPlan) -> gcp.storage.Bucket:
        age = plan.delete_after_days
        return gcp.storage.Bucket(
            name,
            name=plan.name,
            project=project,
            location=plan.location.upper(),  # as Google writes it, so that a refresh finds no difference
            storage_class=plan.storage_class,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            hierarchical_namespace={"enabled": True} if plan.hierarchical else None,
            versioning=None if plan.hierarchical else {"enabled": True},
            soft_delete_policy={"retention_duration_seconds": plan.soft_delete_seconds},
            lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": age}}] if age else [],
            labels=plan.labels,
            opts=pulumi.ResourceOptions(parent=self, protect=plan.protected or None),
        )
