"""Cloud KMS keys, and GKE's rules for the keys of clusters and node pools."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.gcp.twin_api import Api, cluster_body, slice_pool

pytestmark = pytest.mark.twin

RINGS = "/kms/v1/projects/acme/locations/us-central1/keyRings"
KEY = "projects/acme/locations/us-central1/keyRings/ring/cryptoKeys/secrets"
CLUSTERS = "/v1beta1/projects/acme/locations/us-central1/clusters"
SERVICE = "/serviceusage/v1beta1/projects/acme/services"
ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


async def add_key(api: Api, **fields: Any) -> Any:
    await api.call("POST", f"{RINGS}?keyRingId=ring", {})
    return await api.call(
        "POST", f"{RINGS}/ring/cryptoKeys?cryptoKeyId=secrets", {"purpose": "ENCRYPT_DECRYPT", **fields}
    )


async def agent(api: Api) -> str:
    made = await api.call("POST", f"{SERVICE}/container.googleapis.com:generateServiceIdentity", {})
    assert made["done"]
    email: str = made["response"]["email"]
    return email


async def allow(api: Api, email: str, role: str = ROLE, on: str = f"/kms/v1/{KEY}") -> None:
    binding = {"role": role, "members": [f"serviceAccount:{email}"]}
    await api.call("POST", f"{on}:setIamPolicy", {"policy": {"bindings": [binding]}})


async def test_a_key_has_a_primary_version_until_that_is_destroyed(api: Api) -> None:
    made = await add_key(api)
    assert made["name"] == KEY
    assert made["primary"]["state"] == "ENABLED"
    version = made["primary"]["name"]
    destroyed = await api.call("POST", f"/kms/v1/{version}:destroy", {})
    assert destroyed["state"] == "DESTROY_SCHEDULED"
    await api.rejected("POST", f"/kms/v1/{version}:destroy", {}, 400)
    found = await api.call("GET", f"/kms/v1/{KEY}")
    assert found["primary"]["state"] == "DESTROY_SCHEDULED"


async def test_a_version_is_destroyed_after_fractions_of_a_second(api: Api) -> None:
    made = await add_key(api, destroyScheduledDuration="86400.5s")
    destroyed = await api.call("POST", f"/kms/v1/{made['primary']['name']}:destroy", {})
    left = datetime.fromisoformat(destroyed["destroyTime"]) - datetime.fromisoformat(made["createTime"])
    assert left >= timedelta(days=1, seconds=0.5)


async def test_the_time_until_destruction_is_limited(api: Api) -> None:
    await api.call("POST", f"{RINGS}?keyRingId=ring", {})
    path = f"{RINGS}/ring/cryptoKeys?cryptoKeyId=secrets"
    asked = {"purpose": "ENCRYPT_DECRYPT", "destroyScheduledDuration": "99999999999999s"}
    assert "120 days" in await api.rejected("POST", path, asked, 400)


async def test_names_stay_taken(api: Api) -> None:
    await add_key(api)
    taken = await api.rejected("POST", f"{RINGS}?keyRingId=ring", {}, 409)
    assert taken == "KeyRing projects/acme/locations/us-central1/keyRings/ring already exists."
    again = {"purpose": "ENCRYPT_DECRYPT"}
    await api.rejected("POST", f"{RINGS}/ring/cryptoKeys?cryptoKeyId=secrets", again, 409)


async def test_a_list_needs_a_location_and_an_existing_ring(api: Api) -> None:
    await add_key(api)
    everywhere = RINGS.replace("us-central1", "-")
    for path, code in ((everywhere, 400), (f"{everywhere}/none/cryptoKeys", 400), (f"{RINGS}/none/cryptoKeys", 404)):
        await api.rejected("GET", path, None, code)


async def test_rotation_needs_its_next_time(api: Api) -> None:
    await api.call("POST", f"{RINGS}?keyRingId=ring", {})
    path = f"{RINGS}/ring/cryptoKeys?cryptoKeyId=secrets"
    rotated = {"purpose": "ENCRYPT_DECRYPT", "rotationPeriod": "7776000s"}
    assert "next_rotation_time" in await api.rejected("POST", path, rotated, 400)
    short = {**rotated, "rotationPeriod": "60s", "nextRotationTime": "2030-01-01T00:00:00Z"}
    assert "24 hours" in await api.rejected("POST", path, short, 400)
    await api.call("POST", path, {**rotated, "nextRotationTime": "2030-01-01T00:00:00Z"})
    cleared = await api.call("PATCH", f"/kms/v1/{KEY}?updateMask=rotationPeriod,nextRotationTime", {})
    assert "rotationPeriod" not in cleared


@pytest.mark.parametrize("where", ["cluster", "pool"])
async def test_a_key_must_be_there_and_open_to_the_agent(api: Api, where: str) -> None:
    await api.add_network()
    await api.add_cluster("c0")
    encryption = {"state": "ENCRYPTED", "keyName": KEY}
    if where == "cluster":
        path, body = CLUSTERS, {"cluster": cluster_body("c1", databaseEncryption=encryption)}
        user = await agent(api)
    else:
        pool = slice_pool("slice")
        path = f"{CLUSTERS}/c0/nodePools"
        body = {"nodePool": {**pool, "config": {**pool["config"], "bootDiskKmsKey": KEY}}}
        user = (await agent(api)).replace("container-engine-robot", "compute-system")
    assert "was not found" in await api.rejected("POST", path, body, 400)
    await add_key(api)
    await allow(api, user, "roles/cloudkms.admin")  # manages keys, and may not encrypt with them
    answer = await api.call("POST", path, body, status=400)
    assert f"{user} lacks permission cloudkms.cryptoKeyVersions.useToEncrypt" in answer["error"]["message"]
    assert answer["error"]["status"] == "INVALID_ARGUMENT"  # clients would wait for a precondition
    await allow(api, user)
    await api.done("POST", path, body)


@pytest.mark.parametrize("on", ["/kms/v1/projects/acme/locations/us-central1/keyRings/ring", "/crm/v1/projects/acme"])
async def test_a_key_inherits_the_grants_of_its_ring_and_project(api: Api, on: str) -> None:
    await api.add_network()
    await add_key(api)
    await allow(api, await agent(api), on=on)
    await api.add_cluster("c1", databaseEncryption={"state": "ENCRYPTED", "keyName": KEY})


async def test_secrets_change_their_key_in_place(api: Api) -> None:
    await api.add_network()
    await api.add_cluster("c1")
    await add_key(api)
    await allow(api, await agent(api))
    desired = {"update": {"desiredDatabaseEncryption": {"state": "ENCRYPTED", "keyName": KEY}}}
    await api.done("PUT", f"{CLUSTERS}/c1", desired)
    found = await api.call("GET", f"{CLUSTERS}/c1")
    assert found["databaseEncryption"]["keyName"] == KEY
    assert found["databaseEncryption"]["currentState"] == "CURRENT_STATE_ENCRYPTED"
    # as Google's command-line client switches it off: the update replaces the object, and the key goes
    await api.done("PUT", f"{CLUSTERS}/c1", {"update": {"desiredDatabaseEncryption": {"state": "DECRYPTED"}}})
    found = await api.call("GET", f"{CLUSTERS}/c1")
    assert found["databaseEncryption"] == {"state": "DECRYPTED", "currentState": "CURRENT_STATE_DECRYPTED"}
