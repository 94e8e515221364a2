"""Clusters and node pools as Google's REST JSON describes them: the one reader of its paths and their defaults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tpuplane_twin.gcp.schema import Json, seconds

T = TypeVar("T")

PODS = "10.4.0.0/14"
SERVICES = "34.118.224.0/20"
"""The ranges that GKE gives to the first cluster that names none."""

NO_CHANNEL = "UNSPECIFIED"
_DEFAULT_PODS = 110


class _Field(Generic[T]):
    """What the JSON `raw` of a view has at a dotted path, read by `kind`; `default` where it has nothing there."""

    def __init__(self, path: str, kind: Callable[[Any], T], *default: T) -> None:
        self._path = path.split(".")
        self._kind = kind
        self._default = default

    def __get__(self, view: Any, owner: type[object]) -> T:
        found: Any = view.raw
        for name in self._path:
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None:
            return self._kind(found)
        if self._default:
            return self._kind(self._default[0])
        raise KeyError(".".join(self._path))


class _Limit(_Field[int]):
    """A limit of autoscaling in nodes; 0 where it is not set or autoscaling is off."""

    def __get__(self, view: Any, owner: type[object]) -> int:
        return super().__get__(view, owner) if view.autoscaled else 0


def _required(path: str) -> _Field[str]:
    return _Field(path, str)


def _text(path: str, default: str = "") -> _Field[str]:
    return _Field(path, str, default)


def _number(path: str, default: int = 0) -> _Field[int]:
    return _Field(path, int, default)


def _flag(path: str, default: bool = False) -> _Field[bool]:
    return _Field(path, bool, default)


def _object(path: str) -> _Field[Json]:
    return _Field(path, dict, {})


def _list(path: str) -> _Field[list[Any]]:
    return _Field(path, list, [])


@dataclass(frozen=True)
class ClusterView:
    """What is read of a cluster's JSON."""

    raw: Mapping[str, Any]

    name = _required("name")
    location = _required("location")
    link = _text("selfLink")
    status = _required("status")
    message = _text("statusMessage")
    endpoint = _text("endpoint")
    version = _required("currentMasterVersion")
    channel = _text("releaseChannel.channel", NO_CHANNEL)
    zones = _list("locations")
    """Where nodes are if their pool names no zones."""
    pods_per_node = _number("defaultMaxPodsConstraint.maxPodsPerNode", _DEFAULT_PODS)
    autopilot = _flag("autopilot.enabled")
    maintenance = _object("maintenancePolicy")
    workload_pool = _text("workloadIdentityConfig.workloadPool")
    encryption = _object("databaseEncryption")

    network = _required("networkConfig.network")
    subnetwork = _required("networkConfig.subnetwork")
    """Resource names, without a link's host and version."""
    multi_networking = _flag("networkConfig.enableMultiNetworking")
    private_nodes = _flag("networkConfig.defaultEnablePrivateNodes")
    pods = _text("clusterIpv4Cidr", PODS)
    services = _text("servicesIpv4Cidr", SERVICES)
    pod_range = _text("ipAllocationPolicy.clusterSecondaryRangeName")
    service_range = _text("ipAllocationPolicy.servicesSecondaryRangeName")
    """Names of secondary ranges of the subnetwork."""

    control_plane_block = _text("privateClusterConfig.masterIpv4CidrBlock")
    private_endpoint = _text("privateClusterConfig.privateEndpoint")
    ip_endpoint = _flag("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled", True)
    """Whether the control plane serves at its IP addresses, and not at its DNS name alone."""
    global_access = _flag("controlPlaneEndpointsConfig.ipEndpointsConfig.globalAccess")
    restricted = _flag("masterAuthorizedNetworksConfig.enabled")
    """Whether the control plane serves `authorized_blocks` alone."""

    auto_provisioning = _flag("autoscaling.enableNodeAutoprovisioning")
    auto_provisioning_zones = _list("autoscaling.autoprovisioningLocations")
    auto_provisioning_defaults = _object("autoscaling.autoprovisioningNodePoolDefaults")
    resource_limits = _list("autoscaling.resourceLimits")
    default_compute_class = _flag("autoscaling.defaultComputeClassConfig.enabled")

    ray_operator = _flag("addonsConfig.rayOperatorConfig.enabled")
    gcs_fuse = _flag("addonsConfig.gcsFuseCsiDriverConfig.enabled")
    monitoring = _list("monitoringConfig.componentConfig.enableComponents")
    logging = _list("loggingConfig.componentConfig.enableComponents")

    @property
    def on_channel(self) -> bool:
        """Whether the cluster is on a release channel."""
        return self.channel != NO_CHANNEL

    @property
    def managed_prometheus(self) -> bool:
        """Whether Managed Service for Prometheus is on; an empty configuration turns it off."""
        found = self.raw.get("monitoringConfig", {}).get("managedPrometheusConfig", {"enabled": True})
        return bool(found.get("enabled"))

    @property
    def authorized_blocks(self) -> list[str]:
        """The authorized networks as CIDR blocks."""
        found = self.raw.get("masterAuthorizedNetworksConfig", {}).get("cidrBlocks", ())
        return [block.get("cidrBlock", "") for block in found]

    def addon(self, field: str) -> bool:
        """Whether the add-on with this field of `addonsConfig` is on."""
        return bool(self.raw.get("addonsConfig", {}).get(field, {}).get("enabled"))


