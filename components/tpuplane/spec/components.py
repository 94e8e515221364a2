"""Descriptions of single components of a program, with the models and the rules of a platform's parts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Self

from pydantic import Field

from tpuplane.spec.addons.checks import installed
from tpuplane.spec.checks import check_settings
from tpuplane.spec.classes.compute_class import ClassName, ComputeClassSpec
from tpuplane.spec.classes.platform_checks import check_definition, check_in_cluster
from tpuplane.spec.cluster import cluster as clusters
from tpuplane.spec.cluster.existing_checks import Home
from tpuplane.spec.cluster.network_checks import check_overlaps, check_proxies, check_sizes, system_needs
from tpuplane.spec.cluster.option_checks import check_key_region
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.fields import KmsKey, Labels, Name, ProjectId, ResourceName, ServiceAccountEmail, Spec, narrowed
from tpuplane.spec.core.locations import check_location, is_zone, region_of
from tpuplane.spec.core.mistakes import judged
from tpuplane.spec.core.names import (
    MAX_RESOURCE_NAME,
    check_account_id,
    check_length,
    check_pool_names,
    cluster_name,
    proxies_name,
)
from tpuplane.spec.core.texts import text_problem
from tpuplane.spec.name_checks import check_label_count
from tpuplane.spec.pools.checks import check_pool
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import HostsSpec, ReservationSpec
from tpuplane.spec.pools.machine_checks import check_system_pool
from tpuplane.spec.pools.reservation_checks import check_reservations
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.quota_checks import check_cluster_nodes, check_pool_nodes

_Reference = Annotated[str, Field(min_length=1)]


class ComponentSpec(Spec):
    """What one component is. Paths of mistakes begin with an argument of the component."""

    @classmethod
    def parse(cls, value: Mapping[str, object]) -> Self:
        """Read the description from plain values. Raises `SpecError` with every mistake."""
        return judged(value, cls, cls._check)

    def _check(self) -> Iterator[Mistake]:
        """Every mistake of a description whose fields are all well formed."""
        raise NotImplementedError


class SubnetworkSpec(clusters.ClusterNetworkSpec):
    """The subnetwork of one cluster."""

    region: str
    """Region of the subnetwork and its NAT."""


class NetworkSpec(ComponentSpec):
    """A VPC with a subnetwork for each cluster."""

    network_name: Name
    project: ProjectId | None = None
    subnets: Annotated[dict[Name, SubnetworkSpec], Field(min_length=1)]

    def _check(self) -> Iterator[Mistake]:
        yield from check_overlaps({("subnets", key): own for key, own in self.subnets.items() if own.existing is None})
        yield from check_proxies((("subnets", key), own.region, own) for key, own in self.subnets.items())
        for key, subnet in self.subnets.items():
            at: Path = ("subnets", key)
            name = cluster_name(self.network_name, key)
            longest = name if subnet.proxies_cidr is None else proxies_name(name)
            to_shorten = "this key or the network's name"
            yield from check_length(at, "subnetwork", longest, MAX_RESOURCE_NAME, to_shorten)
            if is_zone(subnet.region):
                message = f"{shown(subnet.region)} is a zone; allowed: its region {region_of(subnet.region)}"
                yield Mistake((*at, "region"), message)
            else:
                yield from check_location((*at, "region"), subnet.region)
            yield from check_sizes(at, subnet, system_needs(subnet.region, clusters.SystemPoolSpec()))


class ClusterComponentSpec(clusters.ClusterSettingsSpec, ComponentSpec):
    """A cluster in an existing network. Arguments that can be outputs are None if they are."""

    cluster_name: Name
    project: ProjectId | None = None
    network: _Reference | None = None
    subnetwork: _Reference | None = None
    service_account: ServiceAccountEmail | None = None
    secrets_key: KmsKey | None = None
    boot_disk_key: KmsKey | None = None
    pods_range: str = "pods"
    services_range: str = "services"
    multi_networking: bool = False
    default_compute_class: bool = False
    own_account: bool
    """Whether a service account is created for the nodes, with the cluster's name."""

    @property
    def cluster(self) -> clusters.ClusterSpec:
        """The same cluster, without pools."""
        return narrowed(narrowed(self, clusters.ClusterSettingsSpec), clusters.ClusterSpec)

    def _check(self) -> Iterator[Mistake]:
        if self.own_account:
            yield from check_account_id(("cluster_name",), self.cluster_name)
        if self.pods_range == self.services_range:
            cause = f"{shown(self.services_range)} is also the range for pods"
            yield Mistake(("services_range",), f"{cause}; name another secondary range of the subnetwork")
        for name in ("secrets_key", "boot_disk_key"):
            yield from check_key_region((name,), getattr(self, name), self.location)
        yield from check_settings((), self.cluster, {})
        yield from check_label_count(("labels",), self.labels)
        for addon in installed(self.cluster):
            yield Mistake(("addons", addon.key), "is installed by a Platform, not by a Cluster; remove it here")


