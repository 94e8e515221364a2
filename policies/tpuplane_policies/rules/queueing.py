"""Kueue, JobSet and Ray against the pools of the same stack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL, GPU, MACHINE_LABEL, QUEUED_LABEL, TPU, bought_labels
from tpuplane.quantities import thousandths
from tpuplane.tpu import Slice, SliceError

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule, stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import NOWHERE, Truth, Value
from tpuplane_policies.rules.budgets import provisioned
from tpuplane_policies.rules.gpus import ACCELERATOR as GPU_ACCELERATOR
from tpuplane_policies.rules.gpus import gpu_machine, offered_per_node, provisioned_gpus
from tpuplane_policies.rules.kinds import (
    ADMISSION_CHECK,
    CLUSTER_QUEUE,
    COMPUTE_CLASS,
    FLAVOR,
    JOBSET,
    KUEUE,
    LOCAL_QUEUE,
    NAMESPACE,
    RAY,
    TOPOLOGY,
)
from tpuplane_policies.rules.pods import ray_workers
from tpuplane_policies.rules.pools import capacities, node_range, tpu_slice

ACCELERATOR, TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
HOSTNAME = "kubernetes.io/hostname"
PROMISED = {TPU: (ACCELERATOR, TOPOLOGY_LABEL), GPU: (GPU_ACCELERATOR, MACHINE_LABEL)}
"""The node labels by which a resource of a queue is the chips or GPUs of pools."""


def _node_labels(pool: Resource) -> dict[str, Any]:
    """The labels of a pool's nodes that are known from here: its own and GKE's."""
    accelerated = tpu_slice(pool) or gpu_machine(pool)
    own = dict(pool["nodeConfig.labels"].get({}))
    known = {GKE_POOL_LABEL: pool["name"].get(""), MACHINE_LABEL: pool["nodeConfig.machineType"].get("")}
    for capacity in capacities(pool) or ["on-demand"]:
        reserved = pool["nodeConfig.reservationAffinity.values"].get([]) if capacity == "reservation" else []
        known |= bought_labels(capacity, next(iter(reserved), None))
    if pool["queuedProvisioning.enabled"].get(False):
        known[QUEUED_LABEL] = "true"
    return {**own, **(accelerated.node_labels if accelerated else {}), **known}


def _resources(queue: Resource) -> Iterator[tuple[Value, Value]]:
    """Each flavor of a cluster queue with each of its resources."""
    for group in queue["spec.resourceGroups"].each():
        for flavor in group["flavors"].each():
            for item in flavor["resources"].each():
                yield flavor, item


@stack_rule("KQ001")
def flavors_meet_nodes(stack: Stack, options: Options) -> Demands:
    """Labels that some pool has; taints that GKE puts on nodes with TPUs and GPUs are tolerated."""
    pools = [_node_labels(pool) for pool in stack.of(POOL)]
    if any(stack.of(COMPUTE_CLASS)) or any(provisioned(stack)) or not pools:
        return
    for flavor in stack.of(FLAVOR):
        at = flavor["spec.nodeLabels"]
        met = at.test(lambda it: not it or any(it.items() <= labels.items() for labels in pools))
        yield demand(met, at, f"no pool of this stack has the labels {_listed(at)}")
        for label, taint in ((ACCELERATOR, TPU), (GPU_ACCELERATOR, GPU)):
            tolerated = flavor["spec.tolerations"]
            some = reduce(or_, (it["key"].one_of(taint) for it in tolerated.each()), Truth(False))
            yield demand(~at.child(label).is_set | some, tolerated, f"its nodes are tainted with {taint}")


def _listed(labels: Value) -> str:
    return ", ".join(f"{key}={labels.child(key).get('')}" for key in labels.names())


@stack_rule("KQ002")
def quotas_are_no_larger_than_pools(stack: Stack, options: Options) -> Demands:
    """What is promised in chips is what the pools grow to, and what is reserved and always there is promised whole."""
    chips, fixed = defaultdict[_Shape, int](int), dict[_Shape, bool]()
    for pool in stack.of(POOL):
        shape = tpu_slice(pool)
        if shape is not None:
            key = shape.generation.label, shape.topology
            smallest, largest = node_range(pool)
            chips[key] += largest * shape.machine.chips
            fixed[key] = fixed.get(key, True) and smallest == largest and "reservation" in capacities(pool)
        machine = gpu_machine(pool)
        if machine is not None:
            chips[machine.accelerator.name, machine.name] += node_range(pool)[1] * offered_per_node(pool)
    promised = _promised(stack)
    spare = defaultdict[str, int](int)
    for _, generation, more in provisioned(stack):
        spare[generation.label] += more
    for _, gpus, more in provisioned_gpus(stack):
        spare[gpus.accelerator.name] += more
    if not chips and not spare:
        return
    for key, quota in promised.items():
        spare[key[0]] -= max(0, quota - chips[key])
        text = f"the queues promise {quota} {_units(key)} of {' '.join(key)}; the pools grow to {chips[key]}"
        yield demand(spare[key[0]] >= 0, NOWHERE, text)
        if fixed.get(key):
            text = f"the queues promise {quota} of {chips[key]} reserved chips of {' '.join(key)}; the others idle"
            yield demand(quota >= chips[key], NOWHERE, text)


_Shape = tuple[str, str]  # accelerator, and topology or machine type


def _units(shape: _Shape) -> str:
    return "chips" if shape[0].startswith("tpu") else "GPUs"


def _promised(stack: Stack) -> dict[_Shape, int]:
    """Chips and GPUs in the nominal quotas of all cluster queues, by the labels of their flavors."""
    flavors = {it["metadata.name"].get(): it["spec.nodeLabels"] for it in stack.of(FLAVOR)}
    promised: dict[_Shape, int] = defaultdict(int)
    for queue in stack.of(CLUSTER_QUEUE):
        for flavor, item in _resources(queue):
            by = PROMISED.get(item["name"].get())
            labels = flavors.get(flavor["name"].get()) if by else None
            if by and labels is not None:
                promise = thousandths(item["nominalQuota"].get(0)) // 1000
                promised[labels.child(by[0]).get(""), labels.child(by[1]).get("")] += promise
    return promised


@resource_rule("KQ003", CLUSTER_QUEUE)
def all_that_pods_ask_for_is_covered(queue: Resource, options: Options) -> Demands:
    """A pod with TPUs or GPUs asks for cpu and memory as well."""
    for group in queue["spec.resourceGroups"].each():
        at = group["coveredResources"]
        covered = at.get([])
        if TPU in covered or GPU in covered:
            everywhere = {name for it in queue["spec.resourceGroups"].each() for name in it["coveredResources"].get([])}
            missing = [name for name in ("cpu", "memory") if name not in everywhere]
            yield demand(not missing, at, f"{' and '.join(missing)} not covered, so no pod that asks is admitted")


@resource_rule("KQ004", TOPOLOGY)
def levels_are_unique_and_end_in_hosts(topology: Resource, options: Options) -> Demands:
    """As Kueue's own validation has it."""
    at = topology["spec.levels"]
    names = [level["nodeLabel"].get() for level in at.each()]
    yield demand(len(names) == len(set(names)), at, "a level stands there twice")
    yield demand(HOSTNAME not in names[:-1], at, f"{HOSTNAME} is the last level or none")


