"""The handlers of the Kubernetes Engine API."""

from functools import partial

from tpuplane_twin.gcp.container.cluster_updates import ClusterUpdates
from tpuplane_twin.gcp.container.clusters import Clusters
from tpuplane_twin.gcp.container.names import find, location_key
from tpuplane_twin.gcp.container.node_pools import NodePools
from tpuplane_twin.gcp.container.ranges import usable_subnetworks
from tpuplane_twin.gcp.container.upgrades import Upgrades
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.handlers import Call, Handler, methods
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
    updates = ClusterUpdates(store, operations)
    upgrades = Upgrades(store, operations)

    def get_server_config(call: Call) -> Json:
        check_location(call.params["locationsId"])
        return server_config()

    clusters_prefix, pools_prefix = f"{_PREFIX}.clusters", f"{_PREFIX}.clusters.nodePools"
    setters = data("updates")["setters"].items()
    return {
        f"{_PREFIX}.getServerConfig": get_server_config,
        f"{_PREFIX}.list": lambda call: {"locations": _locations()},
        f"{_PREFIX}.operations.get": lambda call: find(store, OPERATION, call.path),
        f"{_PREFIX}.operations.list": lambda call: {"operations": store.values(OPERATION, location_key(call.params))},
        "container.projects.aggregated.usableSubnetworks.list": partial(usable_subnetworks, store),
        **methods(clusters_prefix, clusters, "create get list delete"),
        **methods(clusters_prefix, updates, "update updateMaster setResourceLabels startIpRotation completeIpRotation"),
        **{f"{clusters_prefix}.{name}": partial(updates.set_field, *field) for name, field in setters},
        **methods(clusters_prefix, upgrades, "fetchClusterUpgradeInfo"),
        **methods(pools_prefix, pools, "create get list update delete setSize setAutoscaling setManagement"),
        **methods(pools_prefix, upgrades, "completeUpgrade fetchNodePoolUpgradeInfo rollback"),
    }


def _locations() -> list[Json]:
    zones = [zone for found in regions().values() for zone in found]
    return [
        {"type": "ZONE" if is_zone(name) else "REGION", "name": name, "recommended": False}
        for name in (*regions(), *zones)
    ]
