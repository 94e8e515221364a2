"""JobSet and Ray: the slices of a job."""

import re

from tpuplane.labels import ACCELERATOR_LABEL, GKE_POOL_LABEL, REQUIRED_TOPOLOGY, SLICE_TOPOLOGY, TOPOLOGY_LABEL, TPU
from tpuplane.tpu import Slice, SliceError

from tpuplane_policies.core.judging import Demands, Options, demand, of_each
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import Truth, Value, any_of
from tpuplane_policies.rules import kinds
from tpuplane_policies.rules import pools as of_pools
from tpuplane_policies.rules.pods import containers, ray_workers

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
SLICE_REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-slice-required-topology"
"""The annotation with which Kueue places equal parts of the pods in one domain each."""
SLICE_DOMAIN = re.compile(r"cloud\.google\.com/(gke-nodepool|gke-tpu-(slice|partition)-[0-9x]+-id)")
"""The labels of hosts with the same value for all hosts of a slice, or of a part of one."""


@resource_rule("RAY001", kinds.RAY)
@of_each(ray_workers)
def worker_groups_are_slices(group: Value, options: Options) -> Demands:
    """A group has as many hosts as the slice that it selects."""
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
