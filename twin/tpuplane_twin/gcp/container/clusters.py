"""projects.locations.clusters: create, get, list, delete. Updates: see cluster_updates."""

from tpuplane_twin.gcp.container import ranges, reconcile
from tpuplane_twin.gcp.container.answers import cluster_answer
from tpuplane_twin.gcp.container.cluster_defaults import complete_cluster
from tpuplane_twin.gcp.container.cluster_network import place, private_address
from tpuplane_twin.gcp.container.cluster_rules import check_cluster
from tpuplane_twin.gcp.container.maintenance_rules import check_maintenance
from tpuplane_twin.gcp.container.names import CLUSTER, POOL, check_name, cluster_key, find_cluster, location_key
from tpuplane_twin.gcp.container.node_pools import new_pool
from tpuplane_twin.gcp.container.pool_defaults import check_zones
from tpuplane_twin.gcp.errors import already_exists, failed_precondition, invalid, not_served
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import check_location
from tpuplane_twin.gcp.merge import overlay
from tpuplane_twin.gcp.operations import OperationHandlers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.versions import check_channel
from tpuplane_twin.gcp.views import ClusterView

DEFAULT_POOL = "default-pool"


class Clusters(OperationHandlers):
    """Handlers of clusters."""

    def create(self, call: Call) -> Json:
        """Create a cluster, with the requested pools or the default pool."""
        asked: Json = call.body.get("cluster", {})
        project, location = call.params["projectsId"], call.params["locationsId"]
        check_location(location)
        name = asked.get("name", "")
        check_name("cluster.name", name)
        key = cluster_key({**call.params, "clustersId": name})
        if self._store.get(CLUSTER, key) is not None:
            raise already_exists(f"Already exists: {key}.")
        _check_served(asked)
        check_maintenance(ClusterView(asked).maintenance)
        check_zones(asked.get("locations", []), location)
        cluster = complete_cluster(asked, project, location, place(self._store, project, location, asked))
        check_cluster(self._store, project, cluster)
        cluster["privateClusterConfig"]["privateEndpoint"] = private_address(self._store, cluster)
        ranges.take(self._store, cluster)
        pools = [new_pool(self._store, key, cluster, pool) for pool in _asked_pools(asked)]
        self._store.put(CLUSTER, key, cluster)
        for pool in pools:
            self._store.put(POOL, f"{key}/nodePools/{pool['name']}", pool)
        return self._operations.begin("CREATE_CLUSTER", key, key, reconcile.CREATE_CLUSTER)

    def get(self, call: Call) -> Json:
        """One cluster."""
        key = cluster_key(call.params)
        return cluster_answer(self._store, key, find_cluster(self._store, key))

    def list(self, call: Call) -> Json:
        """The clusters of a location, or of all with "-"."""
        found = self._store.items(CLUSTER, location_key(call.params))
        return {"clusters": [cluster_answer(self._store, key, cluster) for key, cluster in found]}

    def delete(self, call: Call) -> Json:
        """Delete a cluster and its pools."""
        key = cluster_key(call.params)
        cluster = find_cluster(self._store, key)
        if cluster["status"] == "STOPPING":
            raise failed_precondition(f"Cluster {cluster['name']} is already being deleted.")
        self._store.put(CLUSTER, key, {**cluster, "status": "STOPPING"})
        for name, pool in self._store.items(POOL, f"{key}/nodePools"):
            self._store.put(POOL, name, {**pool, "status": "STOPPING"})
        return self._operations.begin("DELETE_CLUSTER", key, key, reconcile.DELETE_CLUSTER)


def _asked_pools(asked: Json) -> list[Json]:
    """The requested pools; without any, the default pool from the cluster's old node fields."""
    pools: list[Json] = asked.get("nodePools", [])
    if pools:
        if "initialNodeCount" in asked or "nodeConfig" in asked:
            raise invalid("Cannot set both cluster.node_pools and cluster.initial_node_count or node_config.")
        names = [str(pool.get("name", "")) for pool in pools]
        for name in names:
            check_name("node_pool.name", name)
        if len(set(names)) < len(names):
            raise invalid(f"Node pool names must be unique; got {', '.join(names)}.")
        return pools
    count = int(asked.get("initialNodeCount", 0))
    if count < 1:
        raise invalid("Cluster.initial_node_count must be greater than zero.")
    return [overlay({"name": DEFAULT_POOL, "initialNodeCount": count}, {"config": asked.get("nodeConfig", {})})]


def _check_served(asked: Json) -> None:
    view = ClusterView(asked)
    if view.autopilot:
        raise not_served("Autopilot clusters; create a Standard cluster")
    if view.client_certificate:
        raise not_served("client certificates; set issue_client_certificate to false")
    check_channel(view.channel)
