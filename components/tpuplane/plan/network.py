"""The network of a plan: the VPC, a subnetwork for each cluster, a NAT for each region."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tpuplane.spec.cluster.cluster import ClusterNetworkSpec


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """One subnetwork of the platform's VPC: the primary range for nodes, the secondary ranges for pods and services."""

    name: str
    region: str
    nodes_cidr: str
    pods_cidr: str
    services_cidr: str
    pods_range: str = "pods"  # name of the secondary range
    services_range: str = "services"


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The platform's VPC: one subnetwork per cluster, one NAT per region."""

    name: str
    subnets: tuple[SubnetPlan, ...]
    nats: dict[str, str]  # by region, the name of its Cloud Router and Cloud NAT, for private nodes


def network_plan(name: str, subnets: Iterable[SubnetPlan]) -> NetworkPlan:
    """A VPC called `name` with these subnetworks, and a NAT for each of their regions."""
    found = tuple(subnets)
    return NetworkPlan(name, found, {subnet.region: f"{name}-{subnet.region}" for subnet in found})


def subnet_plan(name: str, region: str, network: ClusterNetworkSpec) -> SubnetPlan | None:
    """The subnetwork of one cluster; None if it uses an existing one."""
    if network.existing is not None:
        return None
    return SubnetPlan(name, region, network.nodes_cidr, network.pods_cidr, network.services_cidr)
