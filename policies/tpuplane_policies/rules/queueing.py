"""Kueue, JobSet and Ray, compared with the node pools of the same stack."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from tpuplane.labels import (
    ACCELERATOR_LABEL,
    GKE_POOL_LABEL,
    GPU,
    GPU_LABEL,
    REQUIRED_TOPOLOGY,
    SLICE_TOPOLOGY,
    TOPOLOGY_LABEL,
    TPU,
)
from tpuplane.quantities import thousandths
from tpuplane.tpu import Slice, SliceError

from tpuplane_policies.core.judging import Demands, Options, demand, separately
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Total, Truth, UndecidedError, Value, any_of
from tpuplane_policies.rules import kinds
from tpuplane_policies.rules import pools as of_pools
from tpuplane_policies.rules.budgets import provisioned
from tpuplane_policies.rules.nodes import SHAPE_LABELS, have, node_labels
from tpuplane_policies.rules.places import placed
from tpuplane_policies.rules.pods import containers, ray_workers

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
SLICE_REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-slice-required-topology"
"""The annotation with which Kueue places equal parts of the pods in one domain each."""
SLICE_DOMAIN = re.compile(r"cloud\.google\.com/(gke-nodepool|gke-tpu-(slice|partition)-[0-9x]+-id)")
"""The labels of hosts with the same value for all hosts of a slice, or of a part of one."""
HOSTNAME = "kubernetes.io/hostname"


def _resources(queue: Resource) -> Iterator[tuple[Value, Value]]:
    """Each flavor of a cluster queue or a cohort with each of its resources."""
    for group in queue["spec.resourceGroups"].each():
        for flavor in group["flavors"].each():
            for item in flavor["resources"].each():
                yield flavor, item


@stack_rule("KQ001")
def flavors_match_nodes(stack: Stack, options: Options) -> Demands:
    """A pool has the labels of the flavor. The flavor tolerates GKE's taints where Kueue compares them with jobs.

    Kueue compares the taints of nodes if the flavor has a topology, and the flavor's nodeTaints. The API server adds
    the tolerations only to pods (ExtendedResourceToleration).
    """
    if any(stack.of(kinds.COMPUTE_CLASS)) or any(provisioned(stack)) or not any(stack.of(POOL)):
        return
    known, hidden = _labels_of(placed(stack))
    for flavor in stack.of(kinds.FLAVOR):
        at = flavor["spec.nodeLabels"]
        matched = (
            ~at.is_set | any_of(have(labels, at) for labels in known) | hidden if ~at.one_of(None) else Truth(True)
        )
        listed = ", ".join(f"{key}={at.child(key).get('')}" for key in at.names())
        yield demand(matched, at, f"no pool of this stack has the labels {listed}")
        for label, taint in ((ACCELERATOR_LABEL, TPU), (GPU_LABEL, GPU)):
            tolerated = flavor["spec.tolerations"]
            some = any_of(_tolerates(toleration, taint) for toleration in tolerated.each())
            tainted = any_of(own["key"].one_of(taint) for own in flavor["spec.nodeTaints"].each())
            compared = flavor["spec.topologyName"].is_set | tainted
            text, remedy = f"Kueue admits only jobs that tolerate {taint} themselves", f"tolerate {taint} in the flavor"
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
def quotas_match_pools(stack: Stack, options: Options) -> Demands:
    """Quotas do not exceed the pools' maximum, and they include all chips of fixed, reserved pools."""
    supplies = list(_supplies(stack))
    quotas, flavors = defaultdict[_Fitting, int](int), defaultdict[_Fitting, list[str]](list)
    for resource, at, flavor, quota in _quotas(stack) if supplies else ():
        fitting = frozenset(number for number, supply in enumerate(supplies) if supply.fits(resource, at))
        quotas[resource, fitting] += quota
        shape = " ".join(filter(None, (at.child(label).get() for label in SHAPE_LABELS[resource])))
        flavors[resource, fitting].append(shape or f"flavor {flavor}")
    for (resource, fitting), names in flavors.items():
        units = f"{'chips' if resource == TPU else 'GPUs'} of {', '.join(dict.fromkeys(names))}"
        own = [(other, quota) for (unit, other), quota in quotas.items() if unit == resource]
        most = sum((supplies[number].most for number in fitting), Total(0))
        needed = sum(quota for other, quota in own if other <= fitting)
        text = f"the queues have quota for {needed} {units}; the pools grow to {most.known:.0f}"
        yield demand(~most.at_most(needed - 1), NOWHERE, text)
        own_pools = [supplies[number] for number in fitting if supplies[number].labels is not None]
        if own_pools and all(supply.fixed for supply in own_pools):
            reserved = sum(int(supply.most.known) for supply in own_pools)
            covered = sum(quota for other, quota in own if other & fitting)
            text = f"the queues have quota for {covered} of {reserved} reserved {units}"
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
    for queue in stack.of(kinds.CLUSTER_QUEUE, kinds.COHORT):
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
    if not any(stack.of(kinds.CLUSTER_QUEUE)):
        return
    queues = [queue["metadata.namespace"] for queue in stack.of(kinds.LOCAL_QUEUE)]
    for namespace in stack.of(kinds.NAMESPACE):
        at = namespace["metadata.name"]
        tenant = namespace["metadata.labels"].child(options["tenantLabel"]).is_set
        own = (at.test(lambda name, queue=queue: name == queue.get()) for queue in queues)
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
    answered = [pool["queuedProvisioning.enabled"].is_true for pool in stack.of(POOL)]
    for check in stack.of(kinds.ADMISSION_CHECK) if answered else ():
        at = check["spec.controllerName"]
        asks = at.one_of("kueue.x-k8s.io/provisioning-request")
        yield demand(~asks | any_of(answered), at, "no pool of this stack has queued provisioning")


