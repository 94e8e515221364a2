"""Clusters, by the request sequences of the official provider."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from googleapiclient.discovery_cache import get_static_doc
from tpuplane_twin.gcp.container.updates import Kind, update_fields
from tpuplane_twin.gcp.merge import at
from tpuplane_twin.gcp.projects import project_number

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, PROJECT_PATH, Api, cluster_body

pytestmark = pytest.mark.twin


async def test_create_remove_default_pool_and_read(project: Api) -> None:
    assert await project.rejected("GET", f"{CLUSTERS}/c1", None, 404) == f"Not found: {CLUSTERS[9:]}/c1."
    operation = await project.call("POST", CLUSTERS, {"cluster": cluster_body()})
    assert operation["operationType"] == "CREATE_CLUSTER"
    assert operation["status"] in ("PENDING", "RUNNING")
    assert "progress" not in operation
    await project.wait(operation)
    assert project.backend.clusters["c1"].pools == {
        "default-pool": {"us-central1-a": 1, "us-central1-b": 1, "us-central1-c": 1}
    }
    await project.done("DELETE", f"{CLUSTERS}/c1/nodePools/default-pool")
    assert project.backend.clusters["c1"].pools == {}

    cluster = await project.call("GET", f"{CLUSTERS}/c1")
    assert cluster["status"] == "RUNNING"
    assert cluster["endpoint"] == "127.0.0.1:6443"
    assert base64.b64decode(cluster["masterAuth"]["clusterCaCertificate"]) == b"certificate 0\n"
    assert cluster["currentMasterVersion"] == cluster["initialClusterVersion"]
    assert cluster["currentMasterVersion"].startswith("1.35.4-gke.")
    assert (cluster["network"], cluster["subnetwork"]) == ("net", "sub")
    assert cluster["clusterIpv4Cidr"] == cluster["ipAllocationPolicy"]["clusterIpv4CidrBlock"] == "10.16.0.0/14"
    assert cluster["servicesIpv4Cidr"] == "10.32.0.0/20"
    assert cluster["releaseChannel"] == {"channel": "REGULAR"}
    assert cluster["nodePools"] == []


async def test_a_refresh_reads_the_same_twice(cluster: Api) -> None:
    assert await cluster.call("GET", f"{CLUSTERS}/c1") == await cluster.call("GET", f"{CLUSTERS}/c1")


async def test_labels_need_their_fingerprint(cluster: Api) -> None:
    before = (await cluster.call("GET", f"{CLUSTERS}/c1"))["labelFingerprint"]
    labels = {"resourceLabels": {"team": "research"}, "labelFingerprint": before}
    await cluster.done("POST", f"{CLUSTERS}/c1:setResourceLabels", labels)
    after = await cluster.call("GET", f"{CLUSTERS}/c1")
    assert after["resourceLabels"] == {"team": "research"}
    assert after["labelFingerprint"] != before
    message = await cluster.rejected("POST", f"{CLUSTERS}/c1:setResourceLabels", labels, 400)
    assert message == (
        "Labels could not be set due to fingerprint mismatch; try again with the proper fingerprint: incorrect"
        f' fingerprint supplied was "{before}", the expected one is "{after["labelFingerprint"]}".'
    )


@pytest.mark.parametrize(
    ("update", "field", "value"),
    [
        ({"desiredReleaseChannel": {"channel": "RAPID"}}, "releaseChannel", {"channel": "RAPID"}),
        ({"desiredGcfsConfig": {"enabled": True}}, "nodePoolDefaults.nodeConfigDefaults.gcfsConfig", {"enabled": True}),
        ({"desiredIdentityServiceConfig": {"enabled": True}}, "identityServiceConfig", {"enabled": True}),
        ({"desiredEnableFqdnNetworkPolicy": True}, "networkConfig.enableFqdnNetworkPolicy", True),
        ({"desiredIntraNodeVisibilityConfig": {}}, "networkConfig.enableIntraNodeVisibility", False),
        ({"desiredNodePoolAutoConfigNetworkTags": {"tags": ["t"]}}, "nodePoolAutoConfig.networkTags", {"tags": ["t"]}),
        ({"desiredEnterpriseConfig": {"desiredTier": "ENTERPRISE"}}, "enterpriseConfig.clusterTier", "ENTERPRISE"),
        ({"desiredLocations": ["us-central1-f"]}, "locations", ["us-central1-f"]),
        ({"desiredMasterVersion": "latest"}, "currentMasterVersion", "1.35.4-gke.1200000"),
    ],
)
async def test_update_changes_the_field_and_the_backend(
    cluster: Api, update: dict[str, object], field: str, value: object
) -> None:
    cluster.backend.calls.clear()
    await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": update})
    after = await cluster.call("GET", f"{CLUSTERS}/c1")
    assert at(after, field) == value
    assert after["status"] == "RUNNING"
    assert cluster.backend.calls == [("update_cluster", "c1")]


@pytest.mark.parametrize(
    ("first", "then", "path", "left"),
    [
        (
            {"desiredMonitoringConfig": {"managedPrometheusConfig": {"enabled": False}}},
            {"desiredMonitoringConfig": {"componentConfig": {"enableComponents": ["SYSTEM_COMPONENTS"]}}},
            "monitoringConfig.managedPrometheusConfig",
            {"enabled": False},
        ),
        # without components there are none: the client leaves an empty list out
        (
            {"desiredLoggingConfig": {"componentConfig": {"enableComponents": ["SYSTEM_COMPONENTS"]}}},
            {"desiredLoggingConfig": {"componentConfig": {}}},
            "loggingConfig",
            {"componentConfig": {}},
        ),
        (
            {"desiredSecurityPostureConfig": {"mode": "DISABLED"}},
            {"desiredSecurityPostureConfig": {"vulnerabilityMode": "VULNERABILITY_BASIC"}},
            "securityPostureConfig",
            {"mode": "DISABLED", "vulnerabilityMode": "VULNERABILITY_BASIC"},
        ),
        (
            {"desiredRbacBindingConfig": {"enableInsecureBindingSystemAuthenticated": False}},
            {"desiredRbacBindingConfig": {"enableInsecureBindingSystemUnauthenticated": False}},
            "rbacBindingConfig.enableInsecureBindingSystemAuthenticated",
            False,
        ),
        (
            {"desiredControlPlaneEndpointsConfig": {"dnsEndpointConfig": {"allowExternalTraffic": True}}},
            {"desiredControlPlaneEndpointsConfig": {"ipEndpointsConfig": {"globalAccess": True}}},
            "controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic",
            True,
        ),
        # networks come and go together
        (
            {
                "desiredControlPlaneEndpointsConfig": {
                    "ipEndpointsConfig": {
                        "authorizedNetworksConfig": {"enabled": True, "cidrBlocks": [{"cidrBlock": "10.0.0.0/8"}]}
                    }
                }
            },
            {"desiredControlPlaneEndpointsConfig": {"ipEndpointsConfig": {"authorizedNetworksConfig": {}}}},
            "masterAuthorizedNetworksConfig",
            {},
        ),
        # the official provider reads what an empty object lacks
        (
            {"desiredResourceUsageExportConfig": {"bigqueryDestination": {"datasetId": "usage"}}},
            {"desiredResourceUsageExportConfig": {}},
            "resourceUsageExportConfig",
            None,
        ),
        ({"desiredFleet": {"project": "acme"}}, {"desiredFleet": {}}, "fleet", None),
        ({"desiredFleet": {"project": "acme"}}, {"desiredFleet": {"project": ""}}, "fleet", None),
        # a replaced object: what is left out is gone
        (
            {"desiredDnsConfig": {"clusterDns": "CLOUD_DNS", "clusterDnsScope": "VPC_SCOPE"}},
            {"desiredDnsConfig": {"clusterDns": "KUBE_DNS"}},
            "networkConfig.dnsConfig",
            {"clusterDns": "KUBE_DNS"},
        ),
    ],
)
async def test_an_update_keeps_or_drops_omitted_fields_as_gke_does(
    cluster: Api, first: dict[str, object], then: dict[str, object], path: str, left: object
) -> None:
    for update in (first, then):
        await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": update})
    assert at(await cluster.call("GET", f"{CLUSTERS}/c1"), path) == left


@pytest.mark.parametrize(("message", "kind"), [("ClusterUpdate", "cluster"), ("UpdateNodePoolRequest", "node_pool")])
def test_every_field_of_an_update_lands_where_its_type_is(message: str, kind: Kind) -> None:
    """Google's own types: what is new in them is served, or rejected with a reason."""
    types = json.loads(get_static_doc("container", "v1beta1"))["schemas"]
    updates = update_fields(kind)

    def typed(owner: str, path: str) -> dict[str, Any]:
        field = types[owner]["properties"]
        for name in path.split(".")[:-1]:
            field = types[field[name]["$ref"]]["properties"]
        return dict(field[path.rpartition(".")[2]])

    target = "Cluster" if message == "ClusterUpdate" else "NodePool"
    own = {"etag", "desiredMasterVersion", "desiredNodeVersion", "desiredNodePoolId", "desiredNodePoolAutoscaling"}
    own |= {"additionalPodRangesConfig", "removedAdditionalPodRangesConfig", "desiredImageType"}
    own |= {"clusterId", "name", "nodePoolId", "projectId", "zone", "nodeVersion", "diskType", "diskSizeGb", "bootDisk"}
    for field, schema in types[message]["properties"].items():
        if field in own or field in updates["not_served"]:
            continue
        if field in updates["unwrapped"]:
            inner, path, _ = updates["unwrapped"][field]
            sent = types[schema["$ref"]]["properties"][inner]
        else:
            path, sent = updates["places"][field], schema
        lands = typed(target, path)
        same = [(key, lands.get(key)) for key in ("$ref", "type", "enum") if field != "desiredEnterpriseConfig"]
        assert same == [(key, sent.get(key)) for key, _ in same], field


