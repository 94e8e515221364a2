"""Workloads follow from their slices, are what their CRDs accept in shape, and reject what no slice can run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tpuplane.cpu import cpu_catalogue
from tpuplane.spec.core.locations import region_of
from tpuplane.tpu import Slice
from tpuplane.workloads import (
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    SliceGroupSpec,
    multislice_manifest,
    pod_spec,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)
from tpuplane_twin.cluster.machines import allocatable_cpu, allocatable_memory, machine

from tests.support.workload_specs import SHAPES, V6E, cluster, multislice

pytestmark = pytest.mark.unit


@given(shape=st.sampled_from(SHAPES))
def test_a_pod_asks_for_all_chips_of_a_host_and_leaves_room_for_gkes_own(shape: tuple[str, str]) -> None:
    group = SliceGroupSpec(generation=shape[0], topology=shape[1], image="i")
    slice_ = Slice.of(*shape)
    pod = pod_spec(group, "main")
    (container,) = pod["containers"]
    asked = container["resources"]["requests"]
    assert container["resources"]["limits"] == asked
    assert int(asked["google.com/tpu"]) == slice_.machine.chips
    assert 0 < int(asked["cpu"]) < slice_.machine.vcpus
    assert 0 < int(asked["memory"].removesuffix("Gi")) < slice_.machine.memory_gb
    assert (
        pod["nodeSelector"]["cloud.google.com/gke-tpu-topology"]
        == slice_.node_labels["cloud.google.com/gke-tpu-topology"]
    )


def test_a_worker_group_is_a_slice() -> None:
    spec = RayClusterSpec.model_validate(cluster(queue="default", priorityClass="high"))
    manifest = ray_cluster_manifest("train", spec)
    assert manifest["metadata"] == {
        "name": "train",
        "namespace": "research",
        "labels": {
            "app.kubernetes.io/managed-by": "tpuplane",
            "kueue.x-k8s.io/queue-name": "default",
            "kueue.x-k8s.io/priority-class": "high",
        },
    }
    (group,) = manifest["spec"]["workerGroupSpecs"]
    assert (group["groupName"], group["replicas"], group["numOfHosts"]) == ("tpu", 1, 4)
    assert group["template"]["spec"]["nodeSelector"] == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "4x4",
        "cloud.google.com/gke-accelerator-count": "4",
    }
    head = manifest["spec"]["headGroupSpec"]["template"]["spec"]
    assert "nodeSelector" not in head
    assert "google.com/tpu" not in head["containers"][0]["resources"]["limits"]


@pytest.mark.parametrize("location", ["us-central1", "us-central2-b"])
def test_a_head_fits_the_system_pool_as_both_come(location: str) -> None:
    head = ray_cluster_manifest("train", RayClusterSpec.model_validate(cluster()))["spec"]["headGroupSpec"]
    asked = head["template"]["spec"]["containers"][0]["resources"]["requests"]
    node = machine(cpu_catalogue().system_machine(region_of(location)))
    # Half a core and 1 GiB are left to what GKE runs there itself.
    assert 1000 * int(asked["cpu"]) + 500 <= allocatable_cpu(node)
    assert (int(asked["memory"].removesuffix("Gi")) + 1) * 1024**3 <= allocatable_memory(node)


def test_ray_scales_whole_slices_with_its_second_autoscaler() -> None:
    spec = RayClusterSpec.model_validate(
        cluster(autoscaling=True, workers={"tpu": {**V6E, "slices": 1, "minSlices": 0, "maxSlices": 4}})
    )
    body = ray_cluster_manifest("train", spec)["spec"]
    assert body["enableInTreeAutoscaling"] is True
    assert body["autoscalerOptions"]["version"] == "v2"
    (group,) = body["workerGroupSpecs"]
    assert (group["minReplicas"], group["replicas"], group["maxReplicas"]) == (0, 1, 4)


def test_a_job_takes_its_cluster_away_and_a_service_keeps_it() -> None:
    job = ray_job_manifest("train", RayJobSpec.model_validate({"cluster": cluster(), "entrypoint": "python train.py"}))
    assert job["spec"]["shutdownAfterJobFinishes"] is True
    assert job["spec"]["rayClusterSpec"] == ray_cluster_manifest("x", RayClusterSpec.model_validate(cluster()))["spec"]
    service = ray_service_manifest(
        "chat", RayServiceSpec.model_validate({"cluster": cluster(), "serveConfig": "applications: []"})
    )
    assert service["spec"]["rayClusterConfig"] == {**job["spec"]["rayClusterSpec"], "suspend": False}


def test_each_job_of_a_multislice_program_is_a_slice() -> None:
    manifest = multislice_manifest("pretrain", multislice())
    (jobs,) = manifest["spec"]["replicatedJobs"]
    assert jobs["replicas"] == 2
    job = jobs["template"]["spec"]
    assert (job["parallelism"], job["completions"], job["backoffLimit"]) == (4, 4, 0)
    assert job["template"]["metadata"]["annotations"]["kueue.x-k8s.io/podset-slice-size"] == "4"
    assert "annotations" not in manifest["metadata"]


def test_without_a_topology_jobset_keeps_a_slice_together() -> None:
    manifest = multislice_manifest("pretrain", multislice(placement="exclusive"))
    assert manifest["metadata"]["annotations"] == {
        "alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"
    }
    (jobs,) = manifest["spec"]["replicatedJobs"]
    assert "annotations" not in jobs["template"]["spec"]["template"]["metadata"]


def test_host_maintenance_counts_as_no_failure() -> None:
    body = multislice_manifest("pretrain", multislice(maxRestarts=1))["spec"]
    (rule,) = body["failurePolicy"]["rules"]
    assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    (on,) = body["replicatedJobs"][0]["template"]["spec"]["podFailurePolicy"]["rules"]
    assert (on["action"], on["onPodConditions"][0]["type"]) == ("FailJob", "DisruptionTarget")


def test_the_multislice_environment_is_each_pods_own_place() -> None:
    assert multislice(env={"TPU_WORKER_ID": "0"})
    spec = multislice(setMegascale=True, env={"A": "b"})
    (jobs,) = multislice_manifest("pretrain", spec)["spec"]["replicatedJobs"]
    (container,) = jobs["template"]["spec"]["template"]["spec"]["containers"]
    names = [entry["name"] for entry in container["env"]]
    environment = {entry["name"]: entry.get("value") for entry in container["env"]}
    # Kubernetes puts a variable into another only where it stands before it.
    assert names.index("MEGASCALE_SLICE_ID") < names.index("TPU_WORKER_HOSTNAMES")
    assert environment["MEGASCALE_NUM_SLICES"] == "2"
    assert environment["TPU_WORKER_HOSTNAMES"].split(",")[3] == "pretrain-slice-$(MEGASCALE_SLICE_ID)-3.pretrain"


@pytest.mark.parametrize(
    "manifest",
    [
        ray_cluster_manifest("train", RayClusterSpec.model_validate(cluster(queue="default"))),
        ray_job_manifest("train", RayJobSpec.model_validate({"cluster": cluster(), "entrypoint": "python train.py"})),
        ray_service_manifest("serve", RayServiceSpec.model_validate({"cluster": cluster(), "serveConfig": "a: []"})),
        multislice_manifest("train", multislice()),
    ],
    ids=lambda manifest: manifest["kind"],
)
def test_no_list_is_empty_as_kueue_leaves_out_empty_lists(manifest: dict[str, Any]) -> None:
    def empty(value: Any, at: str) -> list[str]:
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [at] * (value == []) + [found for key, part in parts for found in empty(part, f"{at}.{key}")]

    assert empty(manifest["spec"], "spec") == []


def test_slices_that_come_and_go_need_rays_autoscaler() -> None:
    with pytest.raises(ValidationError, match="set autoscaling: true"):
        RayClusterSpec.model_validate(cluster(workers={"tpu": {**V6E, "minSlices": 0}}))
    for more in ({}, {"maxSlices": 2}):
        none = cluster(workers={"tpu": {**V6E, "slices": 0, **more}})
        with pytest.raises(ValidationError, match=r"workers\.tpu\.slices: 0 stays 0 without autoscaling; set autoscal"):
            RayClusterSpec.model_validate(none)
        assert RayClusterSpec.model_validate({**none, "autoscaling": True})


def test_a_class_or_a_capacity_is_a_selector_and_nothing_else_changes() -> None:
    plain = multislice_manifest("p", multislice())["spec"]["replicatedJobs"][0]["template"]["spec"]
    for changes, label in (
        ({"computeClass": "cheap"}, {"cloud.google.com/compute-class": "cheap"}),
        ({"capacity": "spot"}, {"cloud.google.com/gke-spot": "true"}),
        ({"capacity": "reservation", "reservation": "r"}, {"cloud.google.com/reservation-name": "r"}),
    ):
        moved = multislice_manifest("p", multislice(**changes))["spec"]["replicatedJobs"][0]["template"]["spec"]
        selector = moved["template"]["spec"].pop("nodeSelector")
        before = plain["template"]["spec"]["nodeSelector"]
        assert selector == before | label
        assert moved["template"]["spec"] == {k: v for k, v in plain["template"]["spec"].items() if k != "nodeSelector"}
