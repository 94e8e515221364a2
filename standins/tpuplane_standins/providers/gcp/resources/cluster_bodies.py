"""Where a cluster's properties and the API's Cluster differ by more than names."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tpuplane_standins.providers.contract import Change, Properties, ProviderError
from tpuplane_standins.providers.gcp.bodies import dig, expand
from tpuplane_standins.providers.gcp.resources.base import known, touched
from tpuplane_standins.providers.gcp.resources.gke import keep_own_taints
from tpuplane_standins.providers.gcp.resources.node_pool import DEFAULT_SCOPES, pool_body
from tpuplane_standins.providers.gcp.suppress import relative
from tpuplane_standins.providers.gcp.tables import Field
from tpuplane_standins.providers.values import UNKNOWN

# Handled below: carried by another message, or only read back.
_OWN_HANDLING = (
    "network",
    "subnetwork",
    "nodePools",
    "nodeLocations",
    "nodeVersion",
    "masterAuthorizedNetworksConfig",
    "controlPlaneEndpointsConfig",
    "ipAllocationPolicy",
)

# What no request of the stand-in carries, in a creation and in an update.
NOT_SERVED = (
    "ipAllocationPolicy.additionalIpRangesConfigs",
    "ipAllocationPolicy.additionalPodRangesConfig",
    "maintenancePolicy.disruptionBudget",
    "maintenancePolicy.recurringMaintenanceWindow",
    "nodeVersion",
    "rollbackSafeUpgrade",
)


def reject(paths: Collection[str]) -> None:
    """Fail for properties that would be reported as done although no request carries them."""
    if paths:
        raise ProviderError(
            f"{', '.join(paths)}: this stand-in for the gcp provider does not serve that; leave it out, or install the "
            "official plugin with `pulumi plugin install resource gcp`"
        )


def unserved(
    fields: Mapping[str, Field],
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    changed: Mapping[str, Change],
    carried: Collection[str],
    parent: str = "",
) -> Iterator[str]:
    """The changed properties that no request of an update carries."""
    for name, rule in fields.items():
        path, before, after = parent + name, old.get(name) or rule.zero, new.get(name) or rule.zero
        if rule.output or before == after or after is UNKNOWN or not touched(changed, path):
            continue
        if path in NOT_SERVED:
            yield path
        elif any(other.startswith(f"{path}.") for other in (*carried, *NOT_SERVED)):
            yield from unserved(rule.fields, before or {}, after or {}, changed, carried, f"{path}.")
        elif not any(f"{path}.".startswith(f"{sent}.") for sent in carried):
            yield path


def create_body(
    fields: Mapping[str, Field], planned: Properties, policy: dict[str, Any] | None, place: str
) -> dict[str, Any]:
    """The Cluster that a create request carries. `place` is `projects/P/locations/L`."""
    properties = known(planned)
    reject([path for path in NOT_SERVED if dig(properties, path)])
    plain = {name: rule for name, rule in fields.items() if name not in _OWN_HANDLING}
    body = expand(plain, properties)
    body.setdefault("autoscaling", {"enableNodeAutoprovisioning": False})
    body.setdefault("binaryAuthorization", {"enabled": False})
    body.setdefault("networkPolicy", {})
    for switch in ("legacyAbac", "shieldedNodes", "autopilot"):
        body.setdefault(switch, {}).setdefault("enabled", False)
    network = body.setdefault("networkConfig", {})
    if version := properties.get("minMasterVersion"):
        body["initialClusterVersion"] = version
    if policy is not None:
        body["maintenancePolicy"] = policy
    body["controlPlaneEndpointsConfig"] = endpoints(properties)
    private = properties.get("privateClusterConfig") or {}
    if private.get("enablePrivateNodes"):
        network["defaultEnablePrivateNodes"] = True
    if block := private.get("masterIpv4CidrBlock"):
        body["privateClusterConfig"] = {"masterIpv4CidrBlock": block}
        if private.get("enablePrivateNodes"):
            body["privateClusterConfig"]["enablePrivateNodes"] = True
    if addresses := _ip_allocation(fields["ipAllocationPolicy"], properties):
        body["ipAllocationPolicy"] = addresses
    if labels := properties.get("effectiveLabels"):
        body["resourceLabels"] = labels
    _place(body, properties, place)
    _nodes(body, fields, planned)
    return body


def _place(body: dict[str, Any], properties: Properties, place: str) -> None:
    """Network, subnetwork and zones, by their full names."""
    _, project, _, location = place.split("/")
    zonal = location.count("-") == 2
    region = location.rpartition("-")[0] if zonal else location
    if network := properties.get("network"):
        body["network"] = _relative(network, f"projects/{project}/global/networks")
    if subnetwork := properties.get("subnetwork"):
        body["subnetwork"] = _relative(subnetwork, f"projects/{project}/regions/{region}/subnetworks")
    if zones := properties.get("nodeLocations"):
        if location in zones:
            raise ProviderError(
                "when using a multi-zonal cluster, node_locations should not contain the original 'zone'"
            )
        body["locations"] = [*zones, location] if zonal else zones


def _nodes(body: dict[str, Any], fields: Mapping[str, Field], planned: Properties) -> None:
    pools = planned.get("nodePools")
    if isinstance(pools, list) and pools:
        body["nodePools"] = [pool_body(fields["nodePools"].fields, pool) for pool in pools]
    if "nodeConfig" in body:
        body["nodeConfig"].setdefault("loggingConfig", {"variantConfig": {}})
    elif "nodePools" not in body:
        body["nodeConfig"] = {"oauthScopes": list(DEFAULT_SCOPES)}


def _relative(link: str, collection: str) -> str:
    return relative(link) if "/" in link else f"{collection}/{link}"


def _ip_allocation(rule: Field, properties: Properties) -> dict[str, Any] | None:
    mode = properties.get("networkingMode") or ("" if properties.get("clusterIpv4Cidr") else "VPC_NATIVE")
    given = properties.get("ipAllocationPolicy")
    if given is None:
        if mode == "VPC_NATIVE":
            return None
        return {"useIpAliases": False, "useRoutes": True, "stackType": "IPV4"}
    body = expand(rule.fields, given)
    body["useIpAliases"] = mode in ("VPC_NATIVE", "")
    if mode == "ROUTES":
        body["useRoutes"] = True
    return body


def endpoints(properties: Mapping[str, Any]) -> dict[str, Any]:
    """`ControlPlaneEndpointsConfig`: who reaches the control plane, and how."""
    dns = dig(properties, "controlPlaneEndpointsConfig.dnsEndpointConfig") or {}
    switches = ("allowExternalTraffic", "enableK8sTokensViaDns", "enableK8sCertsViaDns")
    dns_body = {name: bool(dns.get(name)) for name in switches}
    ip = dig(properties, "controlPlaneEndpointsConfig.ipEndpointsConfig")
    if ip is not None and ip.get("enabled") is False:
        return {"dnsEndpointConfig": dns_body, "ipEndpointsConfig": {"enabled": False}}
    private = properties.get("privateClusterConfig") or {}
    authorized: dict[str, Any] = {}
    if (given := properties.get("masterAuthorizedNetworksConfig")) is not None:
        authorized["enabled"] = True
        if blocks := given.get("cidrBlocks"):
            authorized["cidrBlocks"] = [{key: value for key, value in block.items() if value} for block in blocks]
        for name in ("gcpPublicCidrsAccessEnabled", "privateEndpointEnforcementEnabled"):
            if given.get(name) is not None:
                authorized[name] = given[name]
    ip_body = {
        "enabled": True,
        "enablePublicEndpoint": not private.get("enablePrivateEndpoint"),
        "privateEndpointSubnetwork": private.get("privateEndpointSubnetwork") or "",
        "globalAccess": bool(dig(private, "masterGlobalAccessConfig.enabled")),
        "authorizedNetworksConfig": authorized,
    }
    return {"dnsEndpointConfig": dns_body, "ipEndpointsConfig": ip_body}


def maintenance(given: Mapping[str, Any] | None, current: Mapping[str, Any]) -> dict[str, Any] | None:
    """`MaintenancePolicy`: the user's windows on top of the version that the API knows."""
    version = {"resourceVersion": current["resourceVersion"]} if current.get("resourceVersion") else {}
    exclusions = dict(dig(current, "window.maintenanceExclusions") or {})
    if not given:
        return {**version, "window": {"maintenanceExclusions": exclusions} if exclusions else {}}
    exclusions = {item["exclusionName"]: _exclusion(item) for item in given.get("maintenanceExclusions", [])}
    window: dict[str, Any] = {"maintenanceExclusions": exclusions} if exclusions else {}
    if daily := given.get("dailyMaintenanceWindow"):
        window["dailyMaintenanceWindow"] = {"startTime": daily["startTime"]}
    elif recurring := given.get("recurringWindow"):
        times = {key: recurring[key] for key in ("startTime", "endTime")}
        window["recurringWindow"] = {"window": times, "recurrence": recurring["recurrence"]}
    else:
        return None
    return {**version, "window": window}


