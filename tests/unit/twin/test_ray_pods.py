"""What a pod of Ray gets: an environment of a TPU host, and only where the twin has Ray."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.tpu import SliceError
from tpuplane_twin.pods.images import Images, images_of_extras
from tpuplane_twin.tools import ToolError, Tools
from tpuplane_twin_ray import environment as ray
from tpuplane_twin_ray import tpu_host
from tpuplane_twin_ray.image import RayImage

pytestmark = pytest.mark.unit

V6E = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}


def test_a_tpu_host_tells_its_place_in_the_slice() -> None:
    assert tpu_host.environment(V6E, 4) == {
        "TPU_ACCELERATOR_TYPE": "v6e-16",
        "TPU_TOPOLOGY": "4x4",
        "TPU_CHIPS_PER_HOST_BOUNDS": "2,2,1",
        "TPU_HOST_BOUNDS": "2,2,1",
        "TPU_SKIP_MDS_QUERY": "true",
    }
    assert tpu_host.environment({"cloud.google.com/gke-nodepool": "system"}, 4) == {}
    with pytest.raises(SliceError, match="4x5"):
        tpu_host.environment({**V6E, "cloud.google.com/gke-tpu-topology": "4x5"}, 4)


def test_devices_make_up_for_chips_and_keep_the_users_flags() -> None:
    found = tpu_host.instead_of({"XLA_FLAGS": "--xla_dump_to=/tmp/x", "JAX_PLATFORMS": "tpu,cpu"}, 4)
    assert found["JAX_PLATFORMS"] == "cpu"
    assert found["XLA_FLAGS"].split() == ["--xla_dump_to=/tmp/x", "--xla_force_host_platform_device_count=4"]


@pytest.mark.parametrize(
    ("image", "known"),
    [
        ("rayproject/ray:2.52.0-py310", True),
        ("us-docker.pkg.dev/acme/mirror/rayproject/ray-llm:2.60.0", True),
        ("rayproject/ray@sha256:0a1b", True),
        ("acme/my-ray:1", False),
        ("rayproject/rayx:1", False),
    ],
)
def test_rays_images_are_known_where_the_twin_has_ray(image: str, known: bool) -> None:
    pod = {"spec": {"containers": [{"image": image}]}}
    assert (Images([RayImage(folder=Path())]).of(pod) is not None) is known
    assert Images().of(pod) is None


def test_another_version_runs_and_is_remarked(tmp_path: Path) -> None:
    found = RayImage(folder=tmp_path)
    assert found.rejection("rayproject/ray:2.52.0") is None
    assert ray.version() in (found.remark("rayproject/ray:2.52.0-py310") or "")
    assert found.remark(f"rayproject/ray:{ray.version()}-py311-tpu") is None
    assert found.environment({}, 0)["PATH"].startswith(f"{tmp_path}/bin:")
    assert found.environment(V6E, 4)["TPU_TOPOLOGY"] == "4x4"
    assert str(tmp_path) in {mount["source"] for mount in found.mounts(Tools({}, {}))}


def test_the_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_CACHE", str(tmp_path))
    monkeypatch.delenv(ray.SWITCH, raising=False)
    assert images_of_extras() == []
    monkeypatch.setenv(ray.SWITCH, "yes")
    with pytest.raises(ToolError, match="allowed: 0"):
        images_of_extras()
    monkeypatch.setenv(ray.SWITCH, "1")
    with pytest.raises(ToolError, match="tpuplane-twin build --ray"):
        images_of_extras()
    made = ray.folder()
    made.mkdir(parents=True)
    (made / ".complete").touch()
    assert images_of_extras() == [RayImage(folder=made)]