async def test_a_fleet_has_one_host_project(cluster: Api) -> None:
    number = project_number("hub")
    for project, status in (("hub", 200), (number, 200), ("hub", 200), ("other", 400)):
        update = {"update": {"desiredFleet": {"project": project}}}
        answer = await cluster.call("PUT", f"{CLUSTERS}/c1", update, status=status)
    assert answer["error"]["message"] == "changing existing fleet host project is not supported"
    fleet = (await cluster.call("GET", f"{CLUSTERS}/c1"))["fleet"]
    place = f"projects/{number}/locations/{LOCATION}"
    assert fleet == {"project": "hub", "membership": f"//gkehub.googleapis.com/{place}/memberships/c1"}
    for project in ("", number):
        await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": {"desiredFleet": {"project": project}}})
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["fleet"] == {**fleet, "project": number}


@pytest.mark.parametrize("kind", ["logging", "monitoring"])
async def test_nothing_is_collected(project: Api, kind: str) -> None:
    """As gcloud writes it at creation, and as the provider does in its older field."""
    none = {"componentConfig": {}}
    found = await project.add_cluster(**{f"{kind}Config": none})
    assert (found[f"{kind}Config"]["componentConfig"], found[f"{kind}Service"]) == ({}, "none")
    for service, components in ((f"{kind}.googleapis.com/kubernetes", True), ("none", False)):
        await project.done("POST", f"{CLUSTERS}/c1:set{kind.title()}", {f"{kind}Service": service})
        found = await project.call("GET", f"{CLUSTERS}/c1")
        assert ("enableComponents" in found[f"{kind}Config"]["componentConfig"]) == components
    some = {"componentConfig": {"enableComponents": ["SYSTEM_COMPONENTS"]}}
    await project.done("PUT", f"{CLUSTERS}/c1", {"update": {f"desired{kind.title()}Config": some}})
    assert (await project.call("GET", f"{CLUSTERS}/c1"))[f"{kind}Service"] == f"{kind}.googleapis.com/kubernetes"


