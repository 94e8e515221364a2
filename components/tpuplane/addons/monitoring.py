"""Metrics for Google's Managed Service for Prometheus: TPU device plugins, Ray and Kueue."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.frontend import make_frontend
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.plan.observability import FrontendPlan, ScrapePlan

API_VERSION = "monitoring.googleapis.com/v1"
_COLLECTOR: kubernetes.rbac.v1.SubjectArgsDict = {
    "kind": "ServiceAccount",
    "name": "collector",
    "namespace": "gmp-system",
}


class MonitoringArgs(TypedDict):
    """Arguments of `Monitoring`."""

    cluster: AnyCluster
    """The cluster, with managed Prometheus, which installs the CRDs."""

    scrapes: Sequence[ScrapePlan]
    """The metrics to collect."""

    frontend: NotRequired[FrontendPlan]
    """The frontend for queries. Default: none."""

    ready: NotRequired[Mapping[str, pulumi.Resource]]
    """Resources that exist when an add-on is ready, by the key of the add-on."""


class Monitoring(pulumi.ComponentResource):
    """A PodMonitoring, or a ClusterPodMonitoring for pods of all namespaces, for each source of metrics; and the
    frontend for queries."""

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:Monitoring", name, {}, opts)
        self._inside = pulumi.ResourceOptions.merge(args["cluster"].in_cluster(), pulumi.ResourceOptions(parent=self))
        ready = args.get("ready", {})
        for plan in args["scrapes"]:
            after = [ready[plan.addon]] if plan.addon is not None and plan.addon in ready else []
            if plan.reader is not None and plan.namespace is not None:
                after = self._reader(f"{name}-{plan.name}", plan.reader, plan.namespace, after)
            metadata = {"name": plan.name, **({"namespace": plan.namespace} if plan.namespace else {})}
            kubernetes.apiextensions.CustomResource(
                f"{name}-{plan.name}",
                api_version=API_VERSION,
                kind="PodMonitoring" if plan.namespace else "ClusterPodMonitoring",
                metadata=metadata,
                spec=plan.spec,
                opts=self._after(after),
            )
        if "frontend" in args:
            make_frontend(f"{name}-frontend", args["frontend"], self._inside)
        self.register_outputs({})

    def _reader(
        self, name: str, called: str, namespace: str, after: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        """Create an account that can read only /metrics, with a token that the collector can read.

        Kubernetes sets the token, so programs do not contain it, and it is a secret in the state.
        """
        placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": called, "namespace": namespace}
        account = kubernetes.core.v1.ServiceAccount(
            f"{name}-account", metadata=placed, automount_service_account_token=False, opts=self._after(after)
        )
        role = kubernetes.rbac.v1.ClusterRole(
            f"{name}-metrics",
            metadata={"name": called},
            rules=[{"non_resource_urls": ["/metrics"], "verbs": ["get"]}],
            opts=self._after(after),
        )
        bound = kubernetes.rbac.v1.ClusterRoleBinding(
            f"{name}-metrics",
            metadata={"name": called},
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": called},
            subjects=[{"kind": "ServiceAccount", "name": called, "namespace": namespace}],
            opts=self._after([account, role]),
        )
        token = kubernetes.core.v1.Secret(
            f"{name}-token",
            metadata={**placed, "annotations": {"kubernetes.io/service-account.name": called}},
            type="kubernetes.io/service-account-token",
            opts=self._after([account]),
        )
        reading = kubernetes.rbac.v1.Role(
            f"{name}-token",
            metadata=placed,
            rules=[
                {
                    "api_groups": [""],
                    "resources": ["secrets"],
                    "resource_names": [called],
                    "verbs": ["get", "list", "watch"],
                }
            ],
            opts=self._after(after),
        )
        allowed = kubernetes.rbac.v1.RoleBinding(
            f"{name}-token",
            metadata=placed,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": called},
            subjects=[_COLLECTOR],
            opts=self._after([reading]),
        )
        return [bound, token, allowed]

    def _after(self, resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(self._inside, pulumi.ResourceOptions(depends_on=list(resources)))
