"""The frontend of Google's Managed Service for Prometheus: PromQL inside a cluster, with Workload Identity."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.resource_options import after
from tpuplane.plan.observability import FrontendPlan

_NAME = "frontend"
_MATCH = {"app": _NAME}
_USER = 65532  # a high number, which no user of the node has


def make_frontend(name: str, plan: FrontendPlan, inside: pulumi.ResourceOptions) -> None:
    """Create namespace, account, Deployment and Service of the frontend, without permissions in the cluster."""
    namespace = kubernetes.core.v1.Namespace(
        f"{name}-namespace",
        metadata={
            "name": plan.namespace,
            "labels": {
                "app.kubernetes.io/managed-by": "tpuplane",
                "pod-security.kubernetes.io/enforce": "restricted",
            },
        },
        opts=inside,
    )
    account = kubernetes.core.v1.ServiceAccount(
        f"{name}-account",
        metadata={"name": plan.account, "namespace": plan.namespace},
        # Workload Identity needs no token, and the frontend does not use the API server.
        automount_service_account_token=False,
        opts=after(inside, [namespace]),
    )
    placed: kubernetes.meta.v1.ObjectMetaArgsDict = {"name": _NAME, "namespace": plan.namespace}
    kubernetes.apps.v1.Deployment(
        name,
        metadata=placed,
        spec={
            "replicas": plan.replicas,
            "selector": {"match_labels": _MATCH},
            "template": {"metadata": {"labels": _MATCH}, "spec": _pod(plan)},
        },
        opts=after(inside, [account]),
    )
    kubernetes.core.v1.Service(
        f"{name}-service",
        metadata=placed,
        spec={"selector": _MATCH, "ports": [{"name": "web", "port": plan.port, "target_port": "web"}]},
        opts=after(inside, [namespace]),
    )
    if plan.replicas > 1:
        kubernetes.policy.v1.PodDisruptionBudget(
            f"{name}-budget",
            metadata=placed,
            spec={"selector": {"match_labels": _MATCH}, "min_available": 1},
            opts=after(inside, [namespace]),
        )


def _pod(plan: FrontendPlan) -> kubernetes.core.v1.PodSpecArgsDict:
    return {
        "service_account_name": plan.account,
        "automount_service_account_token": False,
        "node_selector": plan.node_selector,
        "security_context": {
            "run_as_non_root": True,
            "run_as_user": _USER,
            "run_as_group": _USER,
            "seccomp_profile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": _NAME,
                "image": plan.image,
                "args": [f"--web.listen-address=:{plan.port}", f"--query.project-id={plan.project}"],
                "ports": [{"name": "web", "container_port": plan.port}],
                "readiness_probe": {"http_get": {"path": "/-/ready", "port": "web"}},
                "liveness_probe": {"http_get": {"path": "/-/healthy", "port": "web"}},
                "resources": {"requests": plan.requests, "limits": plan.limits},
                "security_context": {
                    "allow_privilege_escalation": False,
                    "read_only_root_filesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