@resource_rule("RAY001", kinds.RAY)
def worker_groups_are_slices(ray: Resource, options: Options) -> Demands:
    """A group has as many hosts as the slice that it selects."""

    def is_slice(group: Value) -> Demands:
        selector = group["template.spec.nodeSelector"]
        accelerator, topology = selector.child(ACCELERATOR_LABEL), selector.child(TOPOLOGY_LABEL)
        containers = group["template.spec.containers"].each()
        limits = [container["resources.limits"].child(TPU) for container in containers]
        if ~accelerator.is_set & ~topology.is_set:
            selects = selector.is_set | group["template.spec.affinity.nodeAffinity"].is_set
            text = f"the group requests {TPU}, but selects no slice"
            remedy = f"select {ACCELERATOR_LABEL} and {TOPOLOGY_LABEL}"
            yield demand(~any_of(limit.is_set for limit in limits) | selects, selector, text, remedy=remedy)
            return
        chips = [limit.get() for limit in limits if limit.is_set]
        try:
            per_node = int(chips[0]) if chips else None
            shape = Slice.for_nodes(str(accelerator.get("")), str(topology.get("")), chips_per_node=per_node)
        except SliceError as error:
            yield demand(False, selector, str(error))
            return
        yield of_pools.of_the_slice(group["numOfHosts"], shape)

    yield from separately(ray_workers(ray), is_slice)


@resource_rule("JOB001", kinds.JOBSET)
def jobs_do_not_share_slices(jobset: Resource, options: Options) -> Demands:
    """The pods of a job with TPUs stay on one slice, by JobSet's affinity, Kueue's topology or a dynamic slice."""
    at = jobset["metadata.annotations"].child(EXCLUSIVE)
    for job in jobset["spec.replicatedJobs"].each():
        several = job["template.spec.parallelism"].test(lambda pods: (pods or 1) > 1)
        apart = at.one_of(GKE_POOL_LABEL) | job["template.metadata.annotations"].child(EXCLUSIVE).one_of(GKE_POOL_LABEL)
        pods = job["template.spec.template"]
        text = f"two jobs can share a slice; allowed: {GKE_POOL_LABEL}"
        one_slice = _on_one_slice(pods, job["replicas"].one_of(None, 1))
        yield demand(~(several & _requests_tpus(pods["spec"])) | apart | one_slice, at, text)


def _requests_tpus(pod: Value) -> Truth:
    """Whether a container requests chips."""
    asked = (
        container["resources"][kind].child(TPU) for container in containers(pod) for kind in ("limits", "requests")
    )
    return any_of(chips.is_set for chips in asked)


def _on_one_slice(pods: Value, single: Truth) -> Truth:
    """Whether annotations of a pod template keep the pods on one slice, or have one made for them.

    REQUIRED_TOPOLOGY places the pods of all replicas of a job together: PodSets of
    https://github.com/kubernetes-sigs/kueue/blob/v0.18.3/pkg/controller/jobs/jobset/jobset_controller.go.
    """
    annotations = pods["metadata.annotations"]
    together, in_parts = (
        annotations.child(key).test(lambda at: bool(SLICE_DOMAIN.fullmatch(str(at))))
        for key in (REQUIRED_TOPOLOGY, SLICE_REQUIRED_TOPOLOGY)
    )
    return (together & single) | in_parts | annotations.child(SLICE_TOPOLOGY).is_set
