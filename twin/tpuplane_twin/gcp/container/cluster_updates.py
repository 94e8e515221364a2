"""Changes to a cluster: PUT with one desired field, and the older set… methods."""

from typing import Any

from tpuplane.tpu import GkeVersion

from tpuplane_twin.gcp.backend import NO_ROTATION, ROTATION
from tpuplane_twin.gcp.container import reconcile
from tpuplane_twin.gcp.container.answers import cluster_answer
from tpuplane_twin.gcp.container.cluster_defaults import (
    complete_autoscaling,
    mirror_collection,
    mirror_control_plane_access,
)
from tpuplane_twin.gcp.container.cluster_rules import check_cluster
from tpuplane_twin.gcp.container.maintenance_rules import check_maintenance, check_version
from tpuplane_twin.gcp.container.names import CLUSTER, check_changeable, cluster_key, find_cluster
from tpuplane_twin.gcp.container.node_pools import NodePools
from tpuplane_twin.gcp.container.pool_defaults import check_zones
from tpuplane_twin.gcp.container.ranges import change_pod_ranges, check_additional_ranges
from tpuplane_twin.gcp.container.updates import apply_update
from tpuplane_twin.gcp.errors import ApiError, failed_precondition, invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.merge import put_at
from tpuplane_twin.gcp.operations import UPGRADE, OperationHandlers
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.versions import check_channel, master_version
from tpuplane_twin.gcp.views import NO_CHANNEL, ClusterView

# Google's reference: labels, policies and the rest of a cluster are all of this type.
_UPDATE, _UPGRADE = "UPDATE_CLUSTER", "UPGRADE_MASTER"
_POD_RANGES = ("additionalPodRangesConfig", "removedAdditionalPodRangesConfig")
_POOL_FIELDS = ("desiredNodePoolAutoscaling", "desiredNodeVersion", "desiredImageType")


