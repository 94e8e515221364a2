"""A cluster's `autoscaling`: GKE's defaults, and the rules of node auto-provisioning."""

from __future__ import annotations

from copy import deepcopy

from tpuplane.tpu import catalogue

from tpuplane_twin.gcp.container.access_rules import check_service_account
from tpuplane_twin.gcp.container.pool_defaults import check_zones
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import data
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView

_REQUIRED = ("cpu", "memory")
_AUTO_PROVISIONING = ("autoprovisioningLocations", "autoprovisioningNodePoolDefaults", "resourceLimits")


def complete_autoscaling(cluster: Json, autoscaling: Json, asked: Json) -> Json:
    """A cluster's `autoscaling` with every default; `asked` is the request.

    Without auto-provisioning its fields are removed.
    """
    autoscaling = {"autoscalingProfile": "BALANCED", **autoscaling}
    if not autoscaling.get("enableNodeAutoprovisioning"):
        return {key: value for key, value in autoscaling.items() if key in asked or key not in _AUTO_PROVISIONING}
    # In a given object, a switch that is left out is off, a number is 0.
    usual = {"oauthScopes": data("defaults")["scopes"], **data("defaults")["auto_provisioning"]}
    defaults = {**deepcopy(usual), **autoscaling.get("autoprovisioningNodePoolDefaults", {})}
    defaults["upgradeSettings"] = {"strategy": "SURGE", **defaults["upgradeSettings"]}
    autoscaling["autoprovisioningNodePoolDefaults"] = defaults
    autoscaling["autoprovisioningLocations"] = autoscaling.get("autoprovisioningLocations") or cluster["locations"]
    return autoscaling


def check_autoscaling(store: Store, project: str, cluster: Json) -> None:
    """Reject what GKE rejects; `cluster` is the changed cluster."""
    view = ClusterView(cluster)
    limits = view.resource_limits
    if not view.auto_provisioning:
        if limits:
            # GKE's words: aptos-labs/aptos-core#5645
            raise invalid("Resource limits are supported only with node autoprovisioning.")
        return
    names = [str(limit.get("resourceType", "")) for limit in limits]
    missing = ", ".join(name for name in _REQUIRED if name not in names)
    if missing:  # GKE's words: hashicorp/terraform-provider-google#24232
        raise invalid(f"Resource limits for {missing} must be specified when enabling node autoprovisioning.")
    tpus = (generation.label for generation in catalogue().generations if generation.nap_min_version)
    allowed = (*_REQUIRED, *tpus)
    for name in names:
        # GPUs have their own names, and new ones appear every year.
        if name not in allowed and not name.startswith("nvidia-"):
            raise invalid(f"Invalid resource: {name}.")  # GKE's words: hashicorp/terraform-provider-google#11589
    check_zones(view.auto_provisioning_zones, view.location)
    _check_defaults(store, project, view)


def _check_defaults(store: Store, project: str, cluster: ClusterView) -> None:
    defaults = cluster.auto_provisioning_defaults
    check_service_account(store, project, {"config": defaults})
    if cluster.on_channel and not defaults["management"].get("autoUpgrade"):
        raise invalid(f"Auto_upgrade cannot be false when release_channel {cluster.channel} is set.")
    upgrade = defaults["upgradeSettings"]
    if upgrade["strategy"] == "SURGE" and not (upgrade.get("maxSurge") or upgrade.get("maxUnavailable")):
        raise invalid("Max surge and max unavailable cannot both be 0.")
