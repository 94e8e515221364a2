"""MultiKueue: the manager's permissions in its workers, and the workers of the manager."""

import base64
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.kueue_component import KueueComponent
from tpuplane.addons.kueue_objects import API_VERSION
from tpuplane.gke.cluster import Cluster
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.plan.queue_model import ClusterQueuePlan, ManagerPlan, WorkerPlan

ACCOUNT = "multikueue"
"""The manager's account in each worker."""

_RBAC = "rbac.authorization.k8s.io"
_WATCH = ["list", "watch"]
_MAKE = ["create", "delete", "get"]


class MultiKueueWorkerArgs(TypedDict):
    """Arguments of `MultiKueueWorker`."""

    cluster: Cluster
    """The worker."""

    plan: WorkerPlan
    """The permissions of the manager. Changed in place."""

    after: Sequence[pulumi.Resource]
    """Resources that must exist before: Kueue's namespace and those of the teams."""


class MultiKueueWorker(pulumi.ComponentResource):
    """An account for the manager in one worker, with the permissions that MultiKueue needs.

    It can watch jobs and workloads in all namespaces, as Kueue requires, but create them only in the teams' namespaces.
    Its token is valid until the Secret is deleted, because Kueue 0.16 does not accept a kubeconfig with a plugin.
    """

    kubeconfig: pulumi.Output[str]
    """The manager's kubeconfig, with the private address and the token. A secret."""

    def __init__(self, name: str, args: MultiKueueWorkerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:MultiKueueWorker", name, {}, opts)
        cluster, plan = args["cluster"], args["plan"]
        self._inside = pulumi.ResourceOptions.merge(
            cluster.in_cluster(), pulumi.ResourceOptions(parent=self, depends_on=list(args["after"]))
        )
        account = kubernetes.core.v1.ServiceAccount(
            f"{name}-account",
            metadata={"name": ACCOUNT, "namespace": plan.namespace},
            automount_service_account_token=False,
            opts=self._inside,
        )
        self._allow(name, plan)
        token = kubernetes.core.v1.Secret(
            f"{name}-token",
            metadata={
                "name": ACCOUNT,
                "namespace": plan.namespace,
                "annotations": {"kubernetes.io/service-account.name": ACCOUNT},
            },
            type="kubernetes.io/service-account-token",
            opts=pulumi.ResourceOptions.merge(self._inside, pulumi.ResourceOptions(depends_on=[account])),
        )
        # In a preview the id of a new Secret is unknown, so that its missing token is not read.
        made = pulumi.Output.all(token.id, token.data).apply(lambda it: _decoded(it[1]["token"]))
        self.kubeconfig = cluster.kubeconfig_inside(made)
        self.register_outputs({})

    def _allow(self, name: str, plan: WorkerPlan) -> None:
        workloads = ("kueue.x-k8s.io", "workloads")
        watch = self._role(f"{name}-watch", [_rule(*it, _WATCH) for it in (workloads, *plan.kinds)])
        kubernetes.rbac.v1.ClusterRoleBinding(
            f"{name}-watch",
            metadata={"name": f"{ACCOUNT}-watch"},
            role_ref={"kind": "ClusterRole", "name": f"{ACCOUNT}-watch", "api_group": _RBAC},
            subjects=[_subject(plan)],
            opts=pulumi.ResourceOptions.merge(self._inside, pulumi.ResourceOptions(depends_on=[watch])),
        )
        rules = [
            _rule(*workloads, [*_MAKE, "update"]),
            _rule(workloads[0], "workloads/status", ["patch"]),
            *(_rule(*kind, [*_MAKE, "patch"]) for kind in plan.kinds),
        ]
        make = self._role(f"{name}-make", rules)
        for namespace in plan.namespaces:
            kubernetes.rbac.v1.RoleBinding(
                f"{name}-make-{namespace}",
                metadata={"name": ACCOUNT, "namespace": namespace},
                role_ref={"kind": "ClusterRole", "name": f"{ACCOUNT}-make", "api_group": _RBAC},
                subjects=[_subject(plan)],
                opts=pulumi.ResourceOptions.merge(self._inside, pulumi.ResourceOptions(depends_on=[make])),
            )

    def _role(self, name: str, rules: list[kubernetes.rbac.v1.PolicyRuleArgsDict]) -> kubernetes.rbac.v1.ClusterRole:
        called = f"{ACCOUNT}-{name.rpartition('-')[2]}"
        return kubernetes.rbac.v1.ClusterRole(name, metadata={"name": called}, rules=rules, opts=self._inside)


class MultiKueueArgs(TypedDict):
    """Arguments of `MultiKueue`."""

    cluster: AnyCluster
    """The manager."""

    plan: ManagerPlan
    """Its workers. Changed in place."""

    queues: Sequence[ClusterQueuePlan]
    """The queues whose jobs run in workers."""

    kubeconfigs: Mapping[str, pulumi.Input[str]]
    """Kubeconfigs of the workers, by their keys in the user's file. Secrets."""

    ready: NotRequired[Sequence[pulumi.Resource]]
    """Resources that must exist before: the gate of Kueue's webhooks."""


class MultiKueue(KueueComponent):
    """The objects of the manager: each worker with its credential, and an admission check for each queue."""

    checks: list[pulumi.Resource]
    """Admission checks, which the queues depend on."""

    def __init__(self, name: str, args: MultiKueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("MultiKueue", name, args["cluster"], opts)
        plan, ready = args["plan"], args.get("ready", ())
        workers = {
            worker: self._worker(worker, plan, args["kubeconfigs"][key], ready) for key, worker in plan.workers.items()
        }
        self.checks = [
            self._check(use.check, queue, [workers[worker] for worker in queue.workers])
            for queue in args["queues"]
            for use in queue.checks
        ]
        self.register_outputs({})

    def _worker(
        self, worker: str, plan: ManagerPlan, kubeconfig: pulumi.Input[str], ready: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        called = f"{ACCOUNT}-{worker}"
        credential = kubernetes.core.v1.Secret(
            f"{self._name}-credential-{worker}",
            metadata={"name": called, "namespace": plan.namespace},
            string_data={"kubeconfig": kubeconfig},
            opts=self._after(ready),
        )
        source = {"kubeConfig": {"locationType": "Secret", "location": called}}
        return self._object("MultiKueueCluster", worker, {"clusterSource": source}, [credential])

    def _check(self, called: str, queue: ClusterQueuePlan, workers: Sequence[pulumi.Resource]) -> pulumi.Resource:
        config = self._object("MultiKueueConfig", queue.name, {"clusters": list(queue.workers)}, workers)
        parameters = {"apiGroup": API_VERSION.partition("/")[0], "kind": "MultiKueueConfig", "name": queue.name}
        spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
        return self._object("AdmissionCheck", called, spec, [config])


def _rule(group: str, resource: str, verbs: Sequence[str]) -> kubernetes.rbac.v1.PolicyRuleArgsDict:
    return {"api_groups": [group], "resources": [resource], "verbs": list(verbs)}


def _subject(plan: WorkerPlan) -> kubernetes.rbac.v1.SubjectArgsDict:
    return {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": plan.namespace}


def _decoded(value: str) -> str:
    return base64.b64decode(value).decode()
