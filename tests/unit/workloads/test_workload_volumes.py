"""What a Ray cluster's pods see beside their image."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tpuplane.workloads import RayClusterSpec, ray_cluster_manifest

pytestmark = pytest.mark.unit

WORKERS = {"tpu": {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.60.0"}}


def templates(**changes: Any) -> list[dict[str, Any]]:
    """The pod templates of a Ray cluster: the head's, then the workers'."""
    spec = RayClusterSpec.model_validate({"namespace": "research", "workers": WORKERS} | changes)
    body = ray_cluster_manifest("train", spec)["spec"]
    return [group["template"] for group in (body["headGroupSpec"], *body["workerGroupSpecs"])]


def test_head_and_workers_see_maps_and_buckets_each_in_its_folder() -> None:
    for template in templates(
        config_maps={"/a": "settings", "/b": "settings"}, buckets={"/data": "acme-data", "/out": "acme.out"}
    ):
        volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
        seen = {mount["mountPath"]: mount for mount in template["spec"]["containers"][0]["volumeMounts"]}
        assert seen.keys() >= {"/a", "/b", "/data", "/out"}
        assert seen["/a"]["name"] == seen["/b"]["name"]
        assert seen["/a"]["readOnly"] is True
        assert volumes[seen["/a"]["name"]]["configMap"] == {"name": "settings"}
        for path, bucket in (("/data", "acme-data"), ("/out", "acme.out")):
            assert "readOnly" not in seen[path]
            csi = volumes[seen[path]["name"]]["csi"]
            assert csi["driver"] == "gcsfuse.csi.storage.gke.io"
            assert csi["volumeAttributes"]["bucketName"] == bucket
        # The sidecar that mounts comes by this annotation.
        assert template["metadata"]["annotations"] == {"gke-gcsfuse/volumes": "true"}


def test_pods_without_buckets_get_no_sidecar() -> None:
    for template in (*templates(config_maps={"/a": "settings"}), *templates()):
        assert "metadata" not in template
        assert not any("csi" in volume for volume in template["spec"].get("volumes", ()))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"buckets": {"/data:ro": "acme"}}, "'/data:ro' is not a folder; allowed: an absolute path"),
        ({"buckets": {"/": "acme"}}, "'/' is not a folder"),
        ({"config_maps": {"/a/../b": "settings"}}, "'/a/../b' is not a folder"),
        ({"buckets": {"/data": "a-data", "/data/": "b-data"}}, "'/data/' .* nearest: /data"),
        ({"buckets": {"//data/./set": "acme"}}, "nearest: /data/set"),
        ({"config_maps": {"/a": "settings"}, "buckets": {"/a": "acme"}}, "buckets./a: configMaps"),
        ({"buckets": {"/a": "acme"}, "claims": {"/a": "corpus"}}, "claims./a: buckets also has this folder"),
        ({"claims": {"/tmp/tpu_logs": "corpus"}}, "claims./tmp/tpu_logs: the pods have another volume"),
        ({"config_maps": {"/tmp/tpu_logs": "settings"}}, "configMaps./tmp/tpu_logs: the pods have another volume"),
        ({"buckets": {"/tmp/tpu_logs": "acme"}}, "buckets./tmp/tpu_logs: the pods have another volume"),
    ],
)
def test_a_folder_has_one_content(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        templates(**changes)


def test_without_slices_libtpus_folder_is_free() -> None:
    gpus = {"workers": {}, "gpu_workers": {"gpu": {"accelerator": "nvidia-l4", "image": "i"}}}
    for template in templates(**gpus, buckets={"/tmp/tpu_logs": "acme"}):
        assert [mount["mountPath"] for mount in template["spec"]["containers"][0]["volumeMounts"]] == ["/tmp/tpu_logs"]


@pytest.mark.parametrize("buckets", [{"data": "acme"}, {"/data": "gs://acme"}, {"/data": "Acme"}, {"/data": "_"}])
def test_what_is_no_folder_or_no_bucket_is_rejected(buckets: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="buckets"):
        templates(buckets=buckets)
