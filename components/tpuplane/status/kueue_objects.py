"""The fields of Kueue's objects that a status reads."""

from pydantic import Field

from tpuplane.status.objects import Item, Part, PodSpec, Quantity, Taint, at


class Resource(Part):
    """A quota of a resource, or its use."""

    name: str = ""
    nominal_quota: Quantity = 0
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None
    total: Quantity = 0
    borrowed: Quantity = 0


class FlavorQuotas(Part):
    """The quotas of a flavor, or their use."""

    name: str = ""
    resources: list[Resource] = Field(default_factory=list)


class _Group(Part):
    flavors: list[FlavorQuotas] = Field(default_factory=list)


class ClusterQueue(Item):
    """A queue of Kueue, or a cohort with quota of its own."""

    cohort: str = at("spec.cohortName", "spec.parentName", "spec.parent", "spec.cohort", default="")
    groups: list[_Group] = at("spec.resourceGroups", default=list)
    reserved: list[FlavorQuotas] = at("status.flavorsReservation", default=list)

    @property
    def flavors(self) -> list[FlavorQuotas]:
        """The flavors of all groups."""
        return [flavor for group in self.groups for flavor in group.flavors]


class LocalQueue(Item):
    """A queue of a namespace."""

    cluster_queue: str = at("spec.clusterQueue", default="")
    stop_policy: str = at("spec.stopPolicy", default="None")
    reserved: list[FlavorQuotas] = at("status.flavorsReservation", default=list)


class Flavor(Item):
    """A flavor of nodes."""

    node_labels: dict[str, str] = at("spec.nodeLabels", default=dict)
    topology: str = at("spec.topologyName", default="")
    tolerations: list[Taint] = at("spec.tolerations", default=list)


class PodSet(Part):
    """Equal pods of a workload."""

    name: str = ""
    count: int = 1
    pod: PodSpec = at("template.spec", default=PodSpec())
    annotations: dict[str, str] = at("template.metadata.annotations", default=dict)
    required: str = at("topologyRequest.required", default="")
    slice_required: str = at("topologyRequest.podSetSliceRequiredTopology", default="")
    slice_size: int = at("topologyRequest.podSetSliceSize", default=0)


class _Assignment(Part):
    name: str = ""
    count: int = 0  # only if fewer pods than those of the pod set are admitted
    flavors: dict[str, str] = Field(default_factory=dict)
    resource_usage: dict[str, Quantity] = Field(default_factory=dict)


class _Reclaimable(Part):
    count: int = 0


class _Check(Part):
    name: str = ""
    state: str = ""
    message: str = ""


class Workload(Item):
    """A job as Kueue sees it."""

    active: bool = at("spec.active", default=True)
    requeue_at: str = at("status.requeueState.requeueAt", default="")
    queue: str = at("spec.queueName", default="")
    priority: int = at("spec.priority", default=0)
    priority_class: str = at("spec.priorityClassRef.name", "spec.priorityClassName", default="")
    pod_sets: list[PodSet] = at("spec.podSets", default=list)
    assigned: list[_Assignment] = at("status.admission.podSetAssignments", default=list)
    reserved_in: str = at("status.admission.clusterQueue", default="")  # the local queue can have another one now
    reclaimable: list[_Reclaimable] = at("status.reclaimablePods", default=list)  # pods that have succeeded
    checks: list[_Check] = at("status.admissionChecks", default=list)
    cluster: str = at("status.clusterName", default="")  # of MultiKueue: the worker cluster that runs it
    nominated: list[str] = at("status.nominatedClusterNames", default=list)

    def asked(self, resource: str) -> int:
        """The requests of all pods for a resource, in thousandths; of the admitted pods if Kueue has admitted fewer."""
        admitted = {assignment.name: assignment.count for assignment in self.assigned}
        return sum((admitted.get(pods.name) or pods.count) * pods.pod.asked(resource) for pods in self.pod_sets)

    def holds(self, flavor: str, resource: str) -> int:
        """How much of a quota all pods have, in thousandths."""
        own = (each for each in self.assigned if each.flavors.get(resource) == flavor)
        return sum(each.resource_usage.get(resource, 0) for each in own)

    @property
    def unrequested(self) -> set[str]:
        """The devices that containers limit and do not request."""
        containers = [container for pods in self.pod_sets for container in pods.pod.containers]
        return {name for each in containers for name in each.limits if "/" in name and name not in each.requests}
