"""An update of a cluster as the requests of the official plugin, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Change, Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError
from tpuplane_twin.providers.gcp.resources.base import known, touched
from tpuplane_twin.providers.gcp.resources.cluster_bodies import endpoints, maintenance
from tpuplane_twin.providers.gcp.resources.gke import Call, GkeResource
from tpuplane_twin.providers.gcp.tables import Step

_PRIVATE: Final = "privateClusterConfig"


def calls(
    resource: GkeResource, resource_id: str, prior: Properties, planned: Properties, changed: Mapping[str, Change]
) -> Iterator[Call]:
    """The requests for these changes."""
    yield from _network(planned, changed)
    for rule in resource.table.steps:
        if touched(changed, *rule.watch) and (update := _desired(resource, rule, planned)) is not None:
            yield _put(update, f"GKE cluster {resource.rule(rule.watch[0]).tf}")
    if touched(changed, "nodeLocations"):
        yield from _zones(resource.location(planned), prior, planned)
    yield from _own_methods(resource, resource_id, planned, changed)


def current_maintenance(resource: GkeResource, resource_id: str, planned: Properties) -> dict[str, Any] | None:
    """The planned maintenance policy on the version that the API has now, which takes a separate request."""
    try:
        current = resource.api.call("GET", resource.url(resource_id)).get("maintenancePolicy") or {}
    except ApiError:
        current = {}
    return maintenance(known(planned).get("maintenancePolicy"), current)


def _put(update: Mapping[str, Any], what: str) -> Call:
    return Call("PUT", "", {"update": update}, what)


def _network(planned: Properties, changed: Mapping[str, Change]) -> Iterator[Call]:
    if touched(
        changed,
        "controlPlaneEndpointsConfig",
        "masterAuthorizedNetworksConfig",
        f"{_PRIVATE}.enablePrivateEndpoint",
        f"{_PRIVATE}.masterGlobalAccessConfig",
    ):
        desired = {"desiredControlPlaneEndpointsConfig": endpoints(known(planned))}
        yield _put(desired, "GKE control plane endpoints config")
    if touched(changed, f"{_PRIVATE}.enablePrivateNodes"):
        nodes = bool((planned.get(_PRIVATE) or {}).get("enablePrivateNodes"))
        yield _put({"desiredDefaultEnablePrivateNodes": nodes}, "GKE cluster's default private nodes")
    if touched(changed, "ipAllocationPolicy.stackType"):
        yield _put({"desiredStackType": planned["ipAllocationPolicy"].get("stackType")}, "GKE cluster stack type")


def _zones(location: str, prior: Properties, planned: Properties) -> Iterator[Call]:
    """Zones are added first and removed in a second request; a zonal cluster's own zone is always among them."""
    own = {location} if location.count("-") == 2 else set()
    if location in planned.get("nodeLocations", []):
        raise ProviderError("for multi-zonal clusters, node_locations should not contain the primary 'zone'")
    wanted = {*planned.get("nodeLocations", []), *own}
    union = wanted | set(prior.get("nodeLocations", []))
    for zones in [union] + ([wanted] if union != wanted else []):
        yield _put({"desiredLocations": sorted(zones)}, "GKE cluster node locations")


def _own_methods(
    resource: GkeResource, resource_id: str, planned: Properties, changed: Mapping[str, Change]
) -> Iterator[Call]:
    body: dict[str, Any]
    if touched(changed, "enableLegacyAbac"):
        yield Call("POST", ":setLegacyAbac", {"enabled": bool(planned.get("enableLegacyAbac"))}, "GKE legacy ABAC")
    if touched(changed, "monitoringService", "loggingService"):
        services = ("monitoringService", "loggingService")
        yield _put({f"desired{name[0].upper()}{name[1:]}": planned.get(name) for name in services}, "GKE services")
    if touched(changed, "networkPolicy"):
        body = {"networkPolicy": resource.value("networkPolicy", planned) or {}}
        yield Call("POST", ":setNetworkPolicy", body, "GKE cluster network policy")
    if touched(changed, "maintenancePolicy"):
        body = {"maintenancePolicy": current_maintenance(resource, resource_id, planned)}
        yield Call("POST", ":setMaintenancePolicy", body, "GKE cluster maintenance policy")
    if touched(changed, "effectiveLabels"):
        body = {"labelFingerprint": planned.get("labelFingerprint"), "resourceLabels": planned["effectiveLabels"]}
        yield Call("POST", ":setResourceLabels", body, "GKE resource labels")
    if touched(changed, "removeDefaultNodePool") and planned.get("removeDefaultNodePool"):
        # On an existing cluster the pool may already be deleted.
        path = "/nodePools/default-pool"
        if resource.api.find(resource.url(resource_id + path)) is not None:
            yield Call("DELETE", path, None, "default node pool")


def _desired(resource: GkeResource, rule: Step, planned: Properties) -> dict[str, Any] | None:
    value = resource.value(rule.watch[0], planned)
    if rule.field == "desiredMasterVersion" and value and not _newer(value, str(planned.get("masterVersion", ""))):
        return None
    return rule.body(value)


def _newer(wanted: str, current: str) -> bool:
    def parts(version: str) -> list[int]:
        return [int(part) for part in version.replace("-gke.", ".").split(".") if part.isdigit()]

    return parts(current) < parts(wanted)
