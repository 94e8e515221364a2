"""Metrics for Google's Managed Service for Prometheus: TPU device plugins, Ray and Kueue. Its frontend answers PromQL
inside a cluster, with Workload Identity."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.roles import account_subject, account_with_token, grant, rules_of
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after
from tpuplane.plan.addons import NAMESPACE_LABELS
from tpuplane.plan.observability import FrontendPlan, ScrapePlan

API_VERSION = "monitoring.googleapis.com/v1"
_COLLECTOR = account_subject("collector", "gmp-system")


class Monitoring(pulumi.ComponentResource):
    """A PodMonitoring, or a ClusterPodMonitoring for pods of all namespaces, for each source of metrics; and the
    frontend for queries."""

    def __init__(
        self,
        name: str,
        cluster: AnyCluster,
        scrapes: Sequence[ScrapePlan],
        frontend: FrontendPlan | None,
        ready: Mapping[str, pulumi.Resource],
    ) -> None:
        """Create them in a cluster with managed Prometheus, which installs the CRDs.

        `ready` are resources that exist when an add-on is ready, by the key of the add-on.
        """
        super().__init__("tpuplane:index:Monitoring", name, {}, pulumi.ResourceOptions(parent=cluster))
        inside = pulumi.ResourceOptions.merge(cluster.in_cluster(), pulumi.ResourceOptions(parent=self))
        for plan in scrapes:
            waits = [ready[plan.addon]] if plan.addon is not None and plan.addon in ready else []
            if plan.reader is not None and plan.namespace is not None:
                waits = _reader(f"{name}-{plan.name}", plan.reader, plan.namespace, after(inside, waits))
            metadata = {"name": plan.name, **({"namespace": plan.namespace} if plan.namespace else {})}
            kubernetes.apiextensions.CustomResource(
                f"{name}-{plan.name}",
                api_version=API_VERSION,
                kind="PodMonitoring" if plan.namespace else "ClusterPodMonitoring",
                metadata=metadata,
                spec=plan.spec,
                opts=after(inside, waits),
            )
        if frontend is not None:
            _make_frontend(f"{name}-frontend", frontend, inside)
        self.register_outputs({})


def _reader(name: str, called: str, namespace: str, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
    """Create an account that can read only /metrics, with a token that the collector can read."""
    account, token = account_with_token(name, called, namespace, opts)
    names = f"{name}-metrics", f"{name}-metrics"
    reader = account_subject(called, namespace)
    bound = grant(names, called, None, rules_of("metrics"), [reader], after(opts, [account]))
    own_secret = rules_of("token", secret=called)
    allowed = grant((f"{name}-token", f"{name}-token"), called, namespace, own_secret, [_COLLECTOR], opts)
    return [bound, token, allowed]


def _make_frontend(name: str, plan: FrontendPlan, inside: pulumi.ResourceOptions) -> None:
    """Create namespace, account, Deployment and Service of the frontend, without permissions in the cluster."""
    namespace = kubernetes.core.v1.Namespace(
        f"{name}-namespace", metadata={"name": plan.namespace, "labels": NAMESPACE_LABELS}, opts=inside
    )
    account = kubernetes.core.v1.ServiceAccount(
        f"{name}-account",
        metadata={"name": plan.account, "namespace": plan.namespace},
        automount_service_account_token=False,
        opts=after(inside, [namespace]),
    )
    placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": "frontend", "namespace": plan.namespace}
    kubernetes.apps.v1.Deployment(name, metadata=placed, spec=plan.deployment, opts=after(inside, [account]))
    kubernetes.core.v1.Service(f"{name}-service", metadata=placed, spec=plan.service, opts=after(inside, [namespace]))
    if plan.budget is not None:
        kubernetes.policy.v1.PodDisruptionBudget(
            f"{name}-budget", metadata=placed, spec=plan.budget, opts=after(inside, [namespace])
        )
