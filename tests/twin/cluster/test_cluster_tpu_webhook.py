"""The TPU webhook's rules where no cluster is needed: TPU7x, what an author has set, what it rejects. Pure."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.workloads.pods import affinity_without
from tpuplane_twin.cluster.tpu_webhook import jobs, ray
from tpuplane_twin.cluster.tpu_webhook.pods import Pod, Rejected, patch

from tests.support.cluster.cluster_objects import environment

pytestmark = pytest.mark.unit


def container(chips: int, **environment: str) -> dict[str, Any]:
    return {
        "name": f"c{chips}",
        "resources": {"limits": {"google.com/tpu": str(chips)}},
        "env": [{"name": name, "value": value} for name, value in environment.items()],
    }


def ray_pod(accelerator: str, topology: str, host: int, *containers: dict[str, Any]) -> Pod:
    return {
        "metadata": {
            "labels": {
                "ray.io/cluster": "blue",
                "ray.io/group": "workers",
                "ray.io/worker-group-replica-name": "workers-x7k2p",
                "ray.io/worker-group-replica-index": "1",
                "ray.io/replica-host-index": str(host),
            }
        },
        "spec": {
            "nodeSelector": {
                "cloud.google.com/gke-tpu-accelerator": accelerator,
                "cloud.google.com/gke-tpu-topology": topology,
            },
            "containers": list(containers),
        },
    }


def job_pod(index: int, *containers: dict[str, Any], **labels: str) -> Pod:
    found = ray_pod("tpu-v6e-slice", "4x4", 0, *containers)
    found["metadata"]["labels"] = {jobs.JOB: "train", jobs.INDEX: str(index), **labels}
    found["spec"]["subdomain"] = "train-svc"
    return found


@pytest.mark.parametrize(("topology", "chips", "kept"), [("4x4", 4, False), ("2x2", 4, True), ("4x4", 0, True)])
def test_node_affinity_is_lost_on_slices_of_several_hosts_alone(topology: str, chips: int, kept: bool) -> None:
    """As docs/workloads.md says of `capacity: on-demand`; a Ray head, without chips, keeps its own."""
    pod = ray_pod("tpu-v6e-slice", topology, 0, container(chips))
    pod["spec"]["affinity"] = affinity_without("cloud.google.com/reservation-name")
    assert ("nodeAffinity" in ray.mutate(pod)["spec"]["affinity"]) is kept


def test_every_container_of_a_7x_host_is_a_worker() -> None:
    pod = ray.mutate(ray_pod("tpu7x", "2x2x2", 1, container(2), container(2)))
    hosts = [f"workers-1-{host}.blue-headless" for host in range(2)]
    variables = [{entry["name"]: entry.get("value") for entry in item["env"]} for item in pod["spec"]["containers"]]
    assert [item["TPU_WORKER_ID"] for item in variables] == ["2", "3"]
    assert [item["TPU_PROCESS_PORT"] for item in variables] == ["8471", "8472"]
    addresses = ",".join(f"{host}:{port}" for host in hosts for port in (8471, 8472))
    assert {item["TPU_PROCESS_ADDRESSES"] for item in variables} == {addresses}


def test_what_the_author_has_set_stays_and_defaults_do_not() -> None:
    given = container(4, TPU_NAME="mine", TPU_WORKER_ID="0", TPU_WORKER_HOSTNAMES="localhost")
    variables = environment(ray.mutate(ray_pod("tpu-v6e-slice", "4x4", 3, given)))
    assert variables["TPU_NAME"] == "mine"
    assert variables["TPU_WORKER_ID"] == "3"
    assert variables["TPU_WORKER_HOSTNAMES"].count(",") == 3


def test_a_single_host_worker_may_be_anywhere() -> None:
    pod = ray.mutate(ray_pod("tpu-v6e-slice", "2x2", 0, container(4)))
    assert environment(pod)["TPU_WORKER_ID"] == "0"
    assert "TPU_WORKER_HOSTNAMES" not in environment(pod)
    assert pod["spec"].keys().isdisjoint({"affinity", "hostname", "subdomain"})


@pytest.mark.parametrize(
    ("remove", "message"),
    [
        (("spec", "nodeSelector"), "needs the nodeSelector cloud.google.com/gke-tpu-topology"),
        (("metadata", "labels"), "needs the label ray.io/cluster"),
    ],
)
def test_a_pod_that_cannot_be_placed_is_rejected(remove: tuple[str, str], message: str) -> None:
    pod = ray_pod("tpu-v6e-slice", "4x4", 0, container(4))
    del pod[remove[0]][remove[1]]
    with pytest.raises(Rejected, match=message):
        ray.mutate(pod)


def test_a_topology_that_is_none_is_rejected() -> None:
    with pytest.raises(Rejected, match="'4by4' is not a topology"):
        ray.mutate(ray_pod("tpu-v6e-slice", "4by4", 0, container(4)))


def test_a_long_cluster_name_has_kuberays_service_name() -> None:
    assert ray.headless_service("b" * 60) == "b" * 41 + "-headless"
    assert ray.headless_service("1" + "b" * 40) == "r" + "b" * 40 + "-headless"


def test_the_pod_that_came_is_not_changed_and_the_patch_says_what_is() -> None:
    pod = ray_pod("tpu-v6e-slice", "4x4", 2, container(4))
    before = copy.deepcopy(pod)
    changed = ray.mutate(pod)
    assert pod == before
    assert [operation["path"] for operation in patch(pod, changed)] == [
        "/spec/containers",
        "/spec/hostname",
        "/spec/subdomain",
        "/spec/affinity",
    ]
    assert patch(changed, ray.mutate(changed)) == []


def test_a_job_of_one_slice_has_no_multislice_variables() -> None:
    variables = environment(jobs.mutate(job_pod(2, container(4))))
    hosts = ",".join(f"train-{host}.train-svc" for host in range(4))
    assert variables == {"TPU_WORKER_ID": "2", "TPU_WORKER_HOSTNAMES": hosts}


def test_a_job_without_a_headless_service_is_left_alone() -> None:
    pod = job_pod(0, container(4))
    del pod["spec"]["subdomain"]
    assert jobs.mutate(pod) is pod


@pytest.mark.parametrize("selector", [{}, {"cloud.google.com/gke-tpu-topology": "4x4x4"}])
def test_the_topology_of_a_dynamic_slice_counts_before_that_of_its_parts(selector: dict[str, str]) -> None:
    # As xpk and GKE's samples for tpu7x have it: the annotation, with or without the nodes' topology.
    pod = job_pod(17, container(2), container(2))
    pod["metadata"]["annotations"] = {"cloud.google.com/gke-tpu-slice-topology": "4x4x8"}
    pod["spec"]["nodeSelector"] = {"cloud.google.com/gke-tpu-accelerator": "tpu7x", **selector}
    first, second = jobs.mutate(pod)["spec"]["containers"]
    variables = [{entry["name"]: entry["value"] for entry in item["env"]} for item in (first, second)]
    assert [item["TPU_WORKER_ID"] for item in variables] == ["34", "35"]
    assert {len(item["TPU_WORKER_HOSTNAMES"].split(",")) for item in variables} == {32}


def test_a_slice_topology_that_is_none_is_rejected_by_its_name() -> None:
    pod = job_pod(0, container(4))
    pod["metadata"]["annotations"] = {"cloud.google.com/gke-tpu-slice-topology": "cube"}
    with pytest.raises(Rejected, match=r"annotation .*slice-topology: 'cube' is not a topology"):
        jobs.mutate(pod)


def test_a_head_group_is_not_counted() -> None:
    group = {"groupName": "cpu", "numOfHosts": 7, "template": {"spec": {"containers": [{"name": "c"}]}}}
    ray.validate({"spec": {"workerGroupSpecs": [group]}})