@dataclass(frozen=True)
class PoolView:
    """What is read of a node pool's JSON."""

    raw: Json

    name = _required("name")
    """On every node as `cloud.google.com/gke-nodepool`."""
    status = _required("status")
    message = _text("statusMessage")
    zones = _list("locations")
    nodes_per_zone = _number("initialNodeCount")
    version = _text("version")
    """The nodes' GKE version, empty where it is the cluster's."""
    pods_per_node = _number("maxPodsConstraint.maxPodsPerNode")
    """0 where the cluster's default applies."""
    pod_range = _text("networkConfig.podRange")
    pod_block = _text("networkConfig.podIpv4CidrBlock")
    additional_networks = _list("networkConfig.additionalNodeNetworkConfigs")

    config = _object("config")
    machine_type = _text("config.machineType")
    node_labels = _object("config.labels")
    service_account = _text("config.serviceAccount", "default")
    flex_start = _flag("config.flexStart")
    reservation = _object("config.reservationAffinity")
    local_ssds = _number("config.ephemeralStorageLocalSsdConfig.localSsdCount")

    placement = _object("placementPolicy")
    placement_topology = _text("placementPolicy.tpuTopology")
    """The topology of a multi-host slice; empty for single-host and CPU pools."""
    autoscaled = _flag("autoscaling.enabled")
    min_nodes = _Limit("autoscaling.minNodeCount", int, 0)
    max_nodes = _Limit("autoscaling.maxNodeCount", int, 0)
    """Limits for each zone. Where they are 0, the totals may apply."""
    total_min_nodes = _Limit("autoscaling.totalMinNodeCount", int, 0)
    total_max_nodes = _Limit("autoscaling.totalMaxNodeCount", int, 0)
    auto_repair = _flag("management.autoRepair")
    auto_upgrade = _flag("management.autoUpgrade")
    upgrade_strategy = _text("upgradeSettings.strategy")
    queued = _flag("queuedProvisioning.enabled")
    """Whether nodes come through ProvisioningRequests."""

    @property
    def capacity(self) -> str:
        """The provisioning model: on-demand, spot, flex-start or reservation."""
        if self.config.get("spot"):
            return "spot"
        if self.flex_start:
            return "flex-start"
        return "reservation" if self.reserved else "on-demand"

    @property
    def spot(self) -> bool:
        """Whether nodes are spot or preemptible."""
        return bool(self.config.get("spot") or self.config.get("preemptible"))

    @property
    def affinity(self) -> str:
        """The type of the reservation affinity, empty if there is none."""
        return str(self.reservation.get("consumeReservationType", ""))

    @property
    def reserved(self) -> bool:
        """Whether nodes come from specific reservations."""
        return self.affinity == "SPECIFIC_RESERVATION"

    @property
    def reservation_names(self) -> list[str]:
        """The specific reservations, as names or paths."""
        return list(self.reservation.get("values") or []) if self.reserved else []

    @property
    def max_run_seconds(self) -> int | None:
        """How long a node lives at most; None: unlimited."""
        duration = self.config.get("maxRunDuration")
        return None if duration is None else int(seconds(duration))