class ClusterUpdates(OperationHandlers):
    """Handlers that change a cluster."""

    def update(self, call: Call) -> Json:
        """PUT cluster: one or more desired fields."""
        key, cluster = self._changeable(call)
        update: Json = dict(call.body.get("update", {}))
        etag = update.pop("etag", None)
        if etag is not None and etag != cluster_answer(self._store, key, cluster)["etag"]:
            raise ApiError("ABORTED", f"The etag of {key} has changed; read the cluster again.")
        if any(field in update for field in _POOL_FIELDS):
            return NodePools(self._store, self._operations).update_from_cluster(key, update)
        if not update:
            raise invalid("Must specify a field to update.")
        kind = _UPDATE
        added, removed = (update.pop(field, None) for field in _POD_RANGES)
        if added or removed:
            change_pod_ranges(self._store, cluster, added or {}, removed or {})
        for field, value in update.items():
            if field == "desiredMasterVersion":
                self._upgrade(cluster, value)
                kind = _UPGRADE
            else:
                _change(cluster, field, value)
        check_additional_ranges(self._store, cluster)
        return self._begin(kind, key, cluster)

    def update_master(self, call: Call) -> Json:
        """Upgrade the control plane."""
        key, cluster = self._changeable(call)
        self._upgrade(cluster, call.body.get("masterVersion", ""))
        return self._begin(_UPGRADE, key, cluster)

    def set_resource_labels(self, call: Call) -> Json:
        """Replace the labels; the fingerprint must be that of the current labels."""
        key, cluster = self._changeable(call)
        now = cluster_answer(self._store, key, cluster)["labelFingerprint"]
        supplied = call.body.get("labelFingerprint", "")
        if supplied != now:
            raise failed_precondition(
                "Labels could not be set due to fingerprint mismatch; try again with the proper fingerprint: incorrect"
                f' fingerprint supplied was "{supplied}", the expected one is "{now}".'
            )
        cluster["resourceLabels"] = call.body.get("resourceLabels", {})
        return self._begin(_UPDATE, key, cluster)

    def start_ip_rotation(self, call: Call) -> Json:
        """Create new credentials, which clients trust in addition to the current ones; the address stays."""
        key, cluster = self._changeable(call)
        if call.body.get("rotateCredentials"):
            serves = cluster.get(ROTATION, NO_ROTATION)["serves"]
            cluster[ROTATION] = {"serves": serves, "trusted": serves + 1}
        return self._begin(_UPDATE, key, cluster, reconcile.ROTATE)

    def complete_ip_rotation(self, call: Call) -> Json:
        """Use the new credentials, and trust the old ones no longer."""
        key, cluster = self._changeable(call)
        trusted = cluster.get(ROTATION, NO_ROTATION)["trusted"]
        cluster[ROTATION] = {"serves": trusted, "trusted": trusted}
        return self._begin(_UPDATE, key, cluster, reconcile.ROTATE)

    def set_field(self, field: str, path: str, default: object, call: Call) -> Json:
        """Write one field of the request's body into the cluster, or `default` without it."""
        key, cluster = self._changeable(call)
        value: Any = call.body.get(field, default)
        if path == "locations":
            _check_locations(value, cluster)
        if path == "maintenancePolicy":
            check_maintenance(value)
            check_version(ClusterView(cluster).maintenance, value)
        if path == "addonsConfig":
            value = {**cluster[path], **value}
        put_at(cluster, path, value)
        mirror_collection(cluster, {path: value})
        return self._begin(_UPDATE, key, cluster)

    def _changeable(self, call: Call) -> tuple[str, Json]:
        key = cluster_key(call.params)
        cluster = find_cluster(self._store, key)
        check_changeable(cluster)
        return key, cluster

    def _begin(self, kind: str, key: str, cluster: Json, action: str = reconcile.UPDATE_CLUSTER) -> Json:
        check_cluster(self._store, key.split("/")[1], cluster)
        before = ClusterView(find_cluster(self._store, key)).version
        versions = {"initialVersion": before, "targetVersion": ClusterView(cluster).version}
        # A cluster that is still being created stays PROVISIONING, and its creation includes the change.
        status = cluster["status"] if cluster["status"] == "PROVISIONING" else "RECONCILING"
        self._store.put(CLUSTER, key, {**cluster, "status": status})
        notes = {UPGRADE: versions} if kind == _UPGRADE else {}
        return self._operations.begin(kind, key, key, action, notes)

    def _upgrade(self, cluster: Json, asked: str) -> None:
        view = ClusterView(cluster)
        version, current = master_version(asked, view.channel), view.version
        if GkeVersion.parse(version) < GkeVersion.parse(current):
            raise invalid(f'Master cannot be downgraded from version "{current}" to "{version}".')
        cluster["currentMasterVersion"] = version


def _check_locations(zones: list[str], cluster: Json) -> None:
    if not zones:
        raise invalid("Must specify at least one location.")
    check_zones(zones, cluster["location"])
    if is_zone(cluster["location"]) and cluster["location"] not in zones:
        raise invalid(f"The node locations must include the cluster's primary zone {cluster['location']}.")


def _change(cluster: Json, field: str, value: Any) -> None:
    if field == "desiredReleaseChannel":
        check_channel(value.get("channel", NO_CHANNEL))
    if field == "desiredFleet":
        asked, current = value.get("project"), ClusterView(cluster).fleet
        if asked and current and project_number(asked) != project_number(current):
            # GKE's words: hashicorp/terraform-provider-google, resource_container_cluster_test.go
            raise invalid("changing existing fleet host project is not supported")
    if field == "desiredLocations":
        _check_locations(value, cluster)
    if field == "desiredClusterAutoscaling":
        # The official provider switches these off by leaving them out; Google's command-line client repeats what is on.
        value = {"enableNodeAutoprovisioning": None, "defaultComputeClassConfig": None, **value}
    path = apply_update("cluster", cluster, field, value)
    if path == "autoscaling":
        cluster[path] = complete_autoscaling(cluster, cluster[path], value)
    mirror_collection(cluster, {path: value})
    parent, _, name = path.rpartition(".")
    mirror_control_plane_access(cluster, {parent: {name: value}} if parent else {path: value})
