"""projects.locations.clusters.nodePools: create, get, list, update, resize, autoscaling, management, delete."""

from typing import Any

from tpuplane_twin.gcp.backend import CUBE, NODES, sized
from tpuplane_twin.gcp.compute.reservations import check_reservations
from tpuplane_twin.gcp.container import pool_rules, reconcile
from tpuplane_twin.gcp.container.access_rules import check_boot_disk_key, check_service_account
from tpuplane_twin.gcp.container.answers import pool_answer
from tpuplane_twin.gcp.container.names import (
    BEFORE,
    GROUPS,
    POOL,
    check_changeable,
    check_name,
    cluster_key,
    find_cluster,
    find_pool,
    group_names,
    parent_cluster,
    pool_key,
)
from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.container.pool_defaults import (
    check_machine,
    check_zones,
    complete_pool,
    complete_slice,
    upgrade_settings,
)
from tpuplane_twin.gcp.container.ranges import pool_range
from tpuplane_twin.gcp.container.updates import apply_update
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, already_exists, failed_precondition, invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.operations import UPGRADE, OperationHandlers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.versions import image_type, node_version
from tpuplane_twin.gcp.views import ClusterView

_DISK = {"bootDisk": "", "diskType": "diskType", "diskSizeGb": "sizeGb"}
"""The fields of a disk in an update, and what the older ones are in `bootDisk`."""
_ADDRESS = ("clusterId", "name", "nodePoolId", "projectId", "zone")


def new_pool(store: Store, cluster_key: str, cluster: Json, asked: Json) -> Json:
    """The requested pool, complete and checked, of a cluster that may not be stored yet."""
    pool = complete_pool(asked, cluster, cluster["location"])
    context = PoolContext.of(store, cluster_key, pool, cluster)
    check_service_account(store, context.project, pool)
    check_boot_disk_key(store, context.project, cluster["location"], pool)
    complete_slice(context)
    pool_rules.check(context)
    check_reservations(store, f"{cluster_key}/nodePools/{pool['name']}", pool)
    pool_range(store, cluster, pool)
    if context.provision_only:
        pool[CUBE] = context.topology
    return pool


