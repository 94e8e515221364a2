"""GKE's defaults of a new node pool."""

from tpuplane.gpu import GpuMachine

from tpuplane_twin.gcp.backend import pod_cidr_size
from tpuplane_twin.gcp.container.names import GROUPS, group_names
from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import default_zones, is_zone, machine_in, machine_named, region_of
from tpuplane_twin.gcp.merge import at, overlay
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.versions import image_type, node_version
from tpuplane_twin.gcp.views import ClusterView

_PODS_PER_NODE = "110"


def complete_pool(asked: Json, cluster: Json, location: str) -> Json:
    """The requested pool with every default; rejects zones and machine types that do not exist."""
    view = ClusterView(cluster)
    # Image streaming: https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_cluster#nested_node_pool_defaults
    inherited = {"gcfsConfig": at(cluster, "nodePoolDefaults.nodeConfigDefaults.gcfsConfig")}
    config = overlay(overlay(data("defaults")["node_config"], inherited), asked.get("config", {}))
    machine = machine_named(config["machineType"])
    hyperdisk = machine is not None and machine.hyperdisk_only
    # GKE moved disk type and size into bootDisk; it accepts and shows both forms.
    boot = config.get("bootDisk", {})
    config["diskType"] = boot.get("diskType") or config.get("diskType")
    config["diskType"] = config["diskType"] or ("hyperdisk-balanced" if hyperdisk else "pd-balanced")
    config["diskSizeGb"] = int(boot.get("sizeGb") or config["diskSizeGb"])
    config["bootDisk"] = {**boot, "diskType": config["diskType"], "sizeGb": str(config["diskSizeGb"])}
    config["imageType"] = image_type(config["imageType"])
    config.setdefault("oauthScopes", list(data("defaults")["scopes"]))
    if machine is not None and machine.gpu is not None:
        config["accelerators"] = _accelerators(config.get("accelerators", []), machine.gpu)
    if "workloadMetadataConfig" not in config and view.workload_pool:
        config["workloadMetadataConfig"] = {"mode": "GKE_METADATA"}
    zones = list(asked.get("locations") or view.zones or default_zones(location))
    check_zones(zones, location)
    pool: Json = {
        **asked,
        "config": config,
        "initialNodeCount": int(asked.get("initialNodeCount", 0)),
        "locations": zones,
        "management": asked.get("management", {"autoRepair": True, "autoUpgrade": True}),
        "maxPodsConstraint": asked.get(
            "maxPodsConstraint", cluster.get("defaultMaxPodsConstraint", {"maxPodsPerNode": _PODS_PER_NODE})
        ),
        "networkConfig": overlay(
            {"enablePrivateNodes": True} if view.private_nodes else {}, asked.get("networkConfig", {})
        ),
        "upgradeSettings": upgrade_settings(asked.get("upgradeSettings", {})),
        "version": node_version(asked.get("version"), view.version),
        "status": "PROVISIONING",
    }
    pool["podIpv4CidrSize"] = pod_cidr_size(int(pool["maxPodsConstraint"].get("maxPodsPerNode", _PODS_PER_NODE)))
    pool[GROUPS] = group_names(cluster["name"], pool)
    check_machine(pool)
    return pool


def upgrade_settings(asked: Json) -> Json:
    """The requested settings with GKE's defaults. In given ones, a number that is left out is 0.

    https://docs.cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies
    """
    # The official provider sends them empty where the user sets nothing.
    settings: Json = {"strategy": "SURGE", **(asked or {"maxSurge": 1})}
    if settings["strategy"] == "SURGE" and not (settings.get("maxSurge") or settings.get("maxUnavailable")):
        raise invalid("Max surge and max unavailable cannot both be 0.")
    return settings


def complete_slice(context: PoolContext) -> None:
    """Complete the placement, and the topology and number of hosts of a TPU slice."""
    pool, placement = context.raw, context.placement
    if context.workload_policy:
        # Stored without a type, for TPUs and GPUs: vllm-project/ci-infra#547, GoogleCloudPlatform/cluster-toolkit#5691.
        placement.pop("type", None)
        if context.tpu and context.topology and not context.provision_only:
            placement["tpuTopology"] = context.topology
    elif context.multi_host:
        # GKE creates the compact policy for `--tpu-topology`: vllm-project/ci-infra#547.
        placement.setdefault("type", "COMPACT")
    if placement:
        pool["placementPolicy"] = placement
    if context.multi_host and not context.autoscaled and not pool["initialNodeCount"]:
        # https://docs.cloud.google.com/sdk/gcloud/reference/container/node-pools/create#--num-nodes
        pool["initialNodeCount"] = context.hosts


def _accelerators(asked: list[Json], machine: GpuMachine) -> list[Json]:
    """GPUs as GKE shows them: by default those of the machine type, with GKE's default driver."""
    found = asked or [{"acceleratorType": machine.accelerator.name, "acceleratorCount": str(machine.gpus)}]
    return [{"gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}, **accelerator} for accelerator in found]


def check_machine(pool: Json) -> None:
    """Reject a machine type that one of the pool's zones does not offer."""
    for zone in pool["locations"]:
        machine_in(pool["config"]["machineType"], zone)


def check_zones(zones: list[str], location: str) -> None:
    """Reject node locations outside the cluster's region."""
    for zone in zones:
        if not is_zone(zone) or region_of(zone) != region_of(location):
            raise invalid(f'Invalid node location "{zone}": not a zone of region {region_of(location)}.')
