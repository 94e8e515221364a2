"""Kueue, compared with the node pools of the same cluster."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from tpuplane.labels import ACCELERATOR_LABEL, GPU, GPU_LABEL, HOSTNAME, TPU
from tpuplane.quantities import thousandths

from tpuplane_policies.core.judging import Demands, Options, demand, of_each
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Total, Truth, UndecidedError, Value, any_of
from tpuplane_policies.rules import kinds
from tpuplane_policies.rules import pools as of_pools
from tpuplane_policies.rules.budgets import provisioned
from tpuplane_policies.rules.nodes import SHAPE_LABELS, have, node_labels
from tpuplane_policies.rules.places import by_cluster, home, may_be, may_be_same, placed, places_of_providers

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"


def _flavors(queue: Resource) -> Iterator[Value]:
    """Each flavor of a cluster queue or a cohort."""
    for group in queue["spec.resourceGroups"].each():
        yield from group["flavors"].each()


def _resources(queue: Resource) -> Iterator[tuple[Value, Value]]:
    """Each flavor of a cluster queue or a cohort with each of its resources."""
    return ((flavor, item) for flavor in _flavors(queue) for item in flavor["resources"].each())


def _sent(stack: Stack) -> list[Resource]:
    """The cluster queues of a manager of MultiKueue. Their jobs run in other clusters."""
    found = stack.of(kinds.ADMISSION_CHECK)
    checks = {check["metadata.name"].get() for check in found if check["spec.controllerName"].one_of(MULTI_KUEUE)}
    return [queue for queue in stack.of(kinds.CLUSTER_QUEUE) if checks and checks & set(_checks(queue))]


def _checks(queue: Resource) -> Iterator[str]:
    """The admission checks of a cluster queue, in all versions of the API."""
    strategy = queue["spec.admissionChecksStrategy.admissionChecks"].each()
    yield from (check.get() for check in (*queue["spec.admissionChecks"].each(), *(rule["name"] for rule in strategy)))


def _placing(stack: Stack) -> list[Resource]:
    """The cluster queues whose jobs run in their own cluster, and the cohorts of a cluster with such queues."""
    queues, sent = list(stack.of(kinds.CLUSTER_QUEUE)), _sent(stack)
    own = [queue for queue in queues if queue not in sent]
    return [*own, *(stack.of(kinds.COHORT) if own or not sent else ())]


def _placing_flavors(stack: Stack) -> Iterator[Resource]:
    """The flavors, without those that only queues of a manager of MultiKueue use."""
    sent = {flavor["name"].get() for queue in _sent(stack) for flavor in _flavors(queue)}
    sent -= {flavor["name"].get() for queue in (_placing(stack) if sent else ()) for flavor in _flavors(queue)}
    return (flavor for flavor in stack.of(kinds.FLAVOR) if not sent or flavor["metadata.name"].get() not in sent)


@stack_rule("KQ001")
@of_each(by_cluster)
def flavors_match_nodes(cluster: tuple[str, Stack], options: Options) -> Demands:
    """A pool has the labels of the flavor. The flavor tolerates GKE's taints where Kueue compares them with jobs.

    Kueue compares the taints of nodes if the flavor has a topology, and the flavor's nodeTaints. The API server adds
    the tolerations only to pods (ExtendedResourceToleration).
    """
    name, inside = cluster
    if any(inside.of(kinds.COMPUTE_CLASS)) or any(provisioned(inside)) or not any(inside.of(POOL)):
        return
    known, hidden = _labels_of(placed(inside))
    for flavor in _placing_flavors(inside):
        at = flavor["spec.nodeLabels"]
        matched = (
            ~at.is_set | any_of(have(labels, at) for labels in known) | hidden if ~at.one_of(None) else Truth(True)
        )
        listed = ", ".join(f"{key}={at.child(key).get('')}" for key in at.names())
        yield demand(matched, at, f"no pool of {name or 'this stack'} has the labels {listed}")
        for label, taint in ((ACCELERATOR_LABEL, TPU), (GPU_LABEL, GPU)):
            tolerated = flavor["spec.tolerations"]
            some = any_of(_tolerates(toleration, taint) for toleration in tolerated.each())
            tainted = any_of(own["key"].one_of(taint) for own in flavor["spec.nodeTaints"].each())
            compared = flavor["spec.topologyName"].is_set | tainted
            text = f"Kueue admits only jobs that tolerate {taint} themselves"
            remedy = f"tolerate {taint} in the flavor"
            yield demand(~at.child(label).is_set | ~compared | some, tolerated, text, remedy=remedy)


def _labels_of(every: Iterable[Resource]) -> tuple[list[dict[str, Any]], Truth]:
    """The labels of the nodes of each pool, and an unknown Truth if some are unknown."""
    known, unknown = list[dict[str, Any]](), list[Value]()
    for pool in every:
        try:
            known.append(node_labels(pool))
        except UndecidedError as error:
            unknown += error.unknown
    return known, Truth(None, tuple(unknown)) if unknown else Truth(False)


def _tolerates(toleration: Value, taint: str) -> Truth:
    """Whether it matches GKE's taint, whose value is present: https://kubernetes.io/docs/concepts/scheduling-eviction/
    taint-and-toleration/."""
    exists = toleration["operator"].one_of("Exists")
    named = toleration["key"].one_of(taint) | (toleration["key"].one_of(None, "") & exists)
    valued = exists | toleration["value"].one_of("present")
    return named & valued & toleration["effect"].one_of(None, "", "NoSchedule")


@stack_rule("KQ002")
@of_each(by_cluster)
def quotas_match_pools(cluster: tuple[str, Stack], options: Options) -> Demands:
    """Quotas do not exceed the pools' maximum, and they include all chips of fixed, reserved pools."""
    name, inside = cluster
    where = f" of {name}" if name else ""
    supplies = list(_supplies(inside))
    quotas, flavors = defaultdict[_Fitting, int](int), defaultdict[_Fitting, list[str]](list)
    for resource, at, flavor, quota in _quotas(inside) if supplies else ():
        fitting = frozenset(number for number, supply in enumerate(supplies) if supply.fits(resource, at))
        quotas[resource, fitting] += quota
        shape = " ".join(filter(None, (at.child(label).get() for label in SHAPE_LABELS[resource])))
        flavors[resource, fitting].append(shape or f"flavor {flavor}")
    for (resource, fitting), names in flavors.items():
        units = f"{'chips' if resource == TPU else 'GPUs'} of {', '.join(dict.fromkeys(names))}"
        own = [(other, quota) for (unit, other), quota in quotas.items() if unit == resource]
        most = sum((supplies[number].most for number in fitting), Total(0))
        needed = sum(quota for other, quota in own if other <= fitting)
        text = f"the queues{where} have quota for {needed} {units}; the pools grow to {most.known:.0f}"
        yield demand(~most.at_most(needed - 1), NOWHERE, text)
        own_pools = [supplies[number] for number in fitting if supplies[number].labels is not None]
        if own_pools and all(supply.fixed for supply in own_pools):
            reserved = sum(int(supply.most.known) for supply in own_pools)
            covered = sum(quota for other, quota in own if other & fitting)
            text = f"the queues{where} have quota for {covered} of {reserved} reserved {units}"
            yield demand(covered >= reserved, NOWHERE, text)