class ClusterRefSpec(clusters.ClusterPlaceSpec):
    """The cluster that pools and classes are added to, as far as they depend on it."""

    name: Name = "cluster"
    """Name in Google Cloud. Default: the name in messages of one whose name is known only while the engine runs."""

    project: ProjectId | None = None
    """Its project. Default: known only while the engine runs."""

    service_account: ServiceAccountEmail | None = None
    """The account of its nodes. Default: known only while the engine runs."""

    boot_disk_key: KmsKey | None = None
    """The key of the boot disks. Default: none, or known only while the engine runs."""

    multi_networking: bool | None = None
    """Whether pools can have further network interfaces. Default: unknown."""

    default_compute_class: bool | None = None
    """Whether the class `default` is that of pods without a class. Default: unknown."""


class ReadClusterSpec(ClusterRefSpec, ComponentSpec):
    """An existing cluster that a program reads."""

    dns_endpoint: bool = False

    def _check(self) -> Iterator[Mistake]:
        yield from check_location(("location",), self.location)


class InClusterSpec(ComponentSpec):
    """A part that is added to a cluster, new or existing."""

    cluster: ClusterRefSpec

    def _check(self) -> Iterator[Mistake]:
        yield from check_location(("cluster", "location"), self.cluster.location)


class SystemNodePoolSpec(clusters.SystemPoolSpec, InClusterSpec):
    """A pool without accelerators."""

    pool_name: Name
    labels: Labels = Field(default_factory=dict)

    def _check(self) -> Iterator[Mistake]:
        yield from super()._check()
        yield from check_system_pool((), self.cluster.location, self)
        yield from check_label_count(("labels",), self.labels)


class AddedPoolSpec(InClusterSpec, HostsSpec):
    """A pool of TPU slices or GPU nodes."""

    pool_name: Name
    reservations: dict[ResourceName, ReservationSpec] = Field(default_factory=dict)

    def _check(self) -> Iterator[Mistake]:
        yield from super()._check()
        location = self.cluster.location
        yield from check_pool((), Home(self.cluster.project), self.cluster, self)
        yield from check_label_count(("labels",), self.labels)
        yield from check_pool_nodes((), location, self)
        if (size := self.known_size(location)) is not None:
            yield from check_cluster_nodes(size.scale.largest, size.nodes)
            named = self.cluster.name if "name" in self.cluster.model_fields_set else None
            yield from check_pool_names(("pool_name",), named, self.pool_name, self)
        yield from check_reservations(self.reservations, [((), location, self)])
        if self.extra_networks and self.cluster.multi_networking is False:
            remedy = "set multi_networking: true in the cluster, or remove it"
            yield Mistake(("extraNetworks",), f"the cluster is without multi-networking; {remedy}")
        # The class can also be one of an existing cluster, which no program declares.
        if self.compute_class is not None and (problem := text_problem("labelName", self.compute_class)):
            yield Mistake(("computeClass",), problem)
        use = self.reservation
        held = self.reservations.get(use.name) if use is not None and use.block is not None else None
        if held is not None and held.project is None and self.cluster.project is None:
            yield Mistake(("reservations",), "project is required, because the path of a block contains it")


class TpuNodePoolSpec(PoolSpec, AddedPoolSpec):
    """A pool of TPU slices."""

    def _check(self) -> Iterator[Mistake]:
        yield from super()._check()
        if self.slices == 0:
            yield Mistake(("slices",), "0 slices have no node pool; allowed: at least 1, or remove the component")


class GpuNodePoolSpec(GpuPoolSpec, AddedPoolSpec):
    """A pool of GPU nodes."""


class ComputeClassComponentSpec(ComputeClassSpec, InClusterSpec):
    """A compute class."""

    class_name: ClassName
    reservations: dict[ResourceName, ReservationSpec] = Field(default_factory=dict)

    @property
    def compute_class(self) -> ComputeClassSpec:
        """The class itself."""
        return narrowed(self, ComputeClassSpec)

    def _check(self) -> Iterator[Mistake]:
        spec = self.compute_class
        if self.class_name == "default" and self.cluster.default_compute_class is False:
            cause = "'default' has no effect, because the cluster has no default class"
            yield Mistake(("class_name",), f"{cause}; set default_compute_class: true in the cluster, or rename it")
        for field in ("clusters", "default_namespaces"):
            if field in self.model_fields_set:
                yield Mistake((field,), "belongs to a platform's classes; remove it")
        mistakes = (
            *super()._check(),
            *check_definition((), self.class_name, spec),
            *check_in_cluster((), self.cluster.name, self.cluster, self.reservations, spec),
        )
        # A mistake of the whole class is at its name, because the class itself is not an argument.
        yield from dict.fromkeys(replace(mistake, path=mistake.path or ("class_name",)) for mistake in mistakes)