async def test_a_setter_without_its_field_means_its_default(cluster: Api) -> None:
    for body, enabled in (({"enabled": True}, True), ({}, False)):
        await cluster.done("POST", f"{CLUSTERS}/c1:setLegacyAbac", body)
        assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["legacyAbac"] == {"enabled": enabled}
    for method in ("setAddons", "setMaintenancePolicy", "setNetworkPolicy"):
        await cluster.done("POST", f"{CLUSTERS}/c1:{method}", {})


async def test_network_policy_needs_its_addon(cluster: Api) -> None:
    policy = {"networkPolicy": {"enabled": True, "provider": "CALICO"}}

    def addon(*, disabled: bool) -> dict[str, object]:
        return {"addonsConfig": {"networkPolicyConfig": {"disabled": disabled}}}

    message = await cluster.rejected("POST", f"{CLUSTERS}/c1:setNetworkPolicy", policy, 400)
    assert message.startswith("The network policy addon must be enabled before updating the nodes")
    await cluster.done("POST", f"{CLUSTERS}/c1:setAddons", addon(disabled=False))
    await cluster.done("POST", f"{CLUSTERS}/c1:setNetworkPolicy", policy)
    assert await cluster.rejected("POST", f"{CLUSTERS}/c1:setAddons", addon(disabled=True), 400) == message


