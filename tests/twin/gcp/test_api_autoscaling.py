"""A cluster's autoscaling: auto-provisioning with defaults, changes, and GKE's rejections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import CLUSTERS, Api, cluster_body

pytestmark = pytest.mark.twin


def limits(**more: int) -> list[dict[str, str]]:
    found = {"cpu": 1000, "memory": 4000, **more}
    return [{"resourceType": name.replace("_", "-"), "maximum": str(high)} for name, high in found.items()]


def nap(**fields: Any) -> dict[str, Any]:
    return {"enableNodeAutoprovisioning": True, "resourceLimits": limits(tpu_v6e_slice=64), **fields}


async def test_omitted_fields_get_defaults(project: Api) -> None:
    made = (await project.add_cluster(autoscaling=nap()))["autoscaling"]
    assert made["autoscalingProfile"] == "BALANCED"
    assert made["autoprovisioningLocations"] == ["us-central1-a", "us-central1-b", "us-central1-c"]
    defaults = made["autoprovisioningNodePoolDefaults"]
    assert defaults["imageType"] == "COS_CONTAINERD"
    assert defaults["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1}
    assert "https://www.googleapis.com/auth/logging.write" in defaults["oauthScopes"]


SCOPES = "https://www.googleapis.com/auth/"


@pytest.mark.parametrize(("asked", "added"), [("devstorage.read_only", ["monitoring.write"]), ("cloud-platform", [])])
async def test_gke_adds_the_scope_of_monitoring(project: Api, asked: str, added: list[str]) -> None:
    own = nap(autoprovisioningNodePoolDefaults={"oauthScopes": [SCOPES + asked]})
    made = (await project.add_cluster(autoscaling=own))["autoscaling"]["autoprovisioningNodePoolDefaults"]
    assert made["oauthScopes"] == [SCOPES + name for name in (asked, *added)]


async def test_empty_upgrade_settings_get_defaults(project: Api) -> None:
    """As the official provider sends them."""
    empty = nap(autoprovisioningNodePoolDefaults={"upgradeSettings": {}})
    for made in ((await project.add_cluster(autoscaling=empty))["autoscaling"], await change(project, **empty)):
        assert made["autoprovisioningNodePoolDefaults"]["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1}


async def change(api: Api, **update: Any) -> dict[str, Any]:
    """The cluster's autoscaling after an update."""
    await api.done("PUT", f"{CLUSTERS}/c1", {"update": {"desiredClusterAutoscaling": update}})
    return dict((await api.call("GET", f"{CLUSTERS}/c1"))["autoscaling"])


async def test_it_is_switched_on_and_off(cluster: Api) -> None:
    on = await change(cluster, **nap(autoscalingProfile="OPTIMIZE_UTILIZATION"))
    assert (on["autoscalingProfile"], len(on["resourceLimits"])) == ("OPTIMIZE_UTILIZATION", 3)
    # as the official provider sends it: false is left out
    off = await change(cluster, autoscalingProfile="OPTIMIZE_UTILIZATION", defaultComputeClassConfig={})
    assert off == {"autoscalingProfile": "OPTIMIZE_UTILIZATION", "defaultComputeClassConfig": {}}
    # the provider repeats limits that are no longer in a Terraform configuration
    again = await change(cluster, autoscalingProfile="BALANCED", resourceLimits=limits())
    assert again == {"autoscalingProfile": "BALANCED", "resourceLimits": limits()}


async def test_fields_that_an_update_omits_stay(cluster: Api) -> None:
    """Google's command-line client sends what its flags name, and whether auto-provisioning is on."""
    account = {"serviceAccount": "nodes@other.iam.gserviceaccount.com"}
    first = await change(cluster, **nap(autoprovisioningNodePoolDefaults={**account, "diskSizeGb": 200}))
    profile = await change(cluster, enableNodeAutoprovisioning=True, autoscalingProfile="OPTIMIZE_UTILIZATION")
    assert profile == {**first, "autoscalingProfile": "OPTIMIZE_UTILIZATION"}
    smaller = await change(cluster, enableNodeAutoprovisioning=True, resourceLimits=limits())
    assert smaller == {**profile, "resourceLimits": limits()}
    named = {"defaultComputeClassConfig": {"enabled": True}, "autoprovisioningNodePoolDefaults": {"diskSizeGb": 300}}
    last = await change(cluster, enableNodeAutoprovisioning=True, **named)
    assert last["defaultComputeClassConfig"] == {"enabled": True}
    defaults = {**smaller["autoprovisioningNodePoolDefaults"], "diskSizeGb": 300}
    assert last["autoprovisioningNodePoolDefaults"] == defaults
    assert defaults["serviceAccount"] == account["serviceAccount"]


REJECTED = [
    (
        {"enableNodeAutoprovisioning": True},
        "Resource limits for cpu, memory must be specified when enabling node autoprovisioning.",
    ),
    (nap(resourceLimits=limits(accelerator=4)), "Invalid resource: accelerator."),
    (
        nap(autoprovisioningLocations=["us-east5-a"]),
        'Invalid node location "us-east5-a": not a zone of region us-central1.',
    ),
    (
        nap(resourceLimits=[*limits()[1:], {"resourceType": "cpu", "minimum": "1"}]),
        "The resource limits for cpu need a maximum.",
    ),
    (
        nap(autoprovisioningNodePoolDefaults={"upgradeSettings": {"strategy": "SURGE"}}),
        "Max surge and max unavailable cannot both be 0.",
    ),
]


@pytest.mark.parametrize(("autoscaling", "message"), REJECTED)
async def test_rejected_at_creation_and_at_change(project: Api, autoscaling: dict[str, Any], message: str) -> None:
    body = {"cluster": cluster_body(autoscaling=autoscaling)}
    assert await project.rejected("POST", CLUSTERS, body, 400) == message
    await project.add_cluster()
    update = {"update": {"desiredClusterAutoscaling": autoscaling}}
    assert await project.rejected("PUT", f"{CLUSTERS}/c1", update, 400) == message
    assert (await project.call("GET", f"{CLUSTERS}/c1"))["autoscaling"] == {"autoscalingProfile": "BALANCED"}


async def test_nodes_run_as_an_account_that_is_there(project: Api) -> None:
    unknown = nap(autoprovisioningNodePoolDefaults={"serviceAccount": "nobody@acme.iam.gserviceaccount.com"})
    message = await project.rejected("POST", CLUSTERS, {"cluster": cluster_body(autoscaling=unknown)}, 400)
    assert message.startswith("The user does not have access to service account")
