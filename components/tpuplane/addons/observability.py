"""The project's dashboard, alert policies, log metrics and permission to read metrics, from the plan."""

import json
from collections.abc import Sequence

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan.observability import AlertPlan, ObservabilityPlan


class Observability(pulumi.ComponentResource):
    """A dashboard, alert policies, log metrics and the frontends' role, for all clusters of a platform."""

    def __init__(
        self,
        name: str,
        project: str,
        plan: ObservabilityPlan,
        clusters: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Create them. `clusters` are those of the same program.

        Google rejects a grant to a frontend's account before the first cluster with Workload Identity exists, because
        this cluster creates the identity pool of the project.
        """
        super().__init__("tpuplane:index:Observability", name, {}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        metrics = []
        for metric, entries in plan.log_metrics.items():
            own = f"{name}-{metric.replace('/', '-')}"
            metrics.append(gcp.logging.Metric(own, project=project, name=metric, filter=entries, opts=inside))
        if plan.frontend_grant is not None:
            role, member = plan.frontend_grant
            opts = pulumi.ResourceOptions(parent=self, depends_on=list(clusters))
            gcp.projects.IAMMember(f"{name}-frontend", project=project, role=role, member=member, opts=opts)
        if plan.dashboard is not None:
            text = json.dumps(plan.dashboard, sort_keys=True)
            opts = pulumi.ResourceOptions(parent=self, depends_on=metrics)
            gcp.monitoring.Dashboard(name, project=project, dashboard_json=text, opts=opts)
        for alert in plan.alerts:
            _alert(f"{name}-{alert.key}", project, alert, plan, inside)
        self.register_outputs({})


def _alert(
    name: str, project: str, alert: AlertPlan, plan: ObservabilityPlan, opts: pulumi.ResourceOptions
) -> gcp.monitoring.AlertPolicy:
    return gcp.monitoring.AlertPolicy(
        name,
        project=project,
        display_name=alert.title,
        combiner="OR",
        severity=alert.severity,
        conditions=[
            {
                "display_name": alert.title,
                # The query contains the duration, because a series that ends would restart the duration of the policy.
                "condition_prometheus_query_language": {
                    "query": alert.query,
                    "duration": "0s",
                    "evaluation_interval": "60s",
                },
            }
        ],
        documentation={"content": alert.text, "mime_type": "text/markdown"},
        notification_channels=list(plan.notification_channels),
        user_labels=dict(plan.labels),
        opts=opts,
    )