async def test_a_new_cluster_gets_network_policy_with_its_addon(project: Api) -> None:
    policy = {"networkPolicy": {"enabled": True}}
    dataplane = {"networkConfig": {"datapathProvider": "ADVANCED_DATAPATH"}}
    message = await project.rejected("POST", CLUSTERS, {"cluster": cluster_body(**policy, **dataplane)}, 400)
    assert message == "Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed."
    await project.done("POST", CLUSTERS, {"cluster": cluster_body(**policy)})
    found = await project.call("GET", f"{CLUSTERS}/c1")
    assert (found["networkPolicy"], found["addonsConfig"]["networkPolicyConfig"]) == ({"enabled": True}, {})


@pytest.mark.parametrize("locations", [{}, {"locations": []}])
async def test_a_cluster_has_locations(cluster: Api, locations: dict[str, object]) -> None:
    message = "Must specify at least one location."
    assert await cluster.rejected("POST", f"{CLUSTERS}/c1:setLocations", locations, 400) == message
    if locations:
        desired = {"update": {"desiredLocations": []}}
        assert await cluster.rejected("PUT", f"{CLUSTERS}/c1", desired, 400) == message


async def test_node_locations_have_the_primary_zone(project: Api) -> None:
    zonal = CLUSTERS.replace(LOCATION, f"{LOCATION}-a")
    await project.call("POST", zonal, {"cluster": cluster_body("c2", locations=[f"{LOCATION}-a"])})

    async def rejected(zones: list[str]) -> tuple[str, str]:
        desired = {"update": {"desiredLocations": zones}}
        return (
            await project.rejected("PUT", f"{zonal}/c2", desired, 400),
            await project.rejected("POST", f"{zonal}/c2:setLocations", {"locations": zones}, 400),
        )

    assert await rejected([]) == ("Must specify at least one location.",) * 2
    without = f"The node locations must include the cluster's primary zone {LOCATION}-a."
    assert await rejected([f"{LOCATION}-b"]) == (without,) * 2
    both = [f"{LOCATION}-a", f"{LOCATION}-b"]
    await project.call("PUT", f"{zonal}/c2", {"update": {"desiredLocations": both}})
    assert (await project.call("GET", f"{zonal}/c2"))["locations"] == both


@pytest.mark.parametrize("addon", ["rayOperatorConfig", "highScaleCheckpointingConfig"])
async def test_an_addon_update_leaves_the_other_addons(cluster: Api, addon: str) -> None:
    before = (await cluster.call("GET", f"{CLUSTERS}/c1"))["addonsConfig"]
    update = {"desiredAddonsConfig": {addon: {"enabled": True}}}
    await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": update})
    after = (await cluster.call("GET", f"{CLUSTERS}/c1"))["addonsConfig"]
    assert after == {**before, addon: {"enabled": True}}


