"""Where a team can start jobs on slices: its local queues, with the planned flavors and hosts of the clusters. Pure."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from tpuplane.addons.kueue_objects import cluster_queue_spec, cohort_spec, flavor_spec
from tpuplane.labels import (
    BLOCK_LABEL,
    GKE_POOL_LABEL,
    MODE_LABEL,
    POOL_LABEL,
    ZONE_LABEL,
    partition_label,
    sub_slice_label,
)
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.flavors import CUBE_TOPOLOGY, FLAVOR_LABEL
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.queue_model import FlavorPlan, QueuesPlan
from tpuplane.status.case import contradiction
from tpuplane.status.fitting import Host, Hosts, Pods
from tpuplane.status.kueue_objects import ClusterQueue, Flavor
from tpuplane.status.other_hosts import host_of
from tpuplane.status.quota import Offer, offers
from tpuplane.tpu import Slice


class Place(NamedTuple):
    """A flavor of slices in a local queue of a team."""

    cluster: ClusterPlan  # runs the jobs
    target: ClusterPlan  # accepts them: the same cluster, or its manager
    queue: str  # local queue
    flavor: FlavorPlan
    shape: Slice  # of the job: `whole`, or a part of it
    whole: Slice  # of the hosts
    offers: list[list[Offer]]  # all flavors of the queue
    hosts: Hosts  # of the cluster's flavors, at full scale and without work

    @property
    def dynamic(self) -> bool:
        """Whether GKE's slice controller makes the slice of cubes."""
        return self.flavor.topology == CUBE_TOPOLOGY.name

    @property
    def domain(self) -> str:
        """The label whose value is the same for all hosts of the slice, or of each of its cubes; empty for one host."""
        if self.dynamic:
            return partition_label(min(self.shape, self.whole, key=lambda shape: shape.chips).topology)
        if self.shape != self.whole:
            return sub_slice_label(self.shape.topology)
        return GKE_POOL_LABEL if self.shape.multi_host else ""

    def alike(self, other: "Place") -> bool:
        """Whether a job for one place can also run at the other. A manager sends it to any cluster with its queue."""
        return (self.target, self.queue, self.shape) == (other.target, other.queue, other.shape)

    def choice(self, pods: Pods) -> list[Offer]:
        """The flavors of the queue that Kueue may choose for the pods by their labels."""
        return [offer for group in self.offers for offer in group if not contradiction(pods, offer)]

    def suited(self, pods: Pods) -> list[Host]:
        """The hosts of all flavors that Kueue may choose for the pods."""
        flavors = [offer.labels.items() for offer in self.choice(pods)]
        hosts = (host for host in self.hosts.all if pods.labelled(host.labels))
        return [host for host in hosts if any(labels <= host.labels.items() for labels in flavors)]


def places(platform: PlatformPlan, team: str) -> Iterator[Place]:
    """The places of a team, in the order of the file: in each cluster first the queue that jobs get by default."""
    managers = {key: cluster for cluster in platform.clusters if cluster.manager for key in cluster.manager.workers}
    for cluster in platform.clusters:
        if (queues := cluster.queues) is None or cluster.manager is not None:
            continue
        flavors = {flavor.name: flavor for flavor in queues.flavors}
        hosts, target = _hosts(cluster, flavors), managers.get(cluster.key, cluster)
        for local, name in next((own.local_queues for own in queues.teams if own.name == team), {}).items():
            offered = _offers(queues, name)
            for offer in (offer for group in offered for offer in group):
                flavor = flavors[offer.name]
                if flavor.topology == CUBE_TOPOLOGY.name and not cluster.slice_controller:
                    continue  # no slice is made of them
                if whole := next((pool.slice for pool in cluster.tpu_pools if pool.pool in flavor.pools), None):
                    parts = flavor.sub_slices or cut(cluster, whole, flavor.pools)
                    for shape in with_parts(whole, parts):
                        yield Place(cluster, target, local, flavor, shape, whole, offered, hosts)


def with_parts(whole: Slice, sub_slices: Iterable[str]) -> list[Slice]:
    """A slice, and the slices that its parts are for a job."""
    return [whole, *(replace(whole, topology=topology) for topology in sub_slices)]


def cut(cluster: ClusterPlan, whole: Slice, pools: Collection[str]) -> Iterator[str]:
    """The topologies that GKE's slice controller makes of the cubes of these pools: parts of one, and unions."""
    cubes = sum(pool.dynamic_slicing and pool.pool in pools for pool in cluster.tpu_pools)
    if not cubes or not cluster.slice_controller:
        return
    yield from whole.generation.partitions[1:]
    for short in range(1, cubes + 1):
        for middle in range(short, cubes // short + 1):
            for long in range(max(middle, 2), cubes // (short * middle) + 1):
                yield f"{4 * short}x{4 * middle}x{4 * long}"


def _offers(plan: QueuesPlan, name: str) -> list[list[Offer]]:
    """The flavors of a cluster queue, from the objects that the platform creates."""
    queues = [
        ClusterQueue.model_validate(_named(own.name, cluster_queue_spec(plan, own))) for own in plan.cluster_queues
    ]
    cohort = ClusterQueue.model_validate(_named(plan.cohort, cohort_spec(plan)))
    # Without a topology, hosts are not judged: those of the system pool are added for pods.
    flavors = [flavor if flavor.per_slice else replace(flavor, topology=None) for flavor in plan.flavors]
    known = [Flavor.model_validate(_named(flavor.name, flavor_spec(flavor))) for flavor in flavors]
    return offers(next(queue for queue in queues if queue.name == name), queues, [cohort], known)


def _named(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


def _hosts(cluster: ClusterPlan, flavors: dict[str, FlavorPlan]) -> Hosts:
    return Hosts(
        replace(
            host_of(pool.slice),
            name=f"{pool.name}-{index}",
            labels={
                **flavor.node_labels,
                GKE_POOL_LABEL: pool.name,
                POOL_LABEL: pool.pool,
                ZONE_LABEL: pool.zones[index // pool.max_nodes],
                **_parts(pool, pool.slice, index),
            },
        )
        for pool in cluster.tpu_pools
        if pool.slice and (flavor := flavors.get(pool.node_labels.get(FLAVOR_LABEL, "")))
        for index in range(pool.max_nodes * len(pool.zones))
    )


def _parts(pool: NodePoolPlan, whole: Slice, host: int) -> dict[str, str]:
    """The labels of a host with the parts of the slice that it is in, and the block of a cube."""
    if pool.dynamic_slicing:
        sizes = {shape: replace(whole, topology=shape).hosts for shape in whole.generation.partitions}
        parts = {partition_label(shape): f"{pool.name}-{host // size}" for shape, size in sizes.items()}
        block = str(pool.reservation).partition("/reservationSubBlocks/")[0]
        return {BLOCK_LABEL: block, MODE_LABEL: "PROVISION_ONLY", **parts}
    return {sub_slice_label(shape): f"{pool.name}-{whole.part(shape, host)}" for shape in pool.sub_slices}
