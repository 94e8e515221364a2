"""What Google's Managed Service for Prometheus collects in a cluster: TPU device plugins, Ray and Kueue."""

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
    """The cluster, with managed Prometheus: it brings the kinds that are made here."""

    scrapes: Sequence[ScrapePlan]
    """What is collected."""

    frontend: NotRequired[FrontendPlan]
    """What answers queries. Default: nothing does."""

    ready: NotRequired[Mapping[str, pulumi.Resource]]
    """What exists once an add-on is there, by the add-on's key."""


class Monitoring(pulumi.ComponentResource):
    """A PodMonitoring (or ClusterPodMonitoring, for pods of every namespace) for each thing that has metrics, and the
    frontend that answers queries of them."""

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
        """Make an account that may read /metrics and nothing else, with a token that the collector may read.

        Kubernetes fills the token in: it comes into no program, and into the state as a secret only.
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