@resource_rule("KQ005", CLUSTER_QUEUE)
def preemption_is_a_decision(queue: Resource, options: Options) -> Demands:
    """Said, not left to the default."""
    for field in ("withinClusterQueue", "reclaimWithinCohort"):
        at = queue["spec.preemption"][field]
        yield demand(at.is_set, at, "nobody decided whose jobs end for whom")


@stack_rule("KQ009")
def tenants_have_queues(stack: Stack, options: Options) -> Demands:
    """Every namespace that a queue lets in has a local queue."""
    if not any(stack.of(CLUSTER_QUEUE)):
        return
    queues = [it["metadata.namespace"] for it in stack.of(LOCAL_QUEUE)]
    for namespace in stack.of(NAMESPACE):
        at = namespace["metadata.name"]
        tenant = namespace["metadata.labels"].child(options["tenantLabel"]).is_set
        has_one = at.test(lambda name: any(queue.get() == name for queue in queues))
        yield demand(~tenant | has_one, at, "no LocalQueue in this namespace: its jobs never start")


@resource_rule("KQ006", CLUSTER_QUEUE)
def queues_choose_their_tenants(queue: Resource, options: Options) -> Demands:
    """An empty selector lets every namespace in."""
    at = queue["spec.namespaceSelector"]
    chooses = at["matchLabels"].is_set | at["matchExpressions"].is_set
    yield demand(chooses, at, "every namespace, or none, may use this queue's chips")


@resource_rule("KQ007", KUEUE + ".*")
def kueues_current_api(it: Resource, options: Options) -> Demands:
    """What is stored is v1beta2; the older one goes away."""
    at = it["apiVersion"]
    version = it.type.partition("/")[2].partition(":")[0]
    served = version in options["versions"]
    yield demand(served, at, f"{version} is not current; allowed: {', '.join(options['versions'])}")


@stack_rule("KQ008")
def provisioning_requests_have_takers(stack: Stack, options: Options) -> Demands:
    """Only queued pools answer them: flex-start alone does not (GoogleCloudPlatform/cluster-autoscaler)."""
    answered = [pool["queuedProvisioning.enabled"].is_true for pool in stack.of(POOL)]
    for check in stack.of(ADMISSION_CHECK) if answered else ():
        at = check["spec.controllerName"]
        asks = at.one_of("kueue.x-k8s.io/provisioning-request")
        yield demand(reduce(or_, answered, ~asks), at, "no pool of this stack has queued provisioning")


@resource_rule("RAY001", RAY)
def worker_groups_are_slices(ray: Resource, options: Options) -> Demands:
    """As many hosts as the slice that the group selects."""
    for group in ray_workers(ray):
        selector = group["template.spec.nodeSelector"]
        accelerator, topology = selector.child(ACCELERATOR), selector.child(TOPOLOGY_LABEL)
        if ~accelerator.is_set & ~topology.is_set:
            continue
        limits = [it["resources.limits"].child(TPU) for it in group["template.spec.containers"].each()]
        chips = [limit.get() for limit in limits if limit.is_set]
        try:
            per_node = int(chips[0]) if chips else None
            shape = Slice.for_nodes(str(accelerator.get("")), str(topology.get("")), chips_per_node=per_node)
        except SliceError as error:
            yield demand(False, selector, str(error))
            continue
        at = group["numOfHosts"]
        yield demand(int(at.get(1)) == shape.hosts, at, f"a {shape} slice has {shape.hosts} hosts")


@resource_rule("JOB001", JOBSET)
def a_job_has_its_slice_alone(jobset: Resource, options: Options) -> Demands:
    """One job for each node pool, which is one slice."""
    on_slices = any(job["template.spec.parallelism"].get(1) > 1 for job in jobset["spec.replicatedJobs"].each())
    if on_slices:
        at = jobset["metadata.annotations"].child(EXCLUSIVE)
        yield demand(at.one_of(GKE_POOL_LABEL), at, f"two jobs may share a slice; wanted: {GKE_POOL_LABEL}")
