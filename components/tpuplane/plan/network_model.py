"""The network of a plan: the VPC, a subnetwork for each cluster, a NAT for each region."""

from __future__ import annotations

from dataclasses import dataclass


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
class NatPlan:
    """Cloud Router and Cloud NAT of one region: how private nodes reach image registries."""

    region: str
    router_name: str
    nat_name: str


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The platform's VPC: one subnetwork per cluster, one NAT per region."""

    name: str
    subnets: tuple[SubnetPlan, ...]
    nats: tuple[NatPlan, ...]
