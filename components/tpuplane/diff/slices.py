"""The steps to switch off GKE's slice controller, and the parts that need it, by `data/slice_controller.yaml`."""

from collections.abc import Collection, Iterator

from tpuplane.data_files import read_data
from tpuplane.diff.advice import Advice
from tpuplane.diff.node_pools import Platform
from tpuplane.plan import ClusterPlan
from tpuplane.plan.flavors import CUBE_TOPOLOGY

_TEXTS: dict[str, str] = read_data("tpuplane.diff", "slice_controller")


def switching_off(before: Platform, after: Platform) -> Iterator[Advice]:
    """The steps for each cluster that has GKE's or Kueue's slice controller in the former description alone."""
    later = {cluster.key: cluster for cluster in after.plan.clusters}
    for cluster in before.plan.clusters:
        new = later.get(cluster.key)
        if new is None or not cluster.slice_controller:
            continue
        if not new.slice_controller:
            yield Advice(("clusters", cluster.key, "sliceController"), " ".join(_steps(cluster, new)))
        elif (queues := _quotas_of_cubes(cluster)) and _has_addon(before, cluster) and not _has_addon(after, cluster):
            yield Advice(("clusters", cluster.key, "addons", "kueueSliceController"), " ".join(_ending(queues, new)))


def _has_addon(platform: Platform, cluster: ClusterPlan) -> bool:
    return platform.spec.clusters[cluster.key].addons.kueue_slice_controller is not None


def _ending(queues: Collection[str], new: ClusterPlan) -> Iterator[str]:
    yield from (_TEXTS["before"], _TEXTS["jobs"].format(queues=", ".join(queues)), _TEXTS["controller"])
    if _quotas_of_cubes(new):
        yield _TEXTS["admission"]


def _steps(old: ClusterPlan, new: ClusterPlan) -> Iterator[str]:
    if new.slice_controller is None:
        yield _TEXTS["kept"]
    yield _TEXTS["before"]
    if queues := _quotas_of_cubes(old):
        yield _TEXTS["jobs"].format(queues=", ".join(queues))
    yield from (_TEXTS["slices"], _TEXTS["after"])
    if pools := dict.fromkeys(pool.pool for pool in new.pools if pool.dynamic_slicing):
        yield _TEXTS["pools"].format(pools=", ".join(pools))
    for queue, flavors in _quotas_of_cubes(new).items():
        yield _TEXTS["quota"].format(queue=queue, flavors=", ".join(flavors))


def _quotas_of_cubes(cluster: ClusterPlan) -> dict[str, list[str]]:
    """The flavors of cubes of each queue that has some."""
    flavors, queues = (cluster.queues.flavors, cluster.queues.cluster_queues) if cluster.queues else ((), ())
    cubes = {flavor.name for flavor in flavors if flavor.topology == CUBE_TOPOLOGY.name}
    found = {own.name: [quota.flavor for quota in own.flavors if quota.flavor in cubes] for own in queues}
    return {name: own for name, own in found.items() if own}
