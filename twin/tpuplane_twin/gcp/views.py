"""Clusters and node pools as Google's REST JSON describes them: the one reader of its paths and their defaults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tpuplane.gpu import GpuMachine
from tpuplane.tpu import Generation, MachineType

from tpuplane_twin.gcp.locations import Machine, machine_named
from tpuplane_twin.gcp.merge import at
from tpuplane_twin.gcp.schema import Json, seconds

T = TypeVar("T")

PODS = "10.4.0.0/14"
SERVICES = "34.118.224.0/20"
"""The ranges that GKE gives to the first cluster that names none."""

NO_CHANNEL = "UNSPECIFIED"
_DEFAULT_PODS = 110


class _Field(Generic[T]):
    """What the JSON `raw` of a view has at a dotted path, as the type of `default`.

    `default` where it has nothing there, unless the field is `required`.
    """

    def __init__(self, path: str, default: T, *, required: bool = False) -> None:
        self._path = path
        self._default = default
        self._required = required

    def __get__(self, view: Any, owner: type[object]) -> T:
        found = at(view.raw, self._path)
        if found is None and self._required:
            raise KeyError(self._path)
        kind: Callable[[Any], T] = type(self._default)
        return kind(self._default if found is None else found)


class _Limit(_Field[int]):
    """A limit of autoscaling in nodes; 0 where it is not set or autoscaling is off."""

    def __get__(self, view: Any, owner: type[object]) -> int:
        return super().__get__(view, owner) if view.autoscaled else 0


@dataclass(frozen=True)
class ClusterView:
    """What is read of a cluster's JSON."""

    raw: Mapping[str, Any]

    name = _Field("name", "", required=True)
    location = _Field("location", "", required=True)
    link = _Field("selfLink", "")
    status = _Field("status", "", required=True)
    message = _Field("statusMessage", "")
    endpoint = _Field("endpoint", "")
    version = _Field("currentMasterVersion", "", required=True)
    channel = _Field("releaseChannel.channel", NO_CHANNEL)
    zones = _Field[list[Any]]("locations", [])
    """Where nodes are if their pool names no zones."""
    pods_per_node = _Field("defaultMaxPodsConstraint.maxPodsPerNode", _DEFAULT_PODS)
    autopilot = _Field("autopilot.enabled", False)
    client_certificate = _Field("masterAuth.clientCertificateConfig.issueClientCertificate", False)
    maintenance = _Field[Json]("maintenancePolicy", {})
    workload_pool = _Field("workloadIdentityConfig.workloadPool", "")
    enterprise = _Field[Json]("enterpriseConfig", {})
    fleet = _Field("fleet.project", "")
    """The host project of the cluster's fleet."""
    encryption = _Field[Json]("databaseEncryption", {})

    network = _Field("networkConfig.network", "", required=True)
    subnetwork = _Field("networkConfig.subnetwork", "", required=True)
    """Resource names, without a link's host and version."""
    dataplane = _Field("networkConfig.datapathProvider", "")
    network_policy = _Field("networkPolicy.enabled", False)
    network_policy_addon_off = _Field("addonsConfig.networkPolicyConfig.disabled", False)
    multi_networking = _Field("networkConfig.enableMultiNetworking", False)
    private_nodes = _Field("networkConfig.defaultEnablePrivateNodes", False)
    pods = _Field("clusterIpv4Cidr", PODS)
    services = _Field("servicesIpv4Cidr", SERVICES)
    pod_range = _Field("ipAllocationPolicy.clusterSecondaryRangeName", "")
    service_range = _Field("ipAllocationPolicy.servicesSecondaryRangeName", "")
    """Names of secondary ranges of the subnetwork."""

    control_plane_block = _Field("privateClusterConfig.masterIpv4CidrBlock", "")
    private_endpoint = _Field("privateClusterConfig.privateEndpoint", "")
    ip_endpoint = _Field("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled", True)
    """Whether the control plane serves at its IP addresses, and not at its DNS name alone."""
    public_endpoint = _Field("controlPlaneEndpointsConfig.ipEndpointsConfig.enablePublicEndpoint", True)
    global_access = _Field("controlPlaneEndpointsConfig.ipEndpointsConfig.globalAccess", False)
    default_snat_off = _Field("networkConfig.defaultSnatStatus.disabled", False)
    restricted = _Field("masterAuthorizedNetworksConfig.enabled", False)
    """Whether the control plane serves `authorized_blocks` alone."""

    auto_provisioning = _Field("autoscaling.enableNodeAutoprovisioning", False)
    auto_provisioning_zones = _Field[list[Any]]("autoscaling.autoprovisioningLocations", [])
    auto_provisioning_defaults = _Field[Json]("autoscaling.autoprovisioningNodePoolDefaults", {})
    resource_limits = _Field[list[Any]]("autoscaling.resourceLimits", [])
    default_compute_class = _Field("autoscaling.defaultComputeClassConfig.enabled", False)

    ray_operator = _Field("addonsConfig.rayOperatorConfig.enabled", False)
    slice_controller = _Field("addonsConfig.sliceControllerConfig.enabled", False)
    multi_tier_checkpointing = _Field("addonsConfig.highScaleCheckpointingConfig.enabled", False)
    monitoring = _Field[list[Any]]("monitoringConfig.componentConfig.enableComponents", [])
    logging = _Field[list[Any]]("loggingConfig.componentConfig.enableComponents", [])

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

    name = _Field("name", "", required=True)
    """On every node as `cloud.google.com/gke-nodepool`."""
    status = _Field("status", "", required=True)
    message = _Field("statusMessage", "")
    zones = _Field[list[Any]]("locations", [])
    nodes_per_zone = _Field("initialNodeCount", 0)
    version = _Field("version", "")
    """The nodes' GKE version, empty where it is the cluster's."""
    pods_per_node = _Field("maxPodsConstraint.maxPodsPerNode", 0)
    """0 where the cluster's default applies."""
    subnetwork = _Field("networkConfig.subnetwork", "")
    """Empty where it is the cluster's."""
    pod_range = _Field("networkConfig.podRange", "")
    pod_block = _Field("networkConfig.podIpv4CidrBlock", "")
    additional_networks = _Field[list[Any]]("networkConfig.additionalNodeNetworkConfigs", [])

    config = _Field[Json]("config", {})
    machine_type = _Field("config.machineType", "")
    node_labels = _Field[Json]("config.labels", {})
    service_account = _Field("config.serviceAccount", "default")
    flex_start = _Field("config.flexStart", False)
    reservation = _Field[Json]("config.reservationAffinity", {})
    cgroup_mode = _Field("config.linuxNodeConfig.cgroupMode", "")
    local_ssds = _Field("config.ephemeralStorageLocalSsdConfig.localSsdCount", 0)

    placement = _Field[Json]("placementPolicy", {})
    cube = _Field("twinCube", "")
    """The topology of a cube for dynamic slicing; empty for other pools."""
    autoscaled = _Field("autoscaling.enabled", False)
    autoprovisioned = _Field("autoscaling.autoprovisioned", False)
    """Whether the cluster autoscaler created the pool, and deletes it when it is empty."""
    location_policy = _Field("autoscaling.locationPolicy", "")
    min_nodes = _Limit("autoscaling.minNodeCount", 0)
    max_nodes = _Limit("autoscaling.maxNodeCount", 0)
    """Limits for each zone. Where they are 0, the totals may apply."""
    total_min_nodes = _Limit("autoscaling.totalMinNodeCount", 0)
    total_max_nodes = _Limit("autoscaling.totalMaxNodeCount", 0)
    auto_repair = _Field("management.autoRepair", False)
    auto_upgrade = _Field("management.autoUpgrade", False)
    upgrade_strategy = _Field("upgradeSettings.strategy", "")
    queued = _Field("queuedProvisioning.enabled", False)
    """Whether nodes come through ProvisioningRequests."""

    @property
    def machine(self) -> Machine | None:
        """The machine type; None if it is unknown."""
        return machine_named(self.machine_type)

    @property
    def generation(self) -> Generation | None:
        """The TPU generation; None for other pools."""
        return self.machine.generation if self.machine else None

    @property
    def tpu(self) -> MachineType | None:
        """The machine type if it has TPUs."""
        return self.machine.tpu if self.machine else None

    @property
    def gpu(self) -> GpuMachine | None:
        """The machine type if it has GPUs."""
        return self.machine.gpu if self.machine else None

    @property
    def placement_topology(self) -> str:
        """The topology of a multi-host slice or a cube; empty for single-host and CPU pools."""
        return self.cube or str(self.placement.get("tpuTopology", ""))

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
