"""Upgrades of clusters and node pools: information, completion and rollback."""

from tpuplane.tpu import GkeVersion

from tpuplane_twin.gcp.backend import NODES
from tpuplane_twin.gcp.container import reconcile
from tpuplane_twin.gcp.container.maintenance_rules import scopes_at
from tpuplane_twin.gcp.container.names import (
    BEFORE,
    POOL,
    cluster_key,
    find_cluster,
    find_pool,
    parent_cluster,
    pool_key,
)
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.links import CONTAINER
from tpuplane_twin.gcp.operations import OPERATION, UPGRADE, OperationHandlers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.versions import master_version
from tpuplane_twin.gcp.views import ClusterView

_STATES = {"PENDING": "RUNNING", "RUNNING": "RUNNING"}


class Upgrades(OperationHandlers):
    """Handlers of clusters and of node pools."""

    def fetch_cluster_upgrade_info(self, call: Call) -> Json:
        """The control plane's past upgrades, and the next one: to the default version of its channel."""
        key = cluster_key(call.params)
        cluster = ClusterView(find_cluster(self._store, key))
        target = master_version("", cluster.channel)
        return self._info(key, cluster, cluster.version, target, "NO_UPGRADES")

    def fetch_node_pool_upgrade_info(self, call: Call) -> Json:
        """The pool's past upgrades, and the next one: to the version of its control plane."""
        key = pool_key(call.params)
        pool, cluster = find_pool(self._store, key), ClusterView(find_cluster(self._store, parent_cluster(key)))
        return self._info(key, cluster, pool["version"], cluster.version, "NO_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES")

    def complete_upgrade(self, call: Call) -> Json:
        """Nothing to complete: blue-green upgrades do not wait between their phases here."""
        find_pool(self._store, pool_key(call.params))
        return {}

    def rollback(self, call: Call) -> Json:
        """Restore a pool after an update that failed; other pools stay as they are."""
        key = pool_key(call.params)
        pool = find_pool(self._store, key)
        before: Json | None = pool.get(BEFORE)
        if before is not None:
            nodes = {NODES: pool[NODES]} if NODES in pool else {}
            self._store.put(POOL, key, {**before, **nodes, "status": "RECONCILING"})
        return self._operations.begin("UPGRADE_NODES", parent_cluster(key), key, reconcile.UPDATE_POOL)

    def _info(self, key: str, cluster: ClusterView, version: str, target: str, *holding: str) -> Json:
        """Exclusions of the scopes `holding` pause all upgrades; others pause minor upgrades."""
        info: Json = {"autoUpgradeStatus": ["ACTIVE"], "upgradeDetails": self._past(key)}
        now, next_ = GkeVersion.parse(version), GkeVersion.parse(target)
        if next_ > now:
            patch = (next_.major, next_.minor) == (now.major, now.minor)
            info["patchTargetVersion" if patch else "minorTargetVersion"] = target
        scopes = scopes_at(cluster.maintenance, self._operations.clock.date())
        if scopes:
            held = "UPGRADE_PAUSED" if scopes & set(holding) else "MINOR_UPGRADE_PAUSED"
            reason = "NO_UPGRADES" if "NO_UPGRADES" in scopes else "NO_MINOR_UPGRADES"
            info |= {"autoUpgradeStatus": [held], "pausedReason": [f"MAINTENANCE_EXCLUSION_{reason}"]}
        return info

    def _past(self, key: str) -> list[Json]:
        """The upgrades whose operations are still stored."""
        return [
            {
                **operation[UPGRADE],
                "startTime": operation["startTime"],
                "endTime": operation.get("endTime"),
                "startType": "MANUAL",
                "state": _STATES.get(operation["status"], "FAILED" if "statusMessage" in operation else "SUCCEEDED"),
            }
            for operation in self._store.values(OPERATION, "/".join(key.split("/")[:4]))
            if UPGRADE in operation and operation["targetLink"] == CONTAINER + key
        ]
