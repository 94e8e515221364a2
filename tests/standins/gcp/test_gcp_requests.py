"""The stand-in makes the official plugin's requests, in its order, with its bodies."""

from __future__ import annotations

import pytest
from tpuplane_standins.providers.contract import InitFailed, ProviderError

from tests.support.providers.gcp_driver import (
    ACCOUNT,
    CLUSTER,
    FIREWALL,
    IAM_MEMBER,
    NETWORK,
    NODE_POOL,
    RESOURCE_POLICY,
    ROUTER,
    ROUTER_NAT,
    Deployed,
    Driver,
    cluster_inputs,
    pool_inputs,
)
from tests.support.providers.google_api import GoogleApi
from tests.support.providers.platform_on_api import deploy_on

pytestmark = pytest.mark.twin

PLACE = "/v1beta1/projects/acme/locations/us-central1"
C1 = f"{PLACE}/clusters/c1"
POOL = f"{C1}/nodePools/slice"
POLL = f"GET {PLACE}/operations/O"
COMPUTE = "/compute/beta/projects/acme"
MANAGERS = f"GET {COMPUTE}/zones/us-central1-b/instanceGroupManagers"


def test_cluster_create_refresh_delete(api: GoogleApi, driver: Driver, subnetwork: Deployed) -> None:
    api.taken()
    cluster = driver.create(CLUSTER, "c1", **cluster_inputs())
    body = api.body("POST", "/clusters")["cluster"]
    assert body["resourceLabels"] == {"team": "research", "goog-pulumi-provisioned": "true"}
    assert body["network"] == "projects/acme/global/networks/net"
    assert body["subnetwork"] == "projects/acme/regions/us-central1/subnetworks/sub"
    assert body["ipAllocationPolicy"]["useIpAliases"] is True
    assert body["networkConfig"] == {"datapathProvider": "ADVANCED_DATAPATH", "defaultEnablePrivateNodes": True}
    assert body["rbacBindingConfig"]["enableInsecureBindingSystemAuthenticated"] is False
    assert body["addonsConfig"]["rayOperatorConfig"]["rayClusterLoggingConfig"] == {"enabled": True}
    assert body["monitoringConfig"]["managedPrometheusConfig"] == {"enabled": True}
    assert body["nodeConfig"]["oauthScopes"][0].endswith("/devstorage.read_only")
    assert api.taken() == [
        f"GET {C1}",
        f"POST {PLACE}/clusters",
        POLL,
        f"DELETE {C1}/nodePools/default-pool",
        POLL,
        f"GET {C1}",
        f"GET {C1}",
    ]
    driver.refresh(cluster)
    assert api.taken() == [f"GET {C1}"]
    driver.delete(cluster)
    assert api.taken() == [f"GET {C1}", f"DELETE {C1}", POLL]
    assert driver.refresh(cluster) is None


