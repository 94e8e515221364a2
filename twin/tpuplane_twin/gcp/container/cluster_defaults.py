"""GKE's defaults of a new cluster."""

import uuid
from copy import deepcopy

from tpuplane_twin.gcp.container.pool_defaults import upgrade_settings
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.locations import default_zones
from tpuplane_twin.gcp.merge import at, overlay, put_at
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.versions import image_type, master_version, selected_channel
from tpuplane_twin.gcp.views import ClusterView

_WHOLE = (
    "loggingConfig.componentConfig",
    "monitoringConfig.componentConfig",
    "monitoringConfig.managedPrometheusConfig",
)
_NONE = "none"
_SCOPES = "https://www.googleapis.com/auth/"
_MONITORING = frozenset(f"{_SCOPES}{name}" for name in ("monitoring.write", "monitoring", "cloud-platform"))
_AUTO_PROVISIONING = ("autoprovisioningLocations", "autoprovisioningNodePoolDefaults", "resourceLimits")


def complete_cluster(asked: Json, project: str, location: str, network: Json) -> Json:
    """The requested cluster with every default and its network fields."""
    asked = {key: value for key, value in asked.items() if key not in ("nodePools", "nodeConfig", "etag")}
    cluster = overlay(overlay(data("defaults")["cluster"], asked), network)
    # In a given object, a switch that is left out is off, and a list that is left out is empty.
    for path in (*_WHOLE, *(f"addonsConfig.{addon}" for addon in asked.get("addonsConfig", {}))):
        if (given := at(asked, path)) is not None:
            put_at(cluster, path, given)
    mirror_collection(cluster, asked)
    if ClusterView(asked).network_policy:
        # CIS Google Kubernetes Engine Benchmark 1.5, "Ensure Network Policy is Enabled": a new cluster gets the add-on.
        cluster["addonsConfig"]["networkPolicyConfig"] = asked.get("addonsConfig", {}).get("networkPolicyConfig", {})
    cluster["locations"] = list(asked.get("locations") or default_zones(location))
    cluster["autoscaling"] = complete_autoscaling(cluster, asked.get("autoscaling", {}), asked.get("autoscaling", {}))
    wanted = asked.get("initialClusterVersion")
    if "releaseChannel" not in asked and asked.get("enableKubernetesAlpha"):
        cluster["releaseChannel"] = {}  # it is never upgraded
    elif "releaseChannel" not in asked and (name := selected_channel(wanted)):
        cluster["releaseChannel"] = {"channel": name}
    version = master_version(wanted, ClusterView(cluster).channel)
    cluster["initialClusterVersion"] = cluster["currentMasterVersion"] = version
    cluster.update(
        id=uuid.uuid4().hex + uuid.uuid4().hex,
        location=location,
        zone=location,
        createTime=now(),
        nodeIpv4CidrSize=24,
        status="PROVISIONING",
    )
    mirror_control_plane_access(cluster, asked)
    number = project_number(project)
    cluster["controlPlaneEndpointsConfig"].setdefault("dnsEndpointConfig", {}).setdefault(
        "endpoint", f"gke-{cluster['id'][:28]}-{number}.{location}.gke.goog"
    )
    return cluster


def complete_autoscaling(cluster: Json, autoscaling: Json, asked: Json) -> Json:
    """A cluster's `autoscaling` with every default; `asked` is the request.

    Without auto-provisioning its fields are removed, if the request does not have them.
    """
    autoscaling = {"autoscalingProfile": "BALANCED", **autoscaling}
    if not autoscaling.get("enableNodeAutoprovisioning"):
        return {key: value for key, value in autoscaling.items() if key in asked or key not in _AUTO_PROVISIONING}
    # In a given object, a switch that is left out is off, a number is 0.
    usual = {"oauthScopes": data("defaults")["scopes"], **data("defaults")["auto_provisioning"]}
    defaults = {**deepcopy(usual), **autoscaling.get("autoprovisioningNodePoolDefaults", {})}
    if not _MONITORING.intersection(defaults["oauthScopes"]):  # the official provider expects that GKE adds it
        defaults["oauthScopes"] = [*defaults["oauthScopes"], f"{_SCOPES}monitoring.write"]
    defaults["imageType"] = image_type(defaults["imageType"])
    defaults["upgradeSettings"] = upgrade_settings(defaults["upgradeSettings"])
    autoscaling["autoprovisioningNodePoolDefaults"] = defaults
    autoscaling["autoprovisioningLocations"] = autoscaling.get("autoprovisioningLocations") or cluster["locations"]
    return autoscaling


def mirror_collection(cluster: Json, asked: Json) -> None:
    """Copy logging and monitoring between their old and their new form; `asked` is the form that the request sets."""
    usual = data("defaults")["cluster"]
    for kind in ("logging", "monitoring"):
        service, config = f"{kind}Service", f"{kind}Config"
        components = at(asked, f"{config}.componentConfig")
        if components is not None:
            cluster[service] = usual[service] if components.get("enableComponents") else _NONE
        elif service in asked:
            cluster[config]["componentConfig"] = {} if asked[service] == _NONE else usual[config]["componentConfig"]


def mirror_control_plane_access(cluster: Json, asked: Json) -> None:
    """Copy control-plane access between its old and its new form; `asked` is the form that the request sets.

    GKE shows privateClusterConfig and masterAuthorizedNetworksConfig in addition to controlPlaneEndpointsConfig.
    """
    private: Json = cluster.setdefault("privateClusterConfig", {})
    network: Json = cluster.setdefault("networkConfig", {})
    endpoints: Json = cluster.setdefault("controlPlaneEndpointsConfig", {})
    ip: Json = endpoints.setdefault("ipEndpointsConfig", {})
    asked_ip = at(asked, "controlPlaneEndpointsConfig.ipEndpointsConfig", {})
    if "enablePublicEndpoint" in asked_ip:
        private["enablePrivateEndpoint"] = not asked_ip["enablePublicEndpoint"]
    elif "privateClusterConfig" in asked:
        ip["enablePublicEndpoint"] = not private.get("enablePrivateEndpoint", False)
    if "authorizedNetworksConfig" in asked_ip:
        cluster["masterAuthorizedNetworksConfig"] = asked_ip["authorizedNetworksConfig"]
    elif "masterAuthorizedNetworksConfig" in asked:
        ip["authorizedNetworksConfig"] = cluster["masterAuthorizedNetworksConfig"]
    if "defaultEnablePrivateNodes" in asked.get("networkConfig", {}):
        private["enablePrivateNodes"] = network["defaultEnablePrivateNodes"]
    elif "enablePrivateNodes" in asked.get("privateClusterConfig", {}):
        network["defaultEnablePrivateNodes"] = private["enablePrivateNodes"]
    ip.setdefault("enabled", True)
    ip.setdefault("enablePublicEndpoint", True)
    ip.setdefault("globalAccess", bool(at(private, "masterGlobalAccessConfig.enabled")))
    ip.setdefault("authorizedNetworksConfig", cluster.get("masterAuthorizedNetworksConfig", {}))
