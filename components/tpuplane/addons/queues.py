"""Queues of a cluster: flavors and topology, a cohort, and the queue, namespaces and access of each team."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons import kueue_objects as kueue
from tpuplane.addons.admission_policies import admission_policy
from tpuplane.addons.roles import grant_access, grant_launch
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.objects import make_claim, make_namespace
from tpuplane.plan.queue_model import SLICE_CHECK, Kinds, ProvisioningPlan, QueuesPlan, TeamPlan


class KueueComponent(pulumi.ComponentResource):
    """Kueue's objects in one cluster, each after the objects that it refers to."""

    def __init__(self, kind: str, name: str, cluster: AnyCluster) -> None:
        super().__init__(f"tpuplane:index:{kind}", name, {}, pulumi.ResourceOptions(parent=cluster))
        self._name, self._cluster = name, cluster

    def _object(
        self, kind: str, called: str, spec: Mapping[str, Any], after: Sequence[pulumi.Resource]
    ) -> kubernetes.apiextensions.CustomResource:
        return kubernetes.apiextensions.CustomResource(
            f"{self._name}-{kind.lower()}-{called}",
            api_version=kueue.API_VERSION,
            kind=kind,
            metadata={"name": called},
            spec=spec,
            opts=self._after(after),
        )

    def _after(self, resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(
            self._cluster.in_cluster(), pulumi.ResourceOptions(parent=self, depends_on=list(resources))
        )


class Queues(KueueComponent):
    """Kueue's objects, each after the objects that it refers to.

    They are deleted in reverse: a team's namespaces with all their work, then its cluster queue, then flavors and
    topology. Kueue keeps a flavor that a queue uses and a queue that work uses, so no other order ends.
    """

    cluster_queues: Mapping[str, kubernetes.apiextensions.CustomResource]
    """Cluster queues by name: the queue of each team, and with `-elastic` the queue of its autoscaled pools."""

    def __init__(
        self,
        name: str,
        cluster: AnyCluster,
        plan: QueuesPlan,
        ready: Sequence[pulumi.Resource],
        checks: Sequence[pulumi.Resource],
        addresses: Mapping[str, pulumi.Output[str]],
    ) -> None:
        """Create them after the gate of Kueue's webhooks (`ready`). `checks` are the admission checks of a manager,
        `addresses` those of file systems, by their keys."""
        super().__init__("Queues", name, cluster)
        self._addresses = addresses
        topologies = []
        for topology in plan.topologies:
            levels = [{"nodeLabel": label} for label in topology.levels]
            topologies.append(self._object("Topology", topology.name, {"levels": levels}, ready))
        after = [*ready, *topologies]
        flavors = [
            self._object("ResourceFlavor", flavor.name, kueue.flavor_spec(flavor), after) for flavor in plan.flavors
        ]
        for priority_class, priority in plan.priorities.items():
            self._priority(priority_class, priority.value, priority.description, ready)
        requests = {flavor.name: flavor.provisioning for flavor in plan.flavors}
        of_flavors = [self._check(own, request, ready) for own, request in requests.items() if request is not None]
        if plan.has_slice_check:
            of_flavors.append(self._object("AdmissionCheck", SLICE_CHECK, kueue.slice_check_spec(), ready))
        kept = admission_policy(name, "flavors-in-use", "Deny", self._after(ready))
        admission_policy(name, "chip-requests", "Warn", self._after(ready))
        cohort = self._object("Cohort", plan.cohort, kueue.cohort_spec(plan), flavors or ready)
        before = [cohort, kept, *flavors, *checks, *of_flavors]
        self.cluster_queues = {
            queue.name: self._object("ClusterQueue", queue.name, kueue.cluster_queue_spec(plan, queue), before)
            for queue in plan.cluster_queues
        }
        for team in plan.teams:
            self._team(team, plan.kinds)
        self.register_outputs({})

    def _team(self, team: TeamPlan, kinds: Kinds) -> None:
        # Namespaces with their workloads are deleted before the queues, which Kueue keeps while they have workloads.
        queues = [self.cluster_queues[name] for name in dict.fromkeys(team.local_queues.values())]
        for own in team.namespaces:
            # Without the team, so that a namespace of another team keeps its URN.
            named = f"{self._name.removesuffix('-queues')}-{own.name}"
            namespace = make_namespace(named, own, self._cluster, queues)
            for called, queue in team.local_queues.items():
                self._local_queue(called, namespace, own.name, queue)
            prefix, inside = f"{self._name}-{own.name}", self._after([namespace])
            for claim in own.claims:
                attributes = {} if claim.kind == "bucket" else {"ip": self._addresses[claim.name]}
                called = f"{prefix}-{claim.name}-{claim.kind}"
                make_claim(called, namespace, own.name, claim, attributes, self._after([]))
            if team.members:
                grant_access(prefix, own.name, team, kinds, inside)
            if team.launcher is not None:
                grant_launch(prefix, own.name, team.launcher, inside)

    def _local_queue(self, called: str, namespace: pulumi.Resource, place: str, queue: str) -> None:
        opts = self._after([namespace, self.cluster_queues[queue]])
        opts.replace_on_changes = ["spec.clusterQueue"]  # Kueue allows no other cluster queue for a local queue
        kubernetes.apiextensions.CustomResource(
            f"{self._name}-{place}-{called}",
            api_version=kueue.API_VERSION,
            kind="LocalQueue",
            metadata={"name": called, "namespace": place},
            spec={"clusterQueue": queue},
            opts=opts,
        )

    def _priority(self, called: str, value: int, description: str, after: Sequence[pulumi.Resource]) -> None:
        # It has no `spec`, and the SDK's CustomResource accepts no other fields in Python.
        pulumi.CustomResource(
            f"kubernetes:{kueue.API_VERSION}:WorkloadPriorityClass",
            f"{self._name}-priority-{called}",
            {
                "apiVersion": kueue.API_VERSION,
                "kind": "WorkloadPriorityClass",
                "metadata": {"name": called},
                "value": value,
                "description": description,
            },
            self._after(after),
        )

    def _check(self, flavor: str, plan: ProvisioningPlan, ready: Sequence[pulumi.Resource]) -> pulumi.Resource:
        """Create the check that waits for the cluster autoscaler's answer to a ProvisioningRequest."""
        kind = "ProvisioningRequestConfig"
        config = self._object(kind, flavor, kueue.provisioning_spec(plan), ready)
        return self._object("AdmissionCheck", flavor, kueue.check_spec("provisioning-request", kind, flavor), [config])