def test_node_pool_create_refresh_delete(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    body = api.body("POST", "/nodePools")["nodePool"]
    assert body["autoscaling"] == {
        "enabled": True,
        "minNodeCount": 0,
        "maxNodeCount": 4,
        "totalMinNodeCount": 0,
        "totalMaxNodeCount": 0,
        "locationPolicy": "ANY",
    }
    assert body["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert body["config"]["diskSizeGb"] == 100
    assert "initialNodeCount" not in body
    assert api.taken() == [f"GET {POOL}", f"POST {C1}/nodePools", POLL, f"GET {C1}/nodePools", MANAGERS, f"GET {POOL}"]
    driver.configure(api.config)  # the next `pulumi` command starts with empty caches
    driver.refresh(pool)
    assert api.taken() == [f"GET {C1}/nodePools", MANAGERS]
    driver.refresh(pool)
    assert api.taken() == []
    driver.delete(pool)
    assert api.taken() == [f"GET {POOL}", f"DELETE {POOL}", POLL]
    assert driver.refresh(pool) is None


def sent(api: GoogleApi) -> list[tuple[str, str, object]]:
    """The requests that change something, since the last look."""
    found = [(item.method, item.path, item.body) for item in api.requests if item.method != "GET"]
    api.requests.clear()
    return found


def test_node_pool_updates(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    api.requests.clear()
    pool = driver.update(pool, autoscaling={"minNodeCount": 4, "maxNodeCount": 4, "locationPolicy": "ANY"})
    scaling = {"enabled": True, "minNodeCount": 4, "maxNodeCount": 4, "locationPolicy": "ANY"}
    [(method, path, body)] = sent(api)
    assert (method, path) == ("PUT", C1)
    assert body["update"]["desiredNodePoolId"] == "slice"
    assert body["update"]["desiredNodePoolAutoscaling"].items() >= scaling.items()

    config = {**pool_inputs()["nodeConfig"], "labels": {"a/b": "c"}}
    pool = driver.update(pool, nodeConfig=config)
    assert sent(api) == [("PUT", POOL, {"name": "slice", "labels": {"labels": {"a/b": "c"}}})]

    pool = driver.update(pool, upgradeSettings={"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 2})
    [(method, path, body)] = sent(api)
    assert (method, path) == ("PUT", POOL)
    assert body["upgradeSettings"] == {"strategy": "SURGE", "maxUnavailable": 2}

    # Google rejects this one; the request is what counts.
    with pytest.raises(InitFailed, match="googleapi: Error 400"):
        driver.update(pool, management={"autoRepair": True, "autoUpgrade": False})
    management = {"management": {"autoRepair": True, "autoUpgrade": False}}
    assert sent(api) == [("POST", f"{POOL}:setManagement", management)]
    assert not driver.changes(pool)


def test_a_pool_names_its_cluster_by_any_link(driver: Driver, cluster: Deployed) -> None:
    for index, link in enumerate((cluster.id, cluster.state["selfLink"], f"//container.googleapis.com/{cluster.id}")):
        inputs = pool_inputs(name=f"slice-{index}", cluster=link)
        del inputs["location"]
        pool = driver.create(NODE_POOL, "slice", **inputs)
        assert (pool.id, pool.state["location"]) == (f"{cluster.id}/nodePools/slice-{index}", "us-central1")
        assert not driver.changes(pool)
    with pytest.raises(ProviderError, match="googleapi: Error 404"):
        driver.create(NODE_POOL, "slice", **pool_inputs(cluster="projects/acme/c1"))
    with pytest.raises(ProviderError, match="Cannot specify both name and name_prefix for a node_pool"):
        driver.create(NODE_POOL, "slice", **pool_inputs(namePrefix="slice-"))


def test_changed_topology_sends_nothing_and_stays_changed(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    other = {"type": "COMPACT", "tpuTopology": "2x4"}
    api.requests.clear()
    changes = driver.changes(pool, placementPolicy=other)
    assert {path: change.replaces for path, change in changes.items()} == {"placementPolicy.tpuTopology": False}
    pool = driver.update(pool, placementPolicy=other)
    assert sent(api) == []
    assert list(driver.changes(pool)) == ["placementPolicy.tpuTopology"]


def test_cluster_updates(api: GoogleApi, driver: Driver, cluster: Deployed) -> None:
    fingerprint = cluster.state["labelFingerprint"]
    cluster = driver.update(cluster, resourceLabels={"team": "serving"})
    labels = {"team": "serving", "goog-pulumi-provisioned": "true"}
    body = {"labelFingerprint": fingerprint, "resourceLabels": labels}
    assert sent(api) == [("POST", f"{C1}:setResourceLabels", body)]

    cluster = driver.update(cluster, releaseChannel={"channel": "RAPID"})
    assert sent(api) == [("PUT", C1, {"update": {"desiredReleaseChannel": {"channel": "RAPID"}}})]

    cluster = driver.update(cluster, anonymousAuthenticationConfig={"mode": "LIMITED"})
    assert sent(api) == [("PUT", C1, {"update": {"desiredAnonymousAuthenticationConfig": {"mode": "LIMITED"}}})]

    window = {"startTime": "2026-01-03T00:00:00Z", "endTime": "2026-01-03T08:00:00Z", "recurrence": "FREQ=DAILY"}
    cluster = driver.update(cluster, maintenancePolicy={"recurringWindow": window})
    [(method, path, policy)] = sent(api)
    assert (method, path) == ("POST", f"{C1}:setMaintenancePolicy")
    assert policy["maintenancePolicy"]["window"]["recurringWindow"]["recurrence"] == "FREQ=DAILY"
    assert policy["maintenancePolicy"]["resourceVersion"]
    assert not driver.changes(cluster)


def test_compute_resources(api: GoogleApi, driver: Driver, subnetwork: Deployed) -> None:
    api.requests.clear()
    driver.update(subnetwork, privateIpGoogleAccess=True)
    path = f"{COMPUTE}/regions/us-central1/subnetworks/sub"
    assert sent(api) == [("POST", f"{path}/setPrivateIpGoogleAccess", {"privateIpGoogleAccess": True})]

    router = driver.create(ROUTER, "router", name="router", network="net", region="us-central1")
    [(method, _, body)] = sent(api)
    # as the official plugin does: the beta API was asked, and the state names v1
    link = "https://www.googleapis.com/compute/v1/projects/acme"
    assert (router.state["network"], router.state["selfLink"]) == (
        f"{link}/global/networks/net",
        f"{link}/regions/us-central1/routers/router",
    )
    assert body == {
        "name": "router",
        "network": "projects/acme/global/networks/net",
        "region": "projects/acme/regions/us-central1",
    }
    nat = driver.create(
        ROUTER_NAT,
        "nat",
        name="nat",
        router="router",
        region="us-central1",
        natIpAllocateOption="AUTO_ONLY",
        sourceSubnetworkIpRangesToNat="ALL_SUBNETWORKS_ALL_IP_RANGES",
    )
    [(method, path, body)] = sent(api)
    assert (method, path) == ("PATCH", f"{COMPUTE}/regions/us-central1/routers/router")
    assert [item["name"] for item in body["nats"]] == ["nat"]
    assert nat.id == "acme/us-central1/router/nat"
    driver.delete(nat)
    assert sent(api) == [("PATCH", path, {"nats": []})]
    driver.delete(router)
    assert sent(api) == [("DELETE", path, None)]


def test_a_subnetwork_grows_and_exchanges_a_range_in_place(
    api: GoogleApi, driver: Driver, subnetwork: Deployed
) -> None:
    api.requests.clear()
    grown = driver.update(subnetwork, ipCidrRange="10.0.0.0/19")
    path = f"{COMPUTE}/regions/us-central1/subnetworks/sub"
    assert sent(api) == [("POST", f"{path}/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/19"})]
    assert grown.state["ipCidrRange"] == "10.0.0.0/19"
    pods, _ = subnetwork.inputs["secondaryIpRanges"]
    exchanged = driver.update(grown, secondaryIpRanges=[pods, {"rangeName": "more", "ipCidrRange": "10.64.0.0/20"}])
    assert [len(body["secondaryIpRanges"]) for _, _, body in sent(api)] == [1, 2]
    assert [item["rangeName"] for item in exchanged.state["secondaryIpRanges"]] == ["pods", "more"]


def test_identities(api: GoogleApi, driver: Driver) -> None:
    account = driver.create(ACCOUNT, "nodes", accountId="tpu-nodes", displayName="TPU nodes")
    name = "projects/acme/serviceAccounts/tpu-nodes@acme.iam.gserviceaccount.com"
    assert api.taken() == [f"POST /iam/v1/{name.rpartition('/')[0]}", *[f"GET /iam/v1/{name}"] * 3]
    assert account.id == name
    role = {"project": "acme", "role": "roles/logging.logWriter", "member": account.state["member"]}
    member = driver.create(IAM_MEMBER, "logs", **role)
    policy = "/crm/v1/projects/acme"
    reads = [f"POST {policy}:getIamPolicy"]
    assert api.body("POST", ":setIamPolicy")["updateMask"] == "bindings,etag,auditConfigs"
    assert api.taken() == [*reads, f"POST {policy}:setIamPolicy", *reads * 4]
    assert member.id == f"acme/roles/logging.logWriter/{account.state['member']}"
    email = account.state["email"]
    assert {driver.read(ACCOUNT, short).id for short in (name, f"acme/{email}", email)} == {name}
    condition = {"title": "at night", "expression": "true"}
    driver.create(IAM_MEMBER, "night", **role, condition=condition)
    found = driver.read(IAM_MEMBER, f"acme {role['role']} {role['member']} at night")
    assert found.state["condition"] == condition
    assert driver.read(IAM_MEMBER, f"acme {role['role']} {role['member']}").state.get("condition") is None
    driver.delete(member)
    assert driver.refresh(member) is None


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (NETWORK, {"autoCreateSubnetworks": False, "routingMode": "GLOBAL"}),
        (FIREWALL, {"network": "net", "allows": [{"protocol": "tcp", "ports": ["443"]}], "sourceTags": ["web"]}),
        (RESOURCE_POLICY, {"workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}}),
        (ROUTER, {"network": "net", "bgp": {"asn": 64514}}),
    ],
)
def test_nothing_changes_by_itself(driver: Driver, subnetwork: Deployed, token: str, inputs: dict[str, object]) -> None:
    """After create, after refresh and after import a preview of the same program shows no change."""
    created = driver.create(token, "thing", **inputs)
    assert not driver.changes(created)
    refreshed = driver.refresh(created)
    assert refreshed is not None
    assert refreshed.state == created.state
    assert not driver.changes(refreshed)
    imported = driver.read(token, created.id)
    assert imported.id == created.id
    assert not driver.changes(imported)


def test_clusters_and_pools_do_not_change_by_themselves(driver: Driver, cluster: Deployed) -> None:
    assert not driver.changes(cluster)
    pool = driver.create(NODE_POOL, "slice", **pool_inputs())
    assert not driver.changes(pool)
    # The pool is now listed inside its cluster.
    refreshed = driver.refresh(cluster)
    assert refreshed is not None
    assert [item["name"] for item in refreshed.state["nodePools"]] == ["slice"]
    assert not driver.changes(refreshed)
    imported = driver.read(NODE_POOL, pool.id)
    assert not driver.changes(imported)
    short = driver.read(NODE_POOL, "us-central1/c1/slice")
    assert short.id == pool.id


def test_a_tpu7x_slice_stays_as_it_is_at_the_next_update(driver: Driver) -> None:
    """GKE stores a policy's placement without a type: any type in addition differs in every preview."""
    ironwood = {"generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"}
    cluster = {"location": "us-central1", "pools": {"ironwood": ironwood}}
    made = deploy_on(driver, {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}}, {})
    (pool,) = (created.resource for created in made if created.resource.inputs.get("name") == "ironwood-0")
    found = driver.refresh(pool)
    assert found is not None
    assert not driver.changes(found)
    typed = {**found.inputs["placementPolicy"], "type": "COMPACT"}
    assert driver.changes(found, placementPolicy=typed).keys() == {"placementPolicy.type"}