async def test_an_addon_without_its_switch_is_off(cluster: Api) -> None:
    """As the official provider switches it off."""
    off = {"gcePersistentDiskCsiDriverConfig": {}}

    async def shown(name: str) -> object:
        return (await cluster.call("GET", f"{CLUSTERS}/{name}"))["addonsConfig"]["gcePersistentDiskCsiDriverConfig"]

    on = await shown("c1")
    await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": {"desiredAddonsConfig": off}})
    assert (on, await shown("c1")) == ({"enabled": True}, {})
    body = {"addonsConfig": {"gcePersistentDiskCsiDriverConfig": on}}
    for addons, left in ((body["addonsConfig"], on), (off, {})):
        await cluster.done("POST", f"{CLUSTERS}/c1:setAddons", {"addonsConfig": addons})
        assert await shown("c1") == left
    await cluster.done("DELETE", f"{CLUSTERS}/c1")
    await cluster.add_cluster("c2", addonsConfig=off)
    assert await shown("c2") == {}


async def test_private_endpoint_is_shown_in_both_forms(project: Api) -> None:
    private = {
        "privateClusterConfig": {
            "enablePrivateNodes": True,
            "enablePrivateEndpoint": True,
            "masterIpv4CidrBlock": "172.16.0.0/28",
        },
        "masterAuthorizedNetworksConfig": {
            "enabled": True,
            "cidrBlocks": [{"cidrBlock": "10.0.0.0/8", "displayName": "office"}],
        },
    }
    cluster = await project.add_cluster(**private)
    endpoints = cluster["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]
    assert endpoints["enablePublicEndpoint"] is False
    assert endpoints["authorizedNetworksConfig"] == private["masterAuthorizedNetworksConfig"]
    assert cluster["networkConfig"]["defaultEnablePrivateNodes"] is True
    assert "publicEndpoint" not in cluster["privateClusterConfig"]
    assert cluster["privateClusterConfig"]["privateEndpoint"] == "172.16.0.2"
    assert endpoints["privateEndpoint"] == "172.16.0.2"

    fewer = {"desiredMasterAuthorizedNetworksConfig": {"enabled": True, "cidrBlocks": []}}
    await project.done("PUT", f"{CLUSTERS}/c1", {"update": fewer})
    await project.done("PUT", f"{CLUSTERS}/c1", {"update": {"desiredDefaultEnablePrivateNodes": False}})
    after = await project.call("GET", f"{CLUSTERS}/c1")
    networks = after["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]["authorizedNetworksConfig"]
    assert networks == after["masterAuthorizedNetworksConfig"] == fewer["desiredMasterAuthorizedNetworksConfig"]
    assert after["privateClusterConfig"]["enablePrivateNodes"] is False

    opened = {"desiredControlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enablePublicEndpoint": True}}}
    await project.done("PUT", f"{CLUSTERS}/c1", {"update": opened})
    after = await project.call("GET", f"{CLUSTERS}/c1")
    assert after["privateClusterConfig"]["enablePrivateEndpoint"] is False


async def test_delete_takes_the_pools_along(cluster: Api) -> None:
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": {"name": "p", "initialNodeCount": 1}})
    cluster.backend.hold()
    operation = await cluster.call("DELETE", f"{CLUSTERS}/c1")
    assert (await cluster.call("GET", f"{CLUSTERS}/c1"))["status"] == "STOPPING"
    cluster.backend.go.set()
    assert (await cluster.wait(operation))["operationType"] == "DELETE_CLUSTER"
    await cluster.rejected("GET", f"{CLUSTERS}/c1", None, 404)
    await cluster.rejected("GET", f"{CLUSTERS}/c1/nodePools", None, 404)
    groups = await cluster.call("GET", f"{COMPUTE}/zones/us-central1-a/instanceGroupManagers")
    assert groups["items"] == []
    assert cluster.backend.clusters == {}


