"""GKE clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Change, Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError, Cancelled, Deadline, OperationError
from tpuplane_twin.providers.gcp.resources.base import CreatedInError, known, touched
from tpuplane_twin.providers.gcp.resources.cluster_bodies import create_body, endpoints, maintenance, state_of
from tpuplane_twin.providers.gcp.resources.gke import GkeResource, Update
from tpuplane_twin.providers.values import UNKNOWN

_ATTRIBUTION: Final = {"goog-pulumi-provisioned": "true"}

# In the order in which the official plugin sends them; the API takes one desired field at a time.
_UPDATES: Final = (
    Update(("addonsConfig",), "desiredAddonsConfig", required=True),
    Update(("clusterAutoscaling",), "desiredClusterAutoscaling", absent={"enableNodeAutoprovisioning": False}),
    Update(("dnsConfig",), "desiredDnsConfig"),
    Update(("binaryAuthorization",), "desiredBinaryAuthorization", absent={"enabled": False}),
    Update(("enableShieldedNodes",), "desiredShieldedNodes.enabled", absent=False),
    Update(("releaseChannel",), "desiredReleaseChannel"),
    Update(("gkeAutoUpgradeConfig",), "gkeAutoUpgradeConfig"),
    Update(("enableIntranodeVisibility",), "desiredIntraNodeVisibilityConfig.enabled", absent=False),
    Update(("privateIpv6GoogleAccess",), "desiredPrivateIpv6GoogleAccess"),
    Update(("enableL4IlbSubsetting",), "desiredL4ilbSubsettingConfig.enabled", absent=False),
    Update(("disableL4LbFirewallReconciliation",), "desiredDisableL4LbFirewallReconciliation", absent=False),
    Update(("inTransitEncryptionConfig",), "desiredInTransitEncryptionConfig", absent=""),
    Update(("enableMultiNetworking",), "desiredEnableMultiNetworking", absent=False),
    Update(("enableFqdnNetworkPolicy",), "desiredEnableFqdnNetworkPolicy"),
    Update(("enableCiliumClusterwideNetworkPolicy",), "desiredEnableCiliumClusterwideNetworkPolicy", absent=False),
    Update(("costManagementConfig",), "desiredCostManagementConfig"),
    Update(("authenticatorGroupsConfig",), "desiredAuthenticatorGroupsConfig"),
    Update(("defaultSnatStatus",), "desiredDefaultSnatStatus"),
    Update(("desiredEmulatedVersion",), "desiredEmulatedVersion", required=True),
    Update(("minMasterVersion",), "desiredMasterVersion", required=True),
    Update(("notificationConfig",), "desiredNotificationConfig"),
    Update(("verticalPodAutoscaling",), "desiredVerticalPodAutoscaling", required=True),
    Update(("serviceExternalIpsConfig",), "desiredServiceExternalIpsConfig"),
    Update(("meshCertificates",), "desiredMeshCertificates"),
    Update(("databaseEncryption",), "desiredDatabaseEncryption"),
    Update(("podAutoscaling",), "desiredPodAutoscaling"),
    Update(("secretManagerConfig",), "desiredSecretManagerConfig", absent={}),
    Update(("secretSyncConfig",), "desiredSecretSyncConfig", absent={}),
    Update(("workloadIdentityConfig",), "desiredWorkloadIdentityConfig", absent={"workloadPool": ""}),
    Update(("identityServiceConfig",), "desiredIdentityServiceConfig", absent={}),
    Update(("loggingConfig",), "desiredLoggingConfig"),
    Update(("monitoringConfig",), "desiredMonitoringConfig"),
    Update(("resourceUsageExportConfig",), "desiredResourceUsageExportConfig"),
    Update(("networkPerformanceConfig",), "desiredNetworkPerformanceConfig", required=True),
    Update(("gatewayApiConfig",), "desiredGatewayApiConfig", required=True),
    Update(("fleet",), "desiredFleet", absent={"project": ""}),
    Update(("securityPostureConfig",), "desiredSecurityPostureConfig"),
    Update(("nodePoolAutoConfig.networkTags",), "desiredNodePoolAutoConfigNetworkTags", absent={"tags": []}),
    Update(("rbacBindingConfig",), "desiredRbacBindingConfig", absent={}),
    Update(("protectConfig",), "desiredProtectConfig"),
)


class Cluster(GkeResource):
    """A cluster; its id is `projects/P/locations/L/clusters/N`."""

    table_name = "cluster"
    resting = frozenset({"RUNNING"})
    broken = frozenset({"ERROR", "DEGRADED"})
    import_formats = (
        r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<name>[^/]+)",
        r"(?P<project>[^/]+)/(?P<location>[^/]+)/(?P<name>[^/]+)",
        r"(?P<location>[^/]+)/(?P<name>[^/]+)",
    )

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        project, location = self.need_project(properties), properties["location"]
        return f"projects/{project}/locations/{location}/clusters/{properties['name']}"

    def import_properties(self, resource_id: str) -> Properties:
        """An imported cluster is protected until the program says otherwise."""
        return {**super().import_properties(resource_id), "deletionProtection": True}

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Adds the labels the resource will have: the user's, the provider's defaults, and the attribution."""
        planned = super().plan(inputs, prior)
        given = inputs.get("resourceLabels") or {}
        if given is UNKNOWN or UNKNOWN in given.values():
            planned["pulumiLabels"] = planned["effectiveLabels"] = UNKNOWN
            return planned
        before = dict((prior or {}).get("effectiveLabels") or {})
        managed = (prior or {}).get("pulumiLabels") or {}
        labels = dict(self.session.default_labels)
        strategy = self.session.attribution
        if strategy and (prior is None or strategy == "PROACTIVE" or before.keys() & _ATTRIBUTION.keys()):
            labels |= _ATTRIBUTION
        labels |= given
        planned["pulumiLabels"] = labels
        planned["effectiveLabels"] = {k: v for k, v in before.items() if k not in managed or k in labels} | labels
        return planned

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        place = f"projects/{self.need_project(planned)}/locations/{self.location(planned)}"
        resource_id = f"{place}/clusters/{planned['name']}"
        url = self.url(resource_id)
        with self.session.lock(resource_id):
            # The official plugin looks for a maintenance policy to take over before it creates.
            policy = self._maintenance(url, planned)
            body = create_body(self.table.fields, planned, policy, self.session, place)
            operation = self.api.call("POST", self.url(f"{place}/clusters"), {"cluster": body})
            try:
                self.wait(operation, place, "creating GKE cluster", deadline)
            except Cancelled:
                state = {**known(planned), "operation": operation["name"]}
                raise CreatedInError(resource_id, state, "interrupted while creating GKE cluster") from None
            except OperationError as error:
                if not self._exists(url):
                    raise
                raise CreatedInError(resource_id, known(planned), str(error)) from error
            if planned.get("removeDefaultNodePool"):
                operation = self.api.call("DELETE", f"{url}/nodePools/default-pool")
                self.wait(operation, place, "removing default node pool", deadline)
        found = self.read(resource_id, planned)
        if found is None:
            raise ProviderError(f"Cluster {planned['name']} is gone right after its creation")
        status = self.rest(resource_id, deadline)
        if status in self.broken:
            message = f'Cluster {planned["name"]} was created in the error state "{status}"'
            raise CreatedInError(resource_id, found, message)
        return resource_id, found

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        place = resource_id.partition("/clusters/")[0]
        if isinstance(prior.get("operation"), str) and prior["operation"]:
            deadline = Deadline.after(self.table.timeouts["read"] * 60)
            self.wait({"name": prior["operation"]}, place, "resuming GKE cluster", deadline)
        try:
            found = self.api.call("GET", self.url(resource_id))
        except ApiError as error:
            if error.not_found:
                return None
            raise
        state = state_of(self.table.fields, found, prior)
        pools = found.get("nodePools", []) if not prior.get("skipNodePoolRefresh") else []
        known_pools = prior.get("nodePools")
        before = known_pools if isinstance(known_pools, list) else []
        fields = self.table.fields["nodePools"].fields
        state["nodePools"] = [
            self.pool_state(fields, pool, before[index] if index < len(before) else None)
            for index, pool in enumerate(pools)
        ]
        state["project"] = place.split("/")[1]
        return state

    def update(  # noqa: D102
        self,
        resource_id: str,
        prior: Properties,
        planned: Properties,
        changed: Mapping[str, Change],
        deadline: Deadline,
    ) -> Properties:
        if set(changed) - {"deletionPolicy"}:
            self.rest(resource_id, deadline)
            with self.session.lock(resource_id):
                self._send_changes(resource_id, prior, planned, changed, deadline)
            self.rest(resource_id, deadline)
        return self.read(resource_id, planned) or known(planned)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if not self.check_deletion(resource_id, state):
            return
        if state.get("deletionProtection", True):
            raise ProviderError(
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion."
            )
        try:
            self.rest(resource_id, deadline)
        except ApiError as error:
            if error.not_found:
                return
            raise
        with self.session.lock(resource_id):
            try:
                operation = self.api.retry(
                    Deadline.after(30), lambda: self.api.call("DELETE", self.url(resource_id)), lambda error: True
                )
            except ApiError as error:
                raise ProviderError(f"Error deleting Cluster: {error}") from error
            self.wait(operation, resource_id.partition("/clusters/")[0], "deleting GKE cluster", deadline)

    def _exists(self, url: str) -> bool:
        try:
            self.api.call("GET", url)
        except ApiError:
            return False
        return True

    def _maintenance(self, url: str, planned: Properties) -> dict[str, Any] | None:
        try:
            current = self.api.call("GET", url).get("maintenancePolicy") or {}
        except ApiError:
            current = {}
        return maintenance(known(planned).get("maintenancePolicy"), current)

    def _send_changes(
        self,
        resource_id: str,
        prior: Properties,
        planned: Properties,
        changed: Mapping[str, Change],
        deadline: Deadline,
    ) -> None:
        body: Any

        def put(update: Mapping[str, Any], what: str) -> None:
            self._call("PUT", resource_id, {"update": update}, what, deadline)

        private = "privateClusterConfig"
        if touched(
            changed,
            "controlPlaneEndpointsConfig",
            "masterAuthorizedNetworksConfig",
            f"{private}.enablePrivateEndpoint",
            f"{private}.masterGlobalAccessConfig",
        ):
            put({"desiredControlPlaneEndpointsConfig": endpoints(known(planned))}, "GKE control plane endpoints config")
        if touched(changed, f"{private}.enablePrivateNodes"):
            nodes = bool((planned.get(private) or {}).get("enablePrivateNodes"))
            put({"desiredDefaultEnablePrivateNodes": nodes}, "GKE cluster's default private nodes")
        if touched(changed, "ipAllocationPolicy.stackType"):
            put({"desiredStackType": planned["ipAllocationPolicy"].get("stackType")}, "GKE cluster stack type")
        for rule in _UPDATES:
            if touched(changed, *rule.watch) and (update := self._desired(rule, planned)) is not None:
                put(update, f"GKE cluster {self.rule(rule.watch[0]).tf}")
        if touched(changed, "nodeLocations"):
            self._move(resource_id, prior, planned, deadline)
        if touched(changed, "enableLegacyAbac"):
            body = {"enabled": bool(planned.get("enableLegacyAbac"))}
            self._call("POST", f"{resource_id}:setLegacyAbac", body, "GKE legacy ABAC", deadline)
        if touched(changed, "monitoringService", "loggingService"):
            services = ("monitoringService", "loggingService")
            put({f"desired{name[0].upper()}{name[1:]}": planned.get(name) for name in services}, "GKE services")
        if touched(changed, "networkPolicy"):
            body = {"networkPolicy": self.value("networkPolicy", planned) or {}}
            self._call("POST", f"{resource_id}:setNetworkPolicy", body, "GKE cluster network policy", deadline)
        if touched(changed, "maintenancePolicy"):
            body = {"maintenancePolicy": self._maintenance(self.url(resource_id), planned)}
            self._call("POST", f"{resource_id}:setMaintenancePolicy", body, "GKE cluster maintenance policy", deadline)
        if touched(changed, "effectiveLabels"):
            body = {
                "labelFingerprint": planned.get("labelFingerprint"),
                "resourceLabels": planned["effectiveLabels"],
            }
            self._call("POST", f"{resource_id}:setResourceLabels", body, "GKE resource labels", deadline)
        if touched(changed, "removeDefaultNodePool") and planned.get("removeDefaultNodePool"):
            try:
                self._call("DELETE", f"{resource_id}/nodePools/default-pool", None, "default node pool", deadline)
            except ApiError as error:
                if not error.not_found:
                    raise

    def _move(self, resource_id: str, prior: Properties, planned: Properties, deadline: Deadline) -> None:
        """Zones are added first and removed in a second request; a zonal cluster's own zone is always among them."""
        location = self.location(planned)
        own = {location} if location.count("-") == 2 else set()
        if location in planned.get("nodeLocations", []):
            raise ProviderError("for multi-zonal clusters, node_locations should not contain the primary 'zone'")
        wanted = {*planned.get("nodeLocations", []), *own}
        union = wanted | set(prior.get("nodeLocations", []))
        for zones in [union] + ([wanted] if union != wanted else []):
            body = {"update": {"desiredLocations": sorted(zones)}}
            self._call("PUT", resource_id, body, "GKE cluster node locations", deadline)

    def _desired(self, rule: Update, planned: Properties) -> dict[str, Any] | None:
        value = self.value(rule.watch[0], planned)
        if rule.field == "desiredMasterVersion" and value and not _newer(value, str(planned.get("masterVersion", ""))):
            return None
        if value in (None, "", False, {}):
            if rule.required:
                return None
            value = rule.absent
        head, *rest = rule.field.split(".")
        if value is None:
            return {}
        for part in reversed(rest):
            value = {part: value}
        return {head: value}

    def _call(self, method: str, path: str, body: Any, what: str, deadline: Deadline) -> None:
        operation = self.send(deadline, lambda: self.api.call(method, self.url(path), body))
        self.wait(operation, path.partition("/clusters/")[0], f"updating {what}", deadline)

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """Two switches cannot be turned off again in place."""
        changes = super().diff(prior, planned)
        for name in ("enableL4IlbSubsetting", "enableFqdnNetworkPolicy"):
            if name in changes and prior.get(name) and not planned.get(name):
                changes[name] = Change(changes[name].kind, replace=True)
        return changes


def _newer(wanted: str, current: str) -> bool:
    def parts(version: str) -> list[int]:
        return [int(part) for part in version.replace("-gke.", ".").split(".") if part.isdigit()]

    return parts(current) < parts(wanted)
