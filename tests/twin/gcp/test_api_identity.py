"""Service accounts and IAM policies, as ServiceAccount and IAMMember use them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gcp.twin_api import Api

pytestmark = pytest.mark.twin

ACCOUNTS = "/iam/v1/projects/acme/serviceAccounts"
PROJECT = "/crm/v1/projects/acme"
EMAIL = "tpu-nodes@acme.iam.gserviceaccount.com"


async def add_account(api: Api) -> dict[str, Any]:
    body = {"accountId": "tpu-nodes", "serviceAccount": {"displayName": "Nodes"}}
    return await api.call("POST", ACCOUNTS, body)


async def test_account_create_get_patch_delete(api: Api) -> None:
    made = await add_account(api)
    assert (made["email"], made["name"]) == (EMAIL, f"projects/acme/serviceAccounts/{EMAIL}")
    assert await api.call("GET", f"{ACCOUNTS}/{EMAIL}") == made
    assert await api.call("GET", f"/iam/v1/projects/-/serviceAccounts/{made['uniqueId']}") == made
    change = {"serviceAccount": {"displayName": "New", "description": "kept out"}, "updateMask": "displayName"}
    patched = await api.call("PATCH", f"{ACCOUNTS}/{EMAIL}", change)
    assert patched["displayName"] == "New"
    assert "description" not in patched
    assert patched["etag"] != made["etag"]
    assert [found["email"] for found in (await api.call("GET", ACCOUNTS))["accounts"]] == [EMAIL]
    assert await api.call("DELETE", f"{ACCOUNTS}/{EMAIL}") == {}
    await api.rejected("GET", f"{ACCOUNTS}/{EMAIL}", None, 404)


async def test_an_account_can_be_disabled_and_enabled(api: Api) -> None:
    made = await add_account(api)
    await api.call("POST", f"{ACCOUNTS}/{EMAIL}:disable", {})
    assert (await api.call("GET", f"{ACCOUNTS}/{EMAIL}"))["disabled"] is True
    await api.call("POST", f"{ACCOUNTS}/{EMAIL}:enable", {})
    assert (await api.call("GET", f"{ACCOUNTS}/{EMAIL}")).get("disabled", False) is False
    assert (await api.call("GET", f"{ACCOUNTS}/{EMAIL}"))["uniqueId"] == made["uniqueId"]


async def test_policies_name_a_deleted_account_and_can_still_be_changed(api: Api) -> None:
    unique = (await add_account(api))["uniqueId"]
    await api.call("POST", "/kms/v1/projects/acme/locations/us-east5/keyRings?keyRingId=ring", {})
    ring = "/kms/v1/projects/acme/locations/us-east5/keyRings/ring"
    bindings = [{"role": "roles/viewer", "members": ["user:a@b.c", f"serviceAccount:{EMAIL}"]}]
    for path in (PROJECT, ring):
        await api.call("POST", f"{path}:setIamPolicy", {"policy": {"bindings": bindings}})
    await api.call("DELETE", f"{ACCOUNTS}/{EMAIL}")
    gone = f"deleted:serviceAccount:{EMAIL}?uid={unique}"
    policy = await api.call("POST", f"{PROJECT}:getIamPolicy", {})
    assert policy["bindings"] == [{"role": "roles/viewer", "members": ["user:a@b.c", gone]}]
    assert (await api.call("GET", f"{ring}:getIamPolicy"))["bindings"] == policy["bindings"]
    policy["bindings"].append({"role": "roles/editor", "members": ["user:a@b.c"]})
    assert await api.call("POST", f"{PROJECT}:setIamPolicy", {"policy": policy})
    # Another account of that name is another account.
    await add_account(api)
    assert (await api.call("POST", f"{PROJECT}:getIamPolicy", {}))["bindings"][0]["members"] == ["user:a@b.c", gone]


async def test_account_ids(api: Api) -> None:
    await add_account(api)
    taken = await api.rejected("POST", ACCOUNTS, {"accountId": "tpu-nodes"}, 409)
    assert taken == "Service account tpu-nodes already exists within project projects/acme."
    for bad in ("short", "Upper-case", "a" * 31, ""):
        assert f'"{bad}"' in await api.rejected("POST", ACCOUNTS, {"accountId": bad}, 400)


@pytest.mark.parametrize("alphabet", ["+/", "-_"])
async def test_an_etag_is_compared_as_bytes(api: Api, alphabet: str) -> None:
    """Google's command-line client sends the URL-safe alphabet; proto3 allows it, and to leave the padding out."""
    policy = await api.call("POST", f"{PROJECT}:getIamPolicy", {})
    etag = policy["etag"].translate(str.maketrans("+/", alphabet)).rstrip("=")
    assert etag != policy["etag"]
    body = {"policy": {**policy, "etag": etag, "bindings": [{"role": "roles/viewer", "members": ["user:a@b.c"]}]}}
    assert (await api.call("POST", f"{PROJECT}:setIamPolicy", body))["etag"] != policy["etag"]
    await api.rejected("POST", f"{PROJECT}:setIamPolicy", body, 409)