async def test_list_by_location_and_everywhere(cluster: Api) -> None:
    here = await cluster.call("GET", CLUSTERS)
    everywhere = await cluster.call("GET", CLUSTERS.replace(LOCATION, "-"))
    elsewhere = await cluster.call("GET", CLUSTERS.replace(LOCATION, "us-east5"))
    assert [found["name"] for found in here["clusters"]] == ["c1"]
    assert here == everywhere
    assert elsewhere["clusters"] == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": "nope"}, 'Project "acme" has no network named "nope".'),
        (
            {"subnetwork": "projects/acme/regions/us-central1/subnetworks/nope"},
            'Subnetwork "projects/acme/regions/us-central1/subnetworks/nope" is not valid for Network "net".',
        ),
        (
            {"ipAllocationPolicy": {"clusterSecondaryRangeName": "nope"}},
            'Pod secondary range "nope" not found in network'
            ' "https://www.googleapis.com/compute/v1/projects/acme/global/networks/net", subnetwork "sub".',
        ),
        (
            {"ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "pods"}},
            "Pod secondary range name (pods) should not be the same as service secondary range name.",
        ),
        (
            {"ipAllocationPolicy": {"servicesIpv4CidrBlock": "10.32.0.0/28"}},
            'Services CIDR block "10.32.0.0/28" is too small: it must be a /27 or larger.',
        ),
        ({"initialClusterVersion": "1.19"}, 'Master version "1.19" is unsupported.'),
        (
            {"initialClusterVersion": "1.35.4-gke.1200000", "releaseChannel": {"channel": "STABLE"}},
            'Master version must be one of "STABLE" channel supported versions [1.35.4-gke.1000000].',
        ),
        (
            {"masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}}},
            "The twin does not serve client certificates; set issue_client_certificate to false.",
        ),
        ({"initialNodeCount": 0}, "Cluster.initial_node_count must be greater than zero."),
        (
            {"nodeConfig": {"machineType": "e2-standard-3"}},
            'Invalid machine type "e2-standard-3" in zone "us-central1-a": GCE_NOT_FOUND',
        ),
        (
            {"nodeConfig": {"serviceAccount": "nobody@acme.iam.gserviceaccount.com"}},
            'The user does not have access to service account "nobody@acme.iam.gserviceaccount.com".'
            " Ask a project owner to grant you the iam.serviceAccountUser role on the service account.",
        ),
    ],
)
async def test_rejected_at_once(project: Api, fields: dict[str, object], message: str) -> None:
    assert await project.rejected("POST", CLUSTERS, {"cluster": cluster_body(**fields)}, 400) == message
    assert (await project.call("GET", CLUSTERS))["clusters"] == []
    assert project.backend.calls == []


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a" * 41, "ends-"])
async def test_invalid_names_are_rejected(project: Api, name: str) -> None:
    message = await project.rejected("POST", CLUSTERS, {"cluster": cluster_body(name)}, 400)
    assert f'"cluster.name": "{name}"' in message


async def test_a_zone_without_the_machine_family(project: Api) -> None:
    subnet = {"name": "sub2", "network": "global/networks/net", "ipCidrRange": "10.1.0.0/20"}
    await project.call("POST", f"{COMPUTE}/regions/us-central2/subnetworks", subnet)
    body = {
        "name": "c2",
        "initialNodeCount": 1,
        "network": "net",
        "subnetwork": "sub2",
        "nodeConfig": {"machineType": "e2-standard-4"},
    }
    message = await project.rejected("POST", CLUSTERS.replace(LOCATION, "us-central2-b"), {"cluster": body}, 400)
    assert message == 'Invalid machine type "e2-standard-4" in zone "us-central2-b": GCE_NOT_FOUND'


async def test_unknown_location(project: Api) -> None:
    path = CLUSTERS.replace(LOCATION, "us-centrall")
    message = await project.rejected("POST", path, {"cluster": cluster_body()}, 403)
    assert message == "Permission denied on 'locations/us-centrall' (or it may not exist)."


async def test_a_second_cluster_of_the_name(cluster: Api) -> None:
    message = await cluster.rejected("POST", CLUSTERS, {"cluster": cluster_body()}, 409)
    assert message == "Already exists: projects/acme/locations/us-central1/clusters/c1."


async def test_clusters_accept_the_versions_of_the_server_config(project: Api) -> None:
    config = await project.call("GET", f"{PROJECT_PATH}/serverConfig")
    channels = {found["channel"]: found for found in config["channels"]}
    only = channels["RAPID"]["defaultVersion"]
    assert only not in [*config["validMasterVersions"], *config["validNodeVersions"]]
    assert config["validNodeVersions"][0] == config["validMasterVersions"][0]
    body = {"cluster": cluster_body(initialClusterVersion=only, releaseChannel={"channel": "REGULAR"})}
    message = await project.rejected("POST", CLUSTERS, body, 400)
    assert message.startswith('Master version must be one of "REGULAR" channel supported versions')
    # the newest of the official provider's `latest_master_version`, in the channel that it does not name
    version = config["validMasterVersions"][0]
    for name, channel, asked in (("c1", "RAPID", only), ("c2", "REGULAR", version), ("c3", "UNSPECIFIED", version)):
        made = await project.add_cluster(name, initialClusterVersion=asked, releaseChannel={"channel": channel})
        assert made["currentMasterVersion"] == asked


