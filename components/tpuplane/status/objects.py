"""The fields of Kubernetes objects that a status reads. Other fields are dropped, and null counts as missing."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticUseDefault

from tpuplane.labels import GKE_POOL_LABEL, GPU, HOSTNAME, TPU
from tpuplane.quantities import thousandths


def _amount(quantity: Any) -> int:
    try:
        return thousandths(str(quantity))
    except (ArithmeticError, LookupError):
        raise ValueError(f"{quantity!r} is not a quantity") from None


Quantity = Annotated[int, BeforeValidator(_amount)]
"""In thousandths."""


def at(*paths: str, default: Any = ...) -> Any:
    """A field, read from the first of these paths. A type as `default`, such as `list`, is called for each object."""
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
    """An owner of an object, the object of an event, or only a name."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class State(Part):
    """Why a container waits, or how it ended."""

    reason: str = ""
    message: str = ""
    exit_code: int = 0


class Condition(State):
    """A condition in the status of an object."""

    type: str = ""
    status: str = ""
    last_transition_time: str = ""


_NO_OWNER, _NO_CONDITION, _NO_STATE = Reference(), Condition(), State()


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
    deleted: str = at("metadata.deletionTimestamp", default="")
    reason: str = at("status.reason", default="")
    message: str = at("status.message", default="")
    conditions: list[Condition] = at("status.conditions", default=list)

    @property
    def owner(self) -> Reference:
        """The first owner; an empty one if the object has none."""
        return next(iter(self.owners), _NO_OWNER)

    def condition(self, kind: str) -> Condition:
        """The condition of a type; an empty one if the object has none."""
        return next((each for each in self.conditions if each.type == kind), _NO_CONDITION)

    def is_true(self, kind: str) -> bool:
        """Whether a condition is true."""
        return self.condition(kind).status == "True"


class Taint(Part):
    """A taint of a node, or a toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Self) -> bool:
        """Whether this toleration covers a taint."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or (bool(self.key) and self.value == taint.value)


class Node(Item):
    """A host."""

    capacity: dict[str, Quantity] = at("status.capacity", default=dict)
    allocatable: dict[str, Quantity] = at("status.allocatable", default=dict)
    taints: list[Taint] = at("spec.taints", default=list)
    unschedulable: bool = at("spec.unschedulable", default=False)
    provider_id: str = at("spec.providerID", default="")
    kubelet: str = at("status.nodeInfo.kubeletVersion", default="")

    @property
    def pool(self) -> str:
        """The node pool of the node; "" if it has none."""
        return self.labels.get(GKE_POOL_LABEL, "")

    @property
    def offered(self) -> dict[str, int]:
        """What pods can request, in thousandths; also chips and GPUs that are not usable now."""
        devices = {name: amount for name, amount in self.capacity.items() if name in (TPU, GPU)}
        return {**self.allocatable, **devices} if self.allocatable else self.capacity


class Volume(Part):
    """A volume of a pod. `claim` is "" unless it names a PersistentVolumeClaim; `template` is that of its own claim."""

    name: str = ""
    claim: str = at("persistentVolumeClaim.claimName", default="")
    template: dict[str, Any] = at("ephemeral.volumeClaimTemplate", default=dict)


class _Container(Part):
    name: str = ""
    requests: dict[str, Quantity] = at("resources.requests", default=dict)
    limits: dict[str, Quantity] = at("resources.limits", default=dict)
    restart_policy: str = ""  # Always: a sidecar, which runs until the end of the pod

    def asked(self, resource: str) -> int:
        """Its request. The limit counts if there is no request, as in a created pod."""
        return self.requests.get(resource, self.limits.get(resource, 0))