def _exclusion(item: Mapping[str, Any]) -> dict[str, Any]:
    body = {key: item[key] for key in ("startTime", "endTime") if item.get(key)}
    if options := item.get("exclusionOptions"):
        body["maintenanceExclusionOptions"] = {"scope": options["scope"]}
        if behaviour := options.get("endTimeBehavior"):
            body["maintenanceExclusionOptions"]["endTimeBehavior"] = behaviour
            body.pop("endTime", None)
    return body


def complete(state: Properties, found: Mapping[str, Any], prior: Properties) -> None:
    """Give the state of the API's Cluster what its table alone does not say."""
    state["nodeLocations"] = [zone for zone in found.get("locations", []) if zone != found.get("zone")]
    _labels(state, found, prior)
    native = bool(dig(found, "ipAllocationPolicy.useIpAliases"))
    state["networkingMode"] = "VPC_NATIVE" if native else "ROUTES"
    if not native:
        state.pop("ipAllocationPolicy", None)
    elif isinstance(state.get("ipAllocationPolicy"), dict):
        state["ipAllocationPolicy"]["stackType"] = state["ipAllocationPolicy"].get("stackType") or "IPV4"
    if not dig(found, "controlPlaneEndpointsConfig.ipEndpointsConfig.authorizedNetworksConfig.enabled"):
        state.pop("masterAuthorizedNetworksConfig", None)
    state["privateClusterConfig"] = _private(found)
    if policy := _policy(found.get("maintenancePolicy") or {}):
        state["maintenancePolicy"] = policy
    else:
        state.pop("maintenancePolicy", None)
    if not any((state.get("userManagedKeysConfig") or {}).values()):
        state.pop("userManagedKeysConfig", None)
    if isinstance(state.get("masterAuth"), dict):
        issued = bool(dig(found, "masterAuth.clientCertificate"))
        state["masterAuth"]["clientCertificateConfig"] = {"issueClientCertificate": issued}
    state.setdefault("networkPolicy", {"enabled": False, "provider": "PROVIDER_UNSPECIFIED"})
    if not dig(state, "releaseChannel.channel"):
        state["releaseChannel"] = {"channel": "UNSPECIFIED"}
    state.setdefault("clusterAutoscaling", {"enabled": False})
    if isinstance(state.get("nodeConfig"), dict):
        keep_own_taints(state["nodeConfig"], prior.get("nodeConfig"))
    state["operation"] = ""


