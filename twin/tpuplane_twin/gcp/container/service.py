"""Which method of the Kubernetes Engine API is answered by what."""

from __future__ import annotations

from tpuplane_twin.gcp.container.cluster_updates import ClusterUpdates
from tpuplane_twin.gcp.container.clusters import Clusters
from tpuplane_twin.gcp.container.node_pools import NodePools
from tpuplane_twin.gcp.container.ranges import usable_subnetworks
from tpuplane_twin.gcp.container.upgrades import Upgrades
from tpuplane_twin.gcp.errors import not_found
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.locations import check_location, is_zone, regions
from tpuplane_twin.gcp.operations import OPERATION, Operations
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.versions import server_config

_PREFIX = "container.projects.locations"


def container_handlers(store: Store, operations: Operations) -> dict[str, Handler]:
    """Handlers by method id, the same for v1 and v1beta1."""
    clusters = Clusters(store, operations)
    pools = NodePools(store, operations)
    updates = ClusterUpdates(store, operations, pools)
    upgrades = Upgrades(store, operations)

    def get_server_config(call: Call) -> Json:
        check_location(call.params["locationsId"])
        return server_config()

    def get_operation(call: Call) -> Json:
        key = f"{_location(call)}/operations/{call.params['operationsId']}"
        operation = store.get(OPERATION, key)
        if operation is None:
            raise not_found(f"Not found: {key}.")
        return operation

    def list_operations(call: Call) -> Json:
        everywhere = call.params["locationsId"] == "-"
        found = store.items(OPERATION, f"projects/{call.params['projectsId']}" if everywhere else _location(call))
        return {"operations": [operation for _, operation in found]}

    handlers: dict[str, Handler] = {
        "getServerConfig": get_server_config,
        "list": lambda call: {"locations": _locations()},
        "operations.get": get_operation,
        "operations.list": list_operations,
        "clusters.create": clusters.create,
        "clusters.get": clusters.get,
        "clusters.list": clusters.list,
        "clusters.delete": clusters.delete,
        "clusters.update": updates.update,
        "clusters.updateMaster": updates.update_master,
        "clusters.setResourceLabels": updates.set_resource_labels,
        "clusters.fetchClusterUpgradeInfo": upgrades.cluster_info,
        "clusters.setAddons": updates.setter("addonsConfig", "addonsConfig", {}),
        "clusters.setLegacyAbac": updates.setter("enabled", "legacyAbac.enabled", False),
        "clusters.setLocations": updates.setter("locations", "locations", []),
        "clusters.setLogging": updates.setter("loggingService", "loggingService", ""),
        "clusters.setMonitoring": updates.setter("monitoringService", "monitoringService", ""),
        "clusters.setMaintenancePolicy": updates.setter("maintenancePolicy", "maintenancePolicy", {}),
        "clusters.setNetworkPolicy": updates.setter("networkPolicy", "networkPolicy", {}),
        "clusters.startIpRotation": updates.start_rotation,
        "clusters.completeIpRotation": updates.complete_rotation,
        "clusters.nodePools.create": pools.create,
        "clusters.nodePools.get": pools.get,
        "clusters.nodePools.list": pools.list,
        "clusters.nodePools.update": pools.update,
        "clusters.nodePools.delete": pools.delete,
        "clusters.nodePools.completeUpgrade": upgrades.complete,
        "clusters.nodePools.fetchNodePoolUpgradeInfo": upgrades.pool_info,
        "clusters.nodePools.rollback": upgrades.rollback,
        "clusters.nodePools.setSize": pools.set_size,
        "clusters.nodePools.setAutoscaling": pools.set_autoscaling,
        "clusters.nodePools.setManagement": pools.set_management,
    }
    return {
        **{f"{_PREFIX}.{name}": handler for name, handler in handlers.items()},
        "container.projects.aggregated.usableSubnetworks.list": usable_subnetworks(store),
    }


def _location(call: Call) -> str:
    return f"projects/{call.params['projectsId']}/locations/{call.params['locationsId']}"


def _locations() -> list[Json]:
    zones = [zone for found in regions().values() for zone in found]
    return [
        {"type": "ZONE" if is_zone(name) else "REGION", "name": name, "recommended": False}
        for name in (*regions(), *zones)
    ]