@pytest.mark.parametrize(
    ("version", "channel"),
    [("1.35.4-gke.1000000", "STABLE"), ("1.35.4-gke.1200000", "REGULAR"), ("1.36", "RAPID"), ("latest", "REGULAR")],
)
async def test_the_version_of_a_new_cluster_selects_its_channel(project: Api, version: str, channel: str) -> None:
    made = await project.add_cluster(initialClusterVersion=version)
    assert made["releaseChannel"] == {"channel": channel}


async def test_alpha_clusters_are_in_no_channel(project: Api) -> None:
    pool = {"name": "a", "initialNodeCount": 1, "management": {"autoRepair": False, "autoUpgrade": False}}
    body = cluster_body(enableKubernetesAlpha=True, nodePools=[pool])
    await project.done("POST", CLUSTERS, {"cluster": {key: body[key] for key in body if key != "initialNodeCount"}})
    assert not (await project.call("GET", f"{CLUSTERS}/c1"))["releaseChannel"]


async def test_addresses_have_a_network_tier(cluster: Api) -> None:
    """The official provider's test_network_tier_config reads the default, and changes it."""

    async def tier() -> Any:
        return at(await cluster.call("GET", f"{CLUSTERS}/c1"), "ipAllocationPolicy.networkTierConfig.networkTier")

    assert await tier() == "NETWORK_TIER_DEFAULT"
    update = {"desiredNetworkTierConfig": {"networkTier": "NETWORK_TIER_STANDARD"}}
    await cluster.done("PUT", f"{CLUSTERS}/c1", {"update": update})
    assert await tier() == "NETWORK_TIER_STANDARD"


async def test_v1_leaves_out_fields_of_beta(cluster: Api) -> None:
    beta = await cluster.call("GET", f"{CLUSTERS}/c1")
    stable = await cluster.call("GET", f"{CLUSTERS}/c1".replace("/v1beta1/", "/v1/"))
    assert "zone" in beta
    assert stable.pop("selfLink") != beta["selfLink"]
    assert stable.items() <= beta.items()


@pytest.mark.parametrize(
    "fields",
    [
        {"privateClusterConfig": {"enablePrivateNodes": True, "masterIpv4CidrBlock": "172.16.0.0/33"}},
        {"masterAuthorizedNetworksConfig": {"enabled": True, "cidrBlocks": [{"cidrBlock": "everybody"}]}},
    ],
)
async def test_ranges_of_the_control_plane_are_ranges(project: Api, fields: dict[str, object]) -> None:
    body = {"cluster": cluster_body("c1") | fields}
    assert "is not a valid IPv4 CIDR block" in await project.rejected("POST", CLUSTERS, body, 400)


@pytest.mark.parametrize("block", ["172.16.0.0/27", "172.16.0.0/32"])
async def test_the_control_plane_has_a_range_of_its_size(project: Api, block: str) -> None:
    private = {"enablePrivateNodes": True, "masterIpv4CidrBlock": block}
    body = {"cluster": cluster_body("c1", privateClusterConfig=private)}
    assert "must be a /28" in await project.rejected("POST", CLUSTERS, body, 400)


@pytest.mark.parametrize("block", ["/30", "10.8.0.0/32", "10.8.0.1/20", "fd00::/20"])
async def test_a_cluster_s_own_ranges_are_ranges(project: Api, block: str) -> None:
    for field in ("clusterIpv4CidrBlock", "servicesIpv4CidrBlock"):
        body = {"cluster": cluster_body("c1", ipAllocationPolicy={field: block})}
        assert "Invalid CIDR block" in await project.rejected("POST", CLUSTERS, body, 400)