class Expression(Part):
    """A requirement for a label of a node."""

    key: str = ""
    operator: str = "In"
    values: list[str] = []

    @property
    def text(self) -> str:
        """The requirement as kubectl prints it."""
        return " ".join([self.key, self.operator, *([", ".join(self.values)] if self.values else [])])

    def accepts(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet the requirement."""
        has = labels.get(self.key)
        if self.operator in ("Exists", "DoesNotExist"):
            return (has is not None) == (self.operator == "Exists")
        if self.operator in ("Gt", "Lt"):
            numbers = [int(value) for value in (has or "", *self.values) if value.isdigit()]
            return len(numbers) == 2 and (numbers[0] > numbers[1] if self.operator == "Gt" else numbers[0] < numbers[1])
        return (has in self.values) == (self.operator == "In")


class _Term(Part):
    match_expressions: list[Expression] = []
    match_fields: list[Expression] = []

    @property
    def requirements(self) -> list[Expression]:
        """Its requirements for labels. The only supported field is the node's name. An empty term matches no node."""
        named = [field.model_copy(update={"key": HOSTNAME}) for field in self.match_fields]
        return [*self.match_expressions, *named] or [Expression()]


class PodSpec(Part):
    """The spec of a pod, or of the pods of a template."""

    containers: list[_Container] = []
    init_containers: list[_Container] = []
    of_all: dict[str, Quantity] = at("resources.requests", default=dict)
    """Requests of the pod as a whole, instead of those of its containers."""
    node_name: str = ""
    priority_class_name: str = ""
    node_selector: dict[str, str] = {}
    tolerations: list[Taint] = []
    terms: list[_Term] = at(
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", default=list
    )
    """Terms of node affinity, one of which must hold."""
    scheduling_gates: list[Reference] = []
    volumes: list[Volume] = []

    @property
    def requests(self) -> dict[str, int]:
        """The requests of the pod by resource, in thousandths."""
        every = (*self.containers, *self.init_containers)
        names = {*self.of_all, *(name for each in every for name in (*each.requests, *each.limits))}
        return {name: self.asked(name) for name in names}

    def asked(self, resource: str) -> int:
        """The requests of the pod for a resource, in thousandths: the most that its containers need at one time.

        Source: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
        """
        if resource in self.of_all:
            return self.of_all[resource]
        sidecars = most = 0
        for container in self.init_containers:
            asked = container.asked(resource)
            if container.restart_policy == "Always":
                sidecars += asked
            else:
                most = max(most, sidecars + asked)
        return max(most, sidecars + sum(container.asked(resource) for container in self.containers))


class _ContainerStatus(Part):
    name: str = ""
    restart_count: int = 0
    waiting: State = at("state.waiting", default=_NO_STATE)
    running: Any = at("state.running", default=None)
    now: State | None = at("state.terminated", default=None)
    before: State = at("lastState.terminated", default=_NO_STATE)

    @property
    def ended(self) -> State:
        """How the container ended, now or before its last restart; empty if it has not ended."""
        return self.now or self.before


class Pod(Item):
    """A pod."""

    spec: PodSpec = PodSpec()
    init_statuses: list[_ContainerStatus] = at("status.initContainerStatuses", default=list)
    statuses: list[_ContainerStatus] = at("status.containerStatuses", default=list)

    @property
    def workload(self) -> str:
        """The Kueue workload of the pod, which has the name of its group of pods; "" if it has none."""
        return self.annotations.get("kueue.x-k8s.io/workload", self.group)

    @property
    def running_since(self) -> str:
        """When its last container has started; "" if not all run."""
        times = [(each.running or {}).get("startedAt", "") for each in self.statuses]
        return max(times, default="") if all(times) else ""

    @property
    def group(self) -> str:
        """The name of its group of pods in Kueue; "" if it has none."""
        return self.labels.get("kueue.x-k8s.io/pod-group-name", "")


class Event(Item):
    """An event about an object."""

    about: Reference = at("involvedObject", default=Reference())
    type: str = ""
    reason: str = ""
    message: str = ""
    last_timestamp: str = ""
    event_time: str = ""
    repeated: str = at("series.lastObservedTime", default="")
    version: int = at("metadata.resourceVersion", default=0)

    @property
    def time(self) -> str:
        """When the event was last seen, to the second."""
        return self.repeated or self.last_timestamp or self.event_time or self.created


class Job(Item):
    """A job of any kind."""

    suspend: bool = at("spec.suspend", default=False)
    parallelism: int = at("spec.parallelism", default=1)
    wanted: int = at("spec.parallelism", "spec.replicas", default=1)
    """Pods, or groups of pods, that its controller creates now."""
    phase: str = at("status.jobDeploymentStatus", "status.phase", default="")
    ray_status: str = at("status.jobStatus", default="")
    applications: dict[str, Condition] = at("status.activeServiceStatus.applicationStatuses", default=dict)
    next_applications: dict[str, Condition] = at("status.pendingServiceStatus.applicationStatuses", default=dict)