_Fitting = tuple[str, frozenset[int]]  # a resource, and the supplies that have the labels of a flavor


class _Supply(NamedTuple):
    """The chips or GPUs of a pool, or those that node auto-provisioning can add."""

    resource: str
    accelerator: str
    """The value of its label on auto-provisioned nodes."""
    most: Total
    labels: Mapping[str, Any] | None = None
    """Those of the nodes; None for auto-provisioned nodes, which get the labels that pods select."""
    fixed: bool = False
    """Whether it is a reserved pool of fixed size."""

    def fits(self, resource: str, flavor: Value) -> Truth:
        """Whether its nodes can have the labels of a flavor."""
        if resource != self.resource:
            return Truth(False)
        if self.labels is None:
            return flavor.child(SHAPE_LABELS[resource][0]).one_of(None, self.accelerator)
        return have(self.labels, flavor)


def _supplies(stack: Stack) -> Iterator[_Supply]:
    for pool in placed(stack):
        smallest, largest = of_pools.node_range(pool)
        if (shape := of_pools.tpu_slice(pool)) is not None:
            fixed = smallest == largest and "reservation" in of_pools.capacities(pool)
            most = Total(largest * shape.machine.chips)
            yield _Supply(TPU, shape.generation.label, most, node_labels(pool), fixed)
        elif of_pools.has_gpus(pool):
            most = Total.of([pool], lambda pool, largest=largest: largest * of_pools.offered_per_node(pool))
            yield _Supply(GPU, "", most, node_labels(pool))
    for _, generation, more in provisioned(stack):
        yield _Supply(TPU, generation.label, Total(more))
    for _, model, more in of_pools.provisioned_gpus(stack):
        yield _Supply(GPU, model, Total(more))


