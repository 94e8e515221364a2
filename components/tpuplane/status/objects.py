"""The fields of Kubernetes objects that a status reads. Others are dropped; null is a missing field."""

from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticUseDefault

from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.quantities import thousandths


def _amount(quantity: Any) -> int:
    try:
        return thousandths(str(quantity))
    except (ArithmeticError, LookupError):
        raise ValueError(f"{quantity!r} is not a quantity") from None


Quantity = Annotated[int, BeforeValidator(_amount)]
"""In thousandths."""


def at(*paths: str, default: Any = ...) -> Any:
    """A field at the first of these paths of an object: required, or with a default or the type of an empty one."""
    aliases = AliasChoices(*(AliasPath(*path.split(".")) for path in paths))
    if isinstance(default, type):
        return Field(default_factory=default, validation_alias=aliases)
    return Field(default, validation_alias=aliases)


class Part(BaseModel):
    """A part of an object."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)

    @field_validator("*", mode="before")
    @classmethod
    def _null_is_missing(cls, value: Any) -> Any:
        if value is None:
            raise PydanticUseDefault
        return value


class Reference(Part):
    """An owner of an object, what an event is about, or a name alone."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Condition(Part):
    """A condition in the status of an object."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""


_NO_OWNER, _NO_CONDITION = Reference(), Condition()


class Unreadable(Part):
    """An object with a field of an unexpected type."""

    kind: Any = ""
    namespace: Any = at("metadata.namespace", default="")
    name: Any = at("metadata.name", default="without a name")
    uid: Any = at("metadata.uid", default="")
    why: Any = ""

    def __str__(self) -> str:
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name} cannot be read: {self.why}"


class Item(Part):
    """An object of any kind."""

    name: str = at("metadata.name")
    namespace: str = at("metadata.namespace", default="")
    uid: str = at("metadata.uid", default="")
    labels: dict[str, str] = at("metadata.labels", default=dict)
    annotations: dict[str, str] = at("metadata.annotations", default=dict)
    owners: list[Reference] = at("metadata.ownerReferences", default=list)
    created: str = at("metadata.creationTimestamp", default="")
    conditions: list[Condition] = at("status.conditions", default=list)

    @property
    def owner(self) -> Reference:
        """Its first owner; empty if it has none."""
        return next(iter(self.owners), _NO_OWNER)

    def condition(self, kind: str) -> Condition:
        """The condition of a type; empty if it has none."""
        return next((each for each in self.conditions if each.type == kind), _NO_CONDITION)

    def is_true(self, kind: str) -> bool:
        """Whether a condition is true."""
        return self.condition(kind).status == "True"


class Node(Item):
    """A host."""

    capacity: dict[str, Quantity] = at("status.capacity", default=dict)
    unschedulable: bool = at("spec.unschedulable", default=False)

    @property
    def pool(self) -> str:
        """Its node pool; "" if it has none."""
        return self.labels.get(GKE_POOL_LABEL, "")


class Container(Part):
    """A container of a pod, with its requests and limits."""

    requests: dict[str, Quantity] = at("resources.requests", default=dict)
    limits: dict[str, Quantity] = at("resources.limits", default=dict)


class PodSpec(Part):
    """The spec of a pod, or of the pods of a template."""

    containers: list[Container] = []
    node_name: str = ""
    node_selector: dict[str, str] = at("nodeSelector", default=dict)
    scheduling_gates: list[Reference] = []

    def asked(self, resource: str) -> int:
        """The requests for a resource. A limit without a request is one; only pods have it as such, not templates."""
        return sum(it.requests.get(resource, it.limits.get(resource, 0)) for it in self.containers)


class State(Part):
    """Why a container waits, or how it ended."""

    reason: str = ""
    message: str = ""
    exit_code: int = 0


class ContainerStatus(Part):
    """The status of a container."""

    name: str = ""
    restart_count: int = 0
    waiting: State = at("state.waiting", default=State())
    running: Any = at("state.running", default=None)
    ended: State | None = at("state.terminated", default=None)
    ended_before: State | None = at("lastState.terminated", default=None)


class Pod(Item):
    """A pod."""

    spec: PodSpec = PodSpec()
    reason: str = at("status.reason", default="")
    message: str = at("status.message", default="")
    init_statuses: list[ContainerStatus] = at("status.initContainerStatuses", default=list)
    statuses: list[ContainerStatus] = at("status.containerStatuses", default=list)


class Event(Item):
    """An event about an object."""

    about: Reference = at("involvedObject", default=Reference())
    type: str = ""
    reason: str = ""
    message: str = ""
    last_timestamp: str = ""
    event_time: str = ""
    version: int = at("metadata.resourceVersion", default=0)

    @property
    def time(self) -> str:
        """When it was seen last, in seconds."""
        return self.last_timestamp or self.event_time or self.created


class Job(Item):
    """A job of any kind."""

    suspend: bool = at("spec.suspend", default=False)
    phase: str = at("status.jobDeploymentStatus", "status.phase", default="")
    reason: str = at("status.reason", default="")
    message: str = at("status.message", default="")


class Resource(Part):
    """A quota of a resource, or its use."""

    name: str = ""
    nominal_quota: Quantity = 0
    total: Quantity = 0
    borrowed: Quantity = 0


class FlavorQuotas(Part):
    """The quotas of a flavor, or their use."""

    name: str = ""
    resources: list[Resource] = []


class FlavorGroup(Part):
    """Flavors for the same resources."""

    flavors: list[FlavorQuotas] = []


class ClusterQueue(Item):
    """A queue of Kueue."""

    cohort: str = at("spec.cohortName", "spec.cohort", default="")
    groups: list[FlavorGroup] = at("spec.resourceGroups", default=list)
    usage: list[FlavorQuotas] = at("status.flavorsUsage", default=list)

    @property
    def flavors(self) -> list[FlavorQuotas]:
        """The flavors of all groups."""
        return [flavor for group in self.groups for flavor in group.flavors]


class LocalQueue(Item):
    """A queue of a namespace."""

    cluster_queue: str = at("spec.clusterQueue", default="")


class Flavor(Item):
    """A flavor of nodes."""

    node_labels: dict[str, str] = at("spec.nodeLabels", default=dict)
    topology: str = at("spec.topologyName", default="")


class PodSet(Part):
    """Equal pods of a workload."""

    name: str = ""
    count: int = 1
    pod: PodSpec = at("template.spec", default=PodSpec())


class Assignment(Part):
    """The flavors of an admitted pod set, and its number of pods; 0 if all of them are admitted."""

    name: str = ""
    count: int = 0
    flavors: dict[str, str] = at("flavors", default=dict)


class Check(Part):
    """The state of an admission check."""

    name: str = ""
    state: str = ""
    message: str = ""


class Workload(Item):
    """A job as Kueue sees it."""

    queue: str = at("spec.queueName", default="")
    priority: int = at("spec.priority", default=0)
    priority_class: str = at("spec.priorityClassRef.name", "spec.priorityClassName", default="")
    pod_sets: list[PodSet] = at("spec.podSets", default=list)
    assigned: list[Assignment] = at("status.admission.podSetAssignments", default=list)
    checks: list[Check] = at("status.admissionChecks", default=list)
    cluster: str = at("status.clusterName", default="")  # of MultiKueue: the worker cluster that runs it
    nominated: list[str] = at("status.nominatedClusterNames", default=list)

    def asked(self, resource: str) -> int:
        """The requests of all pods for a resource; of the admitted pods if Kueue has admitted fewer."""
        admitted = {it.name: it.count for it in self.assigned}
        return sum((admitted.get(it.name) or it.count) * it.pod.asked(resource) for it in self.pod_sets)
