"""The rule about chips without a request, in a real API server: which work it names, and which not."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.data_files import read_data
from tpuplane_twin.cluster.api import Api, ApiError

from tests.support.cluster.cluster_objects import JOBSETS, RAY
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

RULES, NAME = "/apis/admissionregistration.k8s.io/v1", "chip-requests"
JOBS = "/apis/batch/v1/namespaces"
NAMES = ("google.com/tpu", "nvidia.com/gpu")
CPU = {"limits": {"cpu": 1}}
SLICE = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "2x2"}


def template(*resources: dict[str, Any]) -> dict[str, Any]:
    containers = [{"name": f"c{at}", "image": "train", "resources": own} for at, own in enumerate(resources)]
    return {"spec": {"containers": containers, "nodeSelector": SLICE}}


def works(*resources: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """A job of each kind with these containers: the URL of its collection after the namespace, and its body."""
    ends = {**template(*resources), "spec": {**template(*resources)["spec"], "restartPolicy": "Never"}}
    group = {"groupName": "slice", "replicas": 1, "rayStartParams": {}, "template": template(*resources)}
    head = {"spec": {"containers": template(CPU)["spec"]["containers"]}}
    ray = {"headGroupSpec": {"rayStartParams": {}, "template": head}, "workerGroupSpecs": [group]}
    bodies: dict[str, tuple[str, str, dict[str, Any]]] = {
        "Job": (JOBS, "batch/v1", {"template": ends}),
        "JobSet": (
            JOBSETS,
            "jobset.x-k8s.io/v1alpha2",
            {"replicatedJobs": [{"name": "slice", "template": {"spec": {"template": ends}}}]},
        ),
        "RayCluster": (RAY, "ray.io/v1", ray),
        "RayJob": (RAY, "ray.io/v1", {"entrypoint": "train", "shutdownAfterJobFinishes": True, "rayClusterSpec": ray}),
        "RayService": (RAY, "ray.io/v1", {"rayClusterConfig": ray}),
    }
    return {
        kind: (
            f"{prefix}/{{}}/{kind.lower()}s",
            {"apiVersion": version, "kind": kind, "metadata": {"name": "w", "labels": {}}, "spec": spec},
        )
        for kind, (prefix, version, spec) in bodies.items()
    }


async def answer(api: Api, namespace: str, url: str, body: dict[str, Any]) -> str:
    """The message of the API server if it rejects the object."""
    try:
        await api.request("POST", url.format(namespace), body=body, params={"dryRun": "All"})
    except ApiError as error:
        return str(error)
    return ""


async def test_queued_work_of_each_kind_is_named_with_its_containers(api: Api, namespace: str) -> None:
    """Chips and GPUs alike, because the flavors of both have a topology.

    The platform's binding warns; here it denies, because the client reads no warnings.
    """
    binding = {"policyName": NAME, "validationActions": ["Deny"]}
    rule = read_data("tpuplane.addons", "chip_requests")
    for plural, kind, spec in (
        ("validatingadmissionpolicies", "ValidatingAdmissionPolicy", rule),
        ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", binding),
    ):
        body = {"apiVersion": RULES[6:], "kind": kind, "metadata": {"name": NAME}, "spec": spec}
        await api.request("POST", f"{RULES}/{plural}", body=body)
    try:
        queue = {"kueue.x-k8s.io/queue-name": "default"}
        for name in NAMES:
            limited, complete = {"limits": {name: 4}}, {"limits": {name: 4}, "requests": {name: 4}}
            for kind, (url, body) in works(CPU, limited, complete).items():
                assert await answer(api, namespace, url, body) == "", f"{kind} is in no queue"
                body["metadata"]["labels"] = queue
                said = await eventually(lambda url=url, body=body: answer(api, namespace, url, body))
                assert "limit of google.com/tpu or nvidia.com/gpu and no request: c1; when Kueue starts" in said, kind
                owner = {"apiVersion": "example.com/v1", "kind": "Plan", "name": "o", "uid": "1", "controller": True}
                body["metadata"]["ownerReferences"] = [owner]
                assert await answer(api, namespace, url, body) == "", f"{kind} of another object"
            for kind, (url, body) in works(CPU, complete).items():
                body["metadata"]["labels"] = queue
                assert await answer(api, namespace, url, body) == "", kind
            url, body = works(CPU)["RayCluster"]
            body["metadata"]["labels"] = queue
            body["spec"]["headGroupSpec"]["template"] = template(limited)
            assert "and no request: c0" in await answer(api, namespace, url, body), "the head has the accelerators"
    finally:
        for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
            await api.request("DELETE", f"{RULES}/{plural}/{NAME}")
