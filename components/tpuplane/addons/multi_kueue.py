"""MultiKueue: the manager's permissions in its workers, and the workers of the manager."""

import base64
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.kueue_objects import check_spec
from tpuplane.addons.queues import KueueComponent
from tpuplane.addons.roles import RBAC, account_subject, account_with_token, grant, rules_of
from tpuplane.gke.cluster import PlannedCluster
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.resource_options import after as waiting_for
from tpuplane.plan.queue_model import ClusterQueuePlan, ManagerPlan, WorkerPlan

ACCOUNT = "multikueue"
"""The manager's account in each worker."""


class MultiKueueWorker(pulumi.ComponentResource):
    """An account for the manager in one worker, with the permissions that MultiKueue needs.

    It can watch jobs and workloads in all namespaces, as Kueue requires, but create them only in the teams' namespaces.
    Its token is valid until the Secret is deleted, because Kueue 0.18 does not accept a kubeconfig with a plugin.
    """

    kubeconfig: pulumi.Output[str]
    """The manager's kubeconfig, with the private address and the token. A secret."""

    def __init__(self, name: str, cluster: PlannedCluster, plan: WorkerPlan, after: Sequence[pulumi.Resource]) -> None:
        """Create them in the worker, after Kueue's namespace and those of the teams."""
        super().__init__("tpuplane:index:MultiKueueWorker", name, {}, pulumi.ResourceOptions(parent=cluster))
        inside = waiting_for(
            pulumi.ResourceOptions.merge(cluster.in_cluster(), pulumi.ResourceOptions(parent=self)), after
        )
        _, token = account_with_token(name, ACCOUNT, plan.namespace, inside)
        _allow(name, plan, inside)
        # In a preview the id of a new Secret is unknown, so that its missing token is not read.
        made = pulumi.Output.all(token.id, token.data).apply(lambda parts: base64.b64decode(parts[1]["token"]).decode())
        self.kubeconfig = cluster.kubeconfig_inside(made)
        self.register_outputs({})


def _allow(name: str, plan: WorkerPlan, inside: pulumi.ResourceOptions) -> None:
    account = account_subject(ACCOUNT, plan.namespace)
    watch = rules_of("managerWatch", plan.kinds)
    grant((f"{name}-watch", f"{name}-watch"), f"{ACCOUNT}-watch", None, watch, [account], inside)
    rules = rules_of("managerMake", plan.kinds)
    make = kubernetes.rbac.v1.ClusterRole(
        f"{name}-make", metadata={"name": f"{ACCOUNT}-make"}, rules=rules, opts=inside
    )
    for namespace in plan.namespaces:
        kubernetes.rbac.v1.RoleBinding(
            f"{name}-make-{namespace}",
            metadata={"name": ACCOUNT, "namespace": namespace},
            role_ref={"kind": "ClusterRole", "name": f"{ACCOUNT}-make", "api_group": RBAC},
            subjects=[account],
            opts=waiting_for(inside, [make]),
        )


class MultiKueue(KueueComponent):
    """The objects of the manager: each worker with its credential, and an admission check for each queue."""

    checks: list[pulumi.Resource]
    """Admission checks, which the queues depend on."""

    def __init__(
        self,
        name: str,
        cluster: AnyCluster,
        plan: ManagerPlan,
        queues: Sequence[ClusterQueuePlan],
        kubeconfigs: Mapping[str, pulumi.Input[str]],
        ready: Sequence[pulumi.Resource],
    ) -> None:
        """Create them in the manager, after the gate of Kueue's webhooks (`ready`).

        `queues` are those whose jobs run in workers; `kubeconfigs` of workers, by their keys in the user's file, are
        secrets.
        """
        super().__init__("MultiKueue", name, cluster)
        workers = {worker: self._worker(worker, plan, kubeconfigs[key], ready) for key, worker in plan.workers.items()}
        self.checks = [
            self._check(use.check, queue, [workers[worker] for worker in queue.workers])
            for queue in queues
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
        kind = "MultiKueueConfig"
        config = self._object(kind, queue.name, {"clusters": list(queue.workers)}, workers)
        return self._object("AdmissionCheck", called, check_spec("multikueue", kind, queue.name), [config])