class NodePools(OperationHandlers):
    """Handlers of node pools."""

    def create(self, call: Call) -> Json:
        """Create a pool."""
        cluster_name = cluster_key(call.params)
        cluster = find_cluster(self._store, cluster_name)
        asked: Json = call.body.get("nodePool", {})
        name = asked.get("name", "")
        check_name("node_pool.name", name)
        key = f"{cluster_name}/nodePools/{name}"
        if self._store.get(POOL, key) is not None:
            raise already_exists(f"Already exists: {key}.")
        check_changeable(cluster)
        self._store.put(POOL, key, new_pool(self._store, cluster_name, cluster, asked))
        return self._operations.begin("CREATE_NODE_POOL", cluster_name, key, reconcile.CREATE_POOL)

    def get(self, call: Call) -> Json:
        """One pool."""
        key = pool_key(call.params)
        return pool_answer(key, find_pool(self._store, key))

    def list(self, call: Call) -> Json:
        """The pools of a cluster."""
        cluster = cluster_key(call.params)
        find_cluster(self._store, cluster)
        found = self._store.items(POOL, f"{cluster}/nodePools")
        return {"nodePools": [pool_answer(key, pool) for key, pool in found]}

    def delete(self, call: Call) -> Json:
        """Delete a pool."""
        key = pool_key(call.params)
        pool = find_pool(self._store, key)
        if pool["status"] == "STOPPING":
            raise failed_precondition(f"Node pool {pool['name']} is already being deleted.")
        self._store.put(POOL, key, {**pool, "status": "STOPPING"})
        return self._operations.begin("DELETE_NODE_POOL", parent_cluster(key), key, reconcile.DELETE_POOL)

    def update(self, call: Call) -> Json:
        """PUT pool: version, machine, labels, taints and the rest. The topology of a slice is not among them."""
        key = pool_key(call.params)
        pool = self._changeable(key)
        body = {field: value for field, value in call.body.items() if field not in _ADDRESS}
        etag = body.pop("etag", None)
        if etag is not None and etag != pool_answer(key, pool)["etag"]:
            raise ApiError("ABORTED", f"The etag of {key} has changed; read the node pool again.")
        if not body:
            raise invalid(data("updates")["empty"])
        for field, value in body.items():
            self._change(key, pool, field, value)
        return self._apply("UPGRADE_NODES" if "nodeVersion" in body else "UPDATE_CLUSTER", key, pool)

    def set_size(self, call: Call) -> Json:
        """Resize a pool, per zone."""
        key = pool_key(call.params)
        pool = self._changeable(key)
        nodes = int(call.body.get("nodeCount", 0))
        if nodes < 0:
            raise invalid(f"Node count {nodes} must not be negative.")
        pool_rules.check_size(PoolContext.of(self._store, parent_cluster(key), pool), nodes)
        pool["initialNodeCount"] = nodes
        if NODES in pool:
            pool[NODES] = {zone: sized(numbers, nodes) for zone, numbers in pool[NODES].items()}
        return self._apply("SET_NODE_POOL_SIZE", key, pool)

    def set_autoscaling(self, call: Call) -> Json:
        """Replace a pool's autoscaling limits."""
        return self._autoscale(pool_key(call.params), call.body.get("autoscaling", {}))

    def set_management(self, call: Call) -> Json:
        """Replace auto-upgrade and auto-repair."""
        key = pool_key(call.params)
        pool = self._changeable(key)
        pool["management"] = call.body.get("management", {})
        return self._apply("SET_NODE_POOL_MANAGEMENT", key, pool)

    def repair(self, key: str) -> Json:
        """Create the broken nodes of a pool again, as GKE's node auto-repair does."""
        pool = self._changeable(key)
        self._store.put(POOL, key, {**pool, "status": _during(pool)})
        return self._operations.begin("AUTO_REPAIR_NODES", parent_cluster(key), key, reconcile.REPAIR_POOL)

    def update_from_cluster(self, cluster: str, update: Json) -> Json:
        """The fields of a cluster's PUT that change a pool; the official provider sends autoscaling so."""
        update = dict(update)
        name = update.pop("desiredNodePoolId", None)
        if name is None:
            names = [pool["name"] for pool in self._store.values(POOL, f"{cluster}/nodePools")]
            if len(names) != 1:
                raise invalid("Must specify desired_node_pool_id unless the cluster has exactly one node pool.")
            name = names[0]
        key = f"{cluster}/nodePools/{name}"
        if "desiredNodePoolAutoscaling" in update:
            autoscaling = update.pop("desiredNodePoolAutoscaling")
            if update:
                raise invalid("Autoscaling must be the only field of the update.")
            return self._autoscale(key, autoscaling)
        pool = self._changeable(key)
        renamed = {"desiredNodeVersion": "nodeVersion", "desiredImageType": "imageType"}
        for field, value in update.items():
            self._change(key, pool, renamed.get(field, field), value)
        return self._apply("UPGRADE_NODES", key, pool)

    def _autoscale(self, key: str, autoscaling: Json) -> Json:
        pool = self._changeable(key)
        pool["autoscaling"] = autoscaling
        return self._apply("UPDATE_CLUSTER", key, pool)

    def _changeable(self, key: str) -> Json:
        pool = find_pool(self._store, key)
        if pool["status"] == "STOPPING":
            raise failed_precondition(f"Node pool {pool['name']} is being deleted.")
        return pool

    def _change(self, key: str, pool: Json, field: str, value: Any) -> None:
        if field == "nodeVersion":
            cluster = find_cluster(self._store, parent_cluster(key))
            pool["version"] = node_version(str(value), ClusterView(cluster).version)
        elif field in _DISK:
            # The official provider sends an empty bootDisk with a changed machine or disk type: the pool reports one.
            boot_disk = pool["config"]["bootDisk"]
            boot_disk |= value if field == "bootDisk" else {_DISK[field]: value}
            pool["config"] |= {"diskType": boot_disk["diskType"], "diskSizeGb": int(boot_disk["sizeGb"])}
        elif field == "locations" and not value:
            raise invalid("Must specify at least one location.")
        elif field == "imageType":
            pool["config"]["imageType"] = image_type(value)
        elif field == "upgradeSettings":
            pool["upgradeSettings"] = upgrade_settings(value)
        else:
            apply_update("node_pool", pool, field, value)

    def _apply(self, kind: str, key: str, pool: Json) -> Json:
        """Check the changed pool, then store and apply it."""
        cluster = find_cluster(self._store, parent_cluster(key))
        check_zones(pool["locations"], cluster["location"])
        check_machine(pool)
        before, groups = find_pool(self._store, key), group_names(cluster["name"], pool)
        old, new = (PoolContext.of(self._store, parent_cluster(key), each) for each in (before, pool))
        pool_rules.check_machine(old, new)
        pool_rules.check(new)
        check_reservations(self._store, key, pool)
        versions = {"initialVersion": before["version"], "targetVersion": pool["version"]}
        self._store.put(POOL, key, {BEFORE: before, **pool, GROUPS: groups, "status": _during(pool)})
        notes = {UPGRADE: versions} if pool["version"] != before["version"] else {}
        return self._operations.begin(kind, parent_cluster(key), key, reconcile.UPDATE_POOL, notes)


def _during(pool: Json) -> str:
    """The status during a change. A pool in ERROR remains so: it must be created again."""
    return pool["status"] if pool["status"] in ("PROVISIONING", "ERROR") else "RECONCILING"
