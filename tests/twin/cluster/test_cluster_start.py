"""A started control plane: what runs, what it listens on, who may do what, and what starting it again does."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl

import aiohttp
import psutil
import pytest
from tpuplane_twin.cluster.api import Api

from tests.support.cluster.cluster_objects import (
    CLUSTER,
    JOBSETS,
    KEY,
    Cluster,
    MakePools,
    empty,
    jobset,
    rejection,
    running_pods,
    slice_pool,
)

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

PROCESSES = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kuberay", "pods"}


async def test_every_process_runs_and_listens_on_loopback_only(cluster: Cluster) -> None:
    running = {status.name.removeprefix(f"{KEY}/"): status for status in cluster.processes.status()}
    assert running.keys() == PROCESSES
    assert all(status.restarts == 0 for status in running.values())
    listening: dict[str, set[str]] = {}
    for name, status in running.items():
        connections = psutil.Process(status.pid).net_connections()
        listening[name] = {item.laddr.ip for item in connections if item.status == psutil.CONN_LISTEN}
        assert not any(item.type == socket.SOCK_DGRAM for item in connections), f"{name} has a UDP socket"
    own = psutil.Process(os.getpid()).net_connections()
    listening["the webhook"] = {item.laddr.ip for item in own if item.status == psutil.CONN_LISTEN}
    assert listening.pop("pods") == set(), "pods listen in a network of their own"
    assert all(addresses == {"127.0.0.1"} for addresses in listening.values()), listening


async def test_only_the_owner_can_read_what_is_in_the_folder(cluster: Cluster) -> None:
    assert cluster.folder.stat().st_mode & 0o077 == 0
    secret = [path for path in cluster.folder.glob("**/*") if path.suffix in (".key", ".csv", ".kubeconfig", ".yaml")]
    modes = {}
    for path in secret:
        with contextlib.suppress(FileNotFoundError):  # one that is being written anew
            modes[path] = path.stat().st_mode
    assert len(modes) > 10
    assert [path for path, mode in modes.items() if mode & 0o077] == []


async def test_the_progress_says_what_is_waited_for(cluster: Cluster) -> None:
    assert cluster.messages[0] == "etcd and the API server"


async def test_the_storage_classes_are_those_that_published_manifests_name(api: Api) -> None:
    found = {item["metadata"]["name"]: item for item in await api.list("StorageClass")}
    assert found.keys() == {"standard", "standard-rwo", "premium-rwo"}
    default = "storageclass.kubernetes.io/is-default-class"
    assert [name for name, item in found.items() if item["metadata"]["annotations"][default] == "true"] == [
        "standard-rwo"
    ]
    assert found["premium-rwo"]["volumeBindingMode"] == "WaitForFirstConsumer"


async def test_a_request_without_a_credential_is_rejected(cluster: Cluster) -> None:
    async with cluster.api("not-a-token") as stranger:
        assert "Unauthorized" in await rejection(stranger.list("Node"))


async def test_operators_have_the_rights_of_their_own_service_accounts(cluster: Cluster) -> None:
    tokens = cluster.tokens()
    async with cluster.api(tokens["kuberay"]) as kuberay:
        await kuberay.list("RayJob")
        message = await rejection(kuberay.list("Deployment", "kube-system"))
        assert "system:serviceaccount:ray-system:kuberay-operator" in message
    async with cluster.api(tokens["kwok"]) as kwok:
        assert await kwok.list("Node")
        assert "cannot delete resource" in await rejection(kwok.delete("Node", "any"))


async def test_no_controller_lacks_a_right(cluster: Cluster, make_pools: MakePools, api: Api, namespace: str) -> None:
    logs = [path for path in (cluster.folder / "logs").glob("*.log") if path.stem != "kube-apiserver"]
    assert {path.stem for path in logs} >= PROCESSES - {"kube-apiserver"}
    # From here on: an API server that another test has killed rejects much until it has read its roles.
    offsets = {path: path.stat().st_size for path in logs}
    await make_pools(slice_pool("slice-a", "ct6e-standard-4t", "4x4", 4))
    await api.request("POST", f"{JOBSETS}/{namespace}/jobsets", body=jobset("train", "4x4", 4, 1))
    await running_pods(api, namespace, 4)
    await api.request("DELETE", f"{JOBSETS}/{namespace}/jobsets/train")
    await empty(api, namespace)
    written = {path.name: path.read_bytes()[offset:] for path, offset in offsets.items()}
    assert [name for name, text in written.items() if b"is forbidden: User" in text] == []


async def test_the_kubeconfig_works_for_kubectl(cluster: Cluster) -> None:
    process = await cluster.kubectl("get", "nodes", "--output=name")
    assert process.count("node/gke-trainers-system-0a1b2c3d-") == 2


async def test_starting_again_touches_nothing(cluster: Cluster, api: Api) -> None:
    before = cluster.processes.status()
    crds = {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in await _crds(api)}
    await cluster.plane.start()
    await cluster.plane.apply_cluster(CLUSTER)
    assert cluster.processes.status() == before
    assert {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in await _crds(api)} == crds


async def test_a_webhook_review_that_is_none_is_a_bad_request(cluster: Cluster) -> None:
    port = cluster.ports.port(f"{KEY}/tpu-webhook")
    async with aiohttp.ClientSession() as session:
        url = f"https://127.0.0.1:{port}/mutate/ray"
        own = ssl.create_default_context(cafile=str(cluster.folder / "pki" / "ca.crt"))
        own.load_cert_chain(*(cluster.folder / "pki" / f"tpu-webhook-client.{kind}" for kind in ("crt", "key")))
        async with session.post(url, json={"kind": "Pod"}, ssl=own) as answer:
            assert (answer.status, await answer.text()) == (400, "the body is not an AdmissionReview")


async def test_the_webhook_answers_only_the_api_server(cluster: Cluster) -> None:
    port = cluster.ports.port(f"{KEY}/tpu-webhook")
    review = {"request": {"uid": "u", "namespace": "kube-system", "object": {"metadata": {}, "spec": {}}}}
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(f"https://127.0.0.1:{port}/mutate/default-class", json=review, ssl=False)


async def _crds(api: Api) -> list[dict[str, dict[str, str]]]:
    return await api.list("CustomResourceDefinition")
