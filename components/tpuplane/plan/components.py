"""Single components of a program: from their arguments to the same plans as in a platform.

Each function raises `SpecError` with every mistake of the description; paths begin with an argument.
"""

from collections.abc import Mapping
from dataclasses import replace

from tpuplane.plan.classes import ComputeClassPlan, compute_class, in_classes
from tpuplane.plan.cluster import ClusterPlan, NetworkPlan, cluster_plan, network_plan, node_account, subnet_plan
from tpuplane.plan.platform import PlatformPlan, plan
from tpuplane.plan.pools import Context, NodePoolPlan, node_pools, system_pool
from tpuplane.spec import components, parse_platform
from tpuplane.spec.addons.definitions import in_project
from tpuplane.spec.classes.of_cluster import class_in
from tpuplane.spec.core.names import cluster_name

Description = Mapping[str, object]


def planned_platform(description: Description, project: str | None) -> PlatformPlan:
    """A whole platform, in `project` unless it names another one. The project of the program defines its add-ons."""
    return plan(parse_platform(description, project=project, read=in_project()))


def planned_network(description: Description) -> NetworkPlan:
    """A VPC."""
    spec = components.NetworkSpec.parse(description)
    name = spec.network_name
    subnets = (subnet_plan(cluster_name(name, key), subnet.region, subnet) for key, subnet in spec.subnets.items())
    return network_plan(name, (subnet for subnet in subnets if subnet is not None))


def planned_cluster(description: Description) -> ClusterPlan:
    """A cluster in an existing network."""
    spec = components.ClusterComponentSpec.parse(description)
    name = spec.cluster_name
    made = cluster_plan(name, name, spec.cluster, Context(spec.location, project=None, labels=spec.labels))
    return replace(
        made,
        service_account=node_account(name, name) if spec.own_account else None,
        pods_range=spec.pods_range,
        services_range=spec.services_range,
        multi_networking=spec.multi_networking,
        default_compute_class=spec.default_compute_class,
    )


def read_by_name(description: Description) -> bool:
    """Whether a program reaches an existing cluster by its DNS name."""
    return components.ReadClusterSpec.parse(description).dns_endpoint


def planned_tpu_pools(description: Description) -> tuple[NodePoolPlan, ...]:
    """The GKE node pools of a pool of TPU slices."""
    return _added_pools(components.TpuNodePoolSpec.parse(description))


def planned_gpu_pool(description: Description) -> NodePoolPlan:
    """A pool of GPU nodes."""
    (pool,) = _added_pools(components.GpuNodePoolSpec.parse(description))
    return pool


def planned_system_pool(description: Description) -> NodePoolPlan:
    """A pool without accelerators."""
    spec = components.SystemNodePoolSpec.parse(description)
    context = Context(spec.cluster.location, spec.cluster.project, labels=spec.labels)
    return system_pool(spec, context, spec.pool_name)


def planned_class(description: Description) -> ComputeClassPlan:
    """A compute class."""
    spec = components.ComputeClassComponentSpec.parse(description)
    return compute_class(spec.class_name, class_in(spec.cluster, spec.compute_class), _context(spec))


def _added_pools(spec: components.AddedPoolSpec) -> tuple[NodePoolPlan, ...]:
    pools = node_pools(spec.pool_name, spec, _context(spec))
    return in_classes(pools, {spec.pool_name: spec.compute_class})


def _context(spec: components.AddedPoolSpec | components.ComputeClassComponentSpec) -> Context:
    return Context(spec.cluster.location, spec.cluster.project, reservations=spec.reservations)