async def test_iam_member_reads_modifies_and_writes(api: Api) -> None:
    await add_account(api)
    policy = await api.call("POST", f"{PROJECT}:getIamPolicy", {"options": {"requestedPolicyVersion": 3}})
    assert policy["bindings"] == []
    binding = {"role": "roles/container.defaultNodeServiceAccount", "members": [f"serviceAccount:{EMAIL}"]}
    body = {"policy": {**policy, "bindings": [binding]}, "updateMask": "bindings,etag,auditConfigs"}
    written = await api.call("POST", f"{PROJECT}:setIamPolicy", body)
    assert written["bindings"] == [binding]
    assert await api.call("POST", f"{PROJECT}:getIamPolicy", {}) == written
    stale = await api.rejected("POST", f"{PROJECT}:setIamPolicy", body, 409)
    assert stale.startswith("There were concurrent policy changes.")


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (
            {"role": "roles/viewer", "members": ["serviceAccount:nobody@acme.iam.gserviceaccount.com"]},
            "Service account nobody@acme.iam.gserviceaccount.com does not exist.",
        ),
        (
            {"role": "roles/viewer", "members": ["robot:x"]},
            "The member robot:x is not valid; allowed: allAuthenticatedUsers, allUsers, user:…, group:…, "
            "serviceAccount:…, domain:…, deleted:…, principal:…, principalSet:…, projectOwner:…, "
            "projectEditor:…, projectViewer:….",
        ),
        ({"role": "viewer", "members": ["user:a@b.c"]}, "Role viewer is not supported for this resource."),
    ],
)
async def test_bindings_that_cannot_be(api: Api, binding: dict[str, Any], message: str) -> None:
    assert await api.rejected("POST", f"{PROJECT}:setIamPolicy", {"policy": {"bindings": [binding]}}, 400) == message


@pytest.mark.parametrize(
    "member",
    [
        "serviceAccount:acme.svc.id.goog[ns/account]",
        "serviceAccount:service-1@container-engine-robot.iam.gserviceaccount.com",
        "group:team@example.com",
        "principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/subject/s",
    ],
)
async def test_members_that_are_taken(api: Api, member: str) -> None:
    bindings = [{"role": "roles/viewer", "members": [member]}]
    written = await api.call("POST", f"{PROJECT}:setIamPolicy", {"policy": {"bindings": bindings}})
    assert written["bindings"] == bindings


async def test_an_account_has_a_policy_of_its_own(api: Api) -> None:
    await add_account(api)
    path = f"{ACCOUNTS}/{EMAIL}"
    bindings = [{"role": "roles/iam.workloadIdentityUser", "members": ["serviceAccount:acme.svc.id.goog[a/b]"]}]
    await api.call("POST", f"{path}:setIamPolicy", {"policy": {"bindings": bindings}})
    assert (await api.call("POST", f"{path}:getIamPolicy", {}))["bindings"] == bindings
    assert (await api.call("POST", f"{PROJECT}:getIamPolicy", {}))["bindings"] == []


async def test_projects_have_a_stable_number(api: Api) -> None:
    found = await api.call("GET", PROJECT)
    assert (found["projectId"], found["lifecycleState"]) == ("acme", "ACTIVE")
    assert found == await api.call("GET", PROJECT)


async def test_conditions_need_version_3_of_a_policy_and_give_its_answers_that_version(api: Api) -> None:
    plain: dict[str, Any] = {"role": "roles/viewer", "members": ["user:a@b.c"]}
    limited = {**plain, "condition": {"title": "office", "expression": "request.time.getHours() > 8"}}

    async def change(version: int, bindings: list[dict[str, Any]], **etag: str) -> dict[str, Any]:
        policy = {"version": version, "bindings": bindings, **etag}
        return await api.call("POST", f"{PROJECT}:setIamPolicy", {"policy": policy})

    async def refused(version: int, bindings: list[dict[str, Any]], **etag: str) -> str:
        policy = {"version": version, "bindings": bindings, **etag}
        return await api.rejected("POST", f"{PROJECT}:setIamPolicy", {"policy": policy}, 400)

    # gcloud and the provider always send 3.
    assert (await change(3, [plain]))["version"] == 1
    assert await refused(2, [plain]) == "Policy version 2 is not valid; allowed: 0, 1 and 3."
    reason = "Policy version 1 is not valid; allowed: 3, because the former or the new policy has conditions."
    assert await refused(1, [limited]) == reason
    made = await change(3, [plain, limited])
    assert made["version"] == 3
    assert await refused(1, [plain], etag=made["etag"]) == reason
    assert (await change(1, [plain]))["version"] == 1
