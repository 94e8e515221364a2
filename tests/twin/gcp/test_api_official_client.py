"""Google's own Python client against the twin: if its generated code is content, the wire format is right."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from tests.support.gcp.twin_api import LOCATION, PROJECT, Api, cluster_body, googles_client, slice_pool

pytestmark = pytest.mark.twin

PARENT = f"projects/{PROJECT}/locations/{LOCATION}"


async def run(request: Any) -> Any:
    return await asyncio.to_thread(request.execute)


async def finish(container: Any, request: Any) -> Any:
    operations = container.projects().locations().operations()
    operation = await run(request)
    while operation["status"] != "DONE":
        operation = await run(operations.get(name=f"{PARENT}/operations/{operation['name']}"))
    assert "error" not in operation
    return operation


async def test_container_create_list_update_delete(project: Api) -> None:
    container = await asyncio.to_thread(googles_client, project, "container", "v1beta1", "")
    clusters = container.projects().locations().clusters()
    await finish(container, clusters.create(parent=PARENT, body={"cluster": cluster_body()}))
    name = f"{PARENT}/clusters/c1"
    pools = clusters.nodePools()
    await finish(container, pools.create(parent=name, body={"nodePool": slice_pool()}))
    listed = await run(pools.list(parent=name))
    assert [pool["name"] for pool in listed["nodePools"]] == ["default-pool", "slice"]
    labels = {"labels": {"labels": {"team": "research"}}}
    await finish(container, pools.update(name=f"{name}/nodePools/slice", body=labels))
    found = await run(pools.get(name=f"{name}/nodePools/slice"))
    assert found["config"]["labels"] == {"team": "research"}
    update = {"update": {"desiredReleaseChannel": {"channel": "RAPID"}}}
    await finish(container, clusters.update(name=name, body=update))
    assert (await run(clusters.get(name=name)))["releaseChannel"] == {"channel": "RAPID"}
    await finish(container, pools.delete(name=f"{name}/nodePools/slice"))
    await finish(container, clusters.delete(name=name))
    with pytest.raises(HttpError, match=f"Not found: {name}") as rejection:
        await run(clusters.get(name=name))
    assert rejection.value.status_code == 404


async def test_the_client_reads_the_details_of_a_rejection(project: Api) -> None:
    container = await asyncio.to_thread(googles_client, project, "container", "v1", "")
    body = {"cluster": cluster_body(foo=1)}
    with pytest.raises(HttpError) as rejection:
        await run(container.projects().locations().clusters().create(parent=PARENT, body=body))
    assert rejection.value.error_details[0]["fieldViolations"][0]["field"] == "cluster"


async def test_compute_networks(api: Api) -> None:
    compute = await asyncio.to_thread(googles_client, api, "compute", "beta", "")
    body = {"name": "n", "autoCreateSubnetworks": False}
    operation = await run(compute.networks().insert(project=PROJECT, body=body))
    waited = await run(compute.globalOperations().wait(project=PROJECT, operation=operation["name"]))
    assert waited["status"] == "DONE"
    assert (await run(compute.networks().get(project=PROJECT, network="n")))["name"] == "n"


async def test_accounts_and_policies(api: Api) -> None:
    iam = await asyncio.to_thread(googles_client, api, "iam", "v1", "iam/")
    crm = await asyncio.to_thread(googles_client, api, "cloudresourcemanager", "v1", "crm/")
    accounts = iam.projects().serviceAccounts()
    account = await run(accounts.create(name=f"projects/{PROJECT}", body={"accountId": "tpu-nodes"}))
    assert await run(accounts.get(name=account["name"])) == account
    policy = await run(crm.projects().getIamPolicy(resource=PROJECT, body={}))
    policy["bindings"] = [{"role": "roles/viewer", "members": [f"serviceAccount:{account['email']}"]}]
    written = await run(crm.projects().setIamPolicy(resource=PROJECT, body={"policy": policy}))
    assert written["bindings"] == policy["bindings"]