def _labels(state: Properties, found: Mapping[str, Any], prior: Properties) -> None:
    """The user's labels keep their keys; `effectiveLabels` has everything that the API knows."""
    actual = found.get("resourceLabels", {})
    state["effectiveLabels"] = actual
    for name in ("resourceLabels", "pulumiLabels"):
        before = prior.get(name)
        keys = before if isinstance(before, Mapping) else {}
        state[name] = {key: actual.get(key, "") for key in keys}


def _private(found: Mapping[str, Any]) -> dict[str, Any]:
    ip = dig(found, "controlPlaneEndpointsConfig.ipEndpointsConfig") or {}
    return {
        "enablePrivateEndpoint": not ip.get("enablePublicEndpoint"),
        "enablePrivateNodes": bool(dig(found, "networkConfig.defaultEnablePrivateNodes")),
        "masterGlobalAccessConfig": {"enabled": bool(ip.get("globalAccess"))},
        "masterIpv4CidrBlock": dig(found, "privateClusterConfig.masterIpv4CidrBlock") or "",
        "peeringName": dig(found, "privateClusterConfig.peeringName") or "",
        "privateEndpoint": ip.get("privateEndpoint", ""),
        "privateEndpointSubnetwork": ip.get("privateEndpointSubnetwork", ""),
        "publicEndpoint": ip.get("publicEndpoint", ""),
    }


def _policy(policy: Mapping[str, Any]) -> Properties | None:
    window = policy.get("window") or {}
    state: Properties = {}
    if daily := window.get("dailyMaintenanceWindow"):
        state["dailyMaintenanceWindow"] = {"startTime": daily["startTime"], "duration": daily.get("duration", "")}
    elif recurring := window.get("recurringWindow"):
        found = {**recurring, **(recurring.get("window") or {})}
        state["recurringWindow"] = {name: found.get(name, "") for name in ("startTime", "endTime", "recurrence")}
    else:
        return None
    exclusions = []
    for name, item in (window.get("maintenanceExclusions") or {}).items():
        exclusion: Properties = {"exclusionName": name, "startTime": item.get("startTime", "")}
        options = item.get("maintenanceExclusionOptions")
        if options is not None:
            exclusion["exclusionOptions"] = {"scope": options.get("scope") or "NO_UPGRADES"}
            if behaviour := options.get("endTimeBehavior"):
                exclusion["exclusionOptions"]["endTimeBehavior"] = behaviour
        if item.get("endTime") and not dig(options, "endTimeBehavior"):
            exclusion["endTime"] = item["endTime"]
        exclusions.append(exclusion)
    state["maintenanceExclusions"] = exclusions
    return state
