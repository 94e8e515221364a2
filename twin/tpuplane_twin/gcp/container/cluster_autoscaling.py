"""A cluster's `autoscaling`: what GKE fills in, and what it refuses of node auto-provisioning."""

from __future__ import annotations

from tpuplane.tpu import Generation, GkeVersion, catalogue

from tpuplane_twin.gcp.container.accounts import check_service_account
from tpuplane_twin.gcp.container.pool_defaults import SCOPES, check_zones
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_DEFAULTS: Json = {
    "oauthScopes": list(SCOPES),
    "serviceAccount": "default",
    "imageType": "COS_CONTAINERD",
    "diskType": "pd-balanced",
    "diskSizeGb": 100,
    "management": {"autoRepair": True, "autoUpgrade": True},
    "upgradeSettings": {"strategy": "SURGE", "maxSurge": 1},
}
_REQUIRED = ("cpu", "memory")


def complete_autoscaling(cluster: Json, asked: Json) -> Json:
    """The autoscaling of a cluster of which `asked` was asked, with every default."""
    autoscaling: Json = {"autoscalingProfile": "BALANCED", **asked}
    if not autoscaling.get("enableNodeAutoprovisioning"):
        return autoscaling
    given = autoscaling.get("autoprovisioningNodePoolDefaults", {})
    # An object that is given means what it says: a switch left out is off, a number left out 0.
    defaults = {**_DEFAULTS, **given}
    defaults["upgradeSettings"] = {"strategy": "SURGE", **defaults["upgradeSettings"]}
    autoscaling["autoprovisioningNodePoolDefaults"] = defaults
    autoscaling["autoprovisioningLocations"] = asked.get("autoprovisioningLocations") or list(cluster["locations"])
    return autoscaling


def check_autoscaling(store: Store, project: str, cluster: Json) -> None:
    """Refuse what GKE refuses; `cluster` is as it would be."""
    autoscaling = cluster["autoscaling"]
    limits: list[Json] = autoscaling.get("resourceLimits", [])
    if not autoscaling.get("enableNodeAutoprovisioning"):
        if limits:
            # GKE's words: aptos-labs/aptos-core#5645
            raise invalid("Resource limits are supported only with node autoprovisioning.")
        return
    names = [str(limit.get("resourceType", "")) for limit in limits]
    missing = ", ".join(name for name in _REQUIRED if name not in names)
    if missing:  # GKE's words: hashicorp/terraform-provider-google#24232
        raise invalid(f"Resource limits for {missing} must be specified when enabling node autoprovisioning.")
    for limit, name in zip(limits, names, strict=True):
        if names.count(name) > 1:
            raise invalid(f"Resource limits must be unique; {name} is given twice.")
        _check_limit(cluster, name, int(limit.get("minimum", 0)), int(limit.get("maximum", 0)))
    check_zones(autoscaling["autoprovisioningLocations"], cluster["location"])
    _check_defaults(store, project, cluster)


def tpu_types() -> dict[str, Generation]:
    """The TPU types that limits can name, each with its generation."""
    return {generation.label: generation for generation in catalogue().generations if generation.nap_min_version}


def _check_limit(cluster: Json, name: str, low: int, high: int) -> None:
    types = tpu_types()
    # GPUs go by their names, of which there are new ones every year.
    if name not in (*_REQUIRED, *types) and not name.startswith("nvidia-"):
        raise invalid(f"Invalid resource: {name}.")  # GKE's words: hashicorp/terraform-provider-google#11589
    if high < 1 or not 0 <= low <= high:
        raise invalid(f"Invalid limits of resource {name}: minimum {low}, maximum {high}.")
    needed = types[name].nap_min_version if name in types else None
    if needed is not None and GkeVersion.parse(cluster["currentMasterVersion"]) < GkeVersion.minimum(needed):
        raise invalid(
            f"Node autoprovisioning of {name} needs GKE version {needed} or later; "
            f"the cluster has {cluster['currentMasterVersion']}."
        )


def _check_defaults(store: Store, project: str, cluster: Json) -> None:
    defaults = cluster["autoscaling"]["autoprovisioningNodePoolDefaults"]
    check_service_account(store, project, {"config": defaults})
    channel = cluster.get("releaseChannel", {}).get("channel", "UNSPECIFIED")
    if channel != "UNSPECIFIED" and not defaults["management"].get("autoUpgrade"):
        raise invalid(f"Auto_upgrade cannot be false when release_channel {channel} is set.")
    upgrade = defaults["upgradeSettings"]
    if upgrade["strategy"] == "SURGE" and not (upgrade.get("maxSurge") or upgrade.get("maxUnavailable")):
        raise invalid("Max surge and max unavailable cannot both be 0.")