def _quotas(stack: Stack) -> Iterator[tuple[str, Value, str, int]]:
    """Each nominal quota of TPUs or GPUs, also those of cohorts: its resource, the labels and the name of its flavor,
    and the number."""
    flavors = {flavor["metadata.name"].get(): flavor["spec.nodeLabels"] for flavor in stack.of(kinds.FLAVOR)}
    for queue in _placing(stack):
        for flavor, item in _resources(queue):
            resource, name = item["name"].get(), flavor["name"].get()
            if resource in SHAPE_LABELS and name in flavors:
                yield resource, flavors[name], name, thousandths(item["nominalQuota"].get(0)) // 1000


@resource_rule("KQ003", kinds.CLUSTER_QUEUE)
def requested_resources_are_covered(queue: Resource, options: Options) -> Demands:
    """Pods with TPUs or GPUs also request cpu and memory."""
    for group in queue["spec.resourceGroups"].each():
        at, groups = group["coveredResources"], tuple(queue["spec.resourceGroups"].each())
        for name in ("cpu", "memory"):
            covered = any_of(other["coveredResources"].contains(name) for other in groups)
            text = f"Kueue admits no pod that requests {name}"
            yield demand(~at.contains(TPU, GPU) | covered, at, text, remedy=f"add {name} to {at.path}")


@resource_rule("KQ004", kinds.TOPOLOGY)
def levels_are_unique_and_end_in_hosts(topology: Resource, options: Options) -> Demands:
    """Kueue's own webhook validates the same."""
    at = topology["spec.levels"]
    labels = [level["nodeLabel"] for level in at.each()]
    same = (one.test(lambda label, two=two: label == two.get()) for one, two in combinations(labels, 2))
    yield demand(~(at.one_of() | any_of(same)), at, "a level is given twice")
    early = at.one_of() | any_of(label.one_of(HOSTNAME) for label in labels[:-1])
    yield demand(~early, at, f"{HOSTNAME} must be the last level")


@stack_rule("KQ009")
def tenants_have_queues(stack: Stack, options: Options) -> Demands:
    """Every namespace with the tenant label has a local queue."""
    places = places_of_providers(stack, stack.of(kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE, kinds.NAMESPACE))
    with_queues = {places.get(queue.provider) for queue in stack.of(kinds.CLUSTER_QUEUE)}
    queues = [(places.get(queue.provider), queue["metadata.namespace"]) for queue in stack.of(kinds.LOCAL_QUEUE)]
    for namespace in stack.of(kinds.NAMESPACE):
        at, place = namespace["metadata.name"], places.get(namespace.provider)
        if not any(may_be_same(place, other) for other in with_queues):
            continue
        tenant = namespace["metadata.labels"].child(options["tenantLabel"]).is_set
        near = (queue for other, queue in queues if may_be_same(place, other))
        own = (at.test(lambda name, queue=queue: name == queue.get()) for queue in near)
        yield demand(~tenant | any_of(own), at, "no LocalQueue in this namespace: its jobs never start")


@resource_rule("KQ007", kinds.KUEUE)
def kueue_api_is_current(resource: Resource, options: Options) -> Demands:
    """Kueue stores v1beta2 and will remove older versions."""
    version = resource.type.partition("/")[2].partition(":")[0]
    allowed = ", ".join(options["versions"])
    text, remedy = f"kueue.x-k8s.io/{version} is not current; allowed: {allowed}", f"use kueue.x-k8s.io/{allowed}"
    yield demand(version in options["versions"], resource.props, text, remedy=remedy)


@stack_rule("KQ008")
def provisioning_requests_have_pools(stack: Stack, options: Options) -> Demands:
    """Flex-start pools without queued provisioning do not answer them (GoogleCloudPlatform/cluster-autoscaler)."""
    places = places_of_providers(stack, stack.of(kinds.ADMISSION_CHECK))
    for check in stack.of(kinds.ADMISSION_CHECK):
        at, place = check["spec.controllerName"], places.get(check.provider)
        pools = [pool for pool in stack.of(POOL) if place is None or may_be(place, home(pool))]
        if not pools:
            continue
        asks = at.one_of("kueue.x-k8s.io/provisioning-request")
        answered = any_of(pool["queuedProvisioning.enabled"].is_true for pool in pools)
        yield demand(~asks | answered, at, "no pool of its cluster in this stack has queued provisioning")
