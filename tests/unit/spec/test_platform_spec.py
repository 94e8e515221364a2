"""What a right description reads as, and what no input may do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec, SpecError, parse_platform

pytestmark = pytest.mark.unit

MINIMAL: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "clusters": {"east": {"location": "us-central1", "pools": {"trainer": {"generation": "v6e", "topology": "4x4"}}}},
}


def with_pool(**fields: object) -> PlatformSpec:
    pool = {"generation": "v6e", "topology": "4x4", **fields}
    return parse_platform({**MINIMAL, "clusters": {"east": {"location": "us-central1", "pools": {"trainer": pool}}}})


def test_defaults_are_the_safe_ones() -> None:
    cluster = parse_platform(MINIMAL).clusters["east"]
    assert cluster.deletion_protection
    assert not cluster.control_plane.public_endpoint
    assert cluster.control_plane.authorized_networks == ()
    assert cluster.release_channel == "REGULAR"
    assert cluster.addons.ray.mode == "gke-addon"
    pool = cluster.pools["trainer"]
    assert (pool.scale.maximum, pool.scale.minimum, pool.capacity) == (1, 1, "on-demand")
    assert pool.auto_repair
    assert pool.auto_upgrade


@pytest.mark.parametrize(
    ("resource", "quantity"),
    [
        *(("memory", text) for text in ("1e9", "1E3", "129e6", "1P", "1Pi", "1E", "1Ei", "1.5Gi")),
        *(("cpu", text) for text in ("500m", "5e-1", "1e1", "2", ".5")),
    ],
)
def test_quantities_are_those_of_kubernetes(resource: str, quantity: str) -> None:
    """https://kubernetes.io/docs/concepts/configuration/manage-resources-containers: 129e6 is 129M."""
    least = {"memory": "1k", "cpu": "1m"}[resource]
    addons = {"kueue": {"resources": {"limits": {resource: quantity}, "requests": {resource: least}}}}
    cluster = {"location": "us-central1", "addons": addons}
    kueue = parse_platform({**MINIMAL, "clusters": {"east": cluster}}).clusters["east"].addons.kueue
    assert kueue is not None
    assert getattr(kueue.resources.limits, resource) == quantity


@pytest.mark.parametrize(
    ("machine", "location"),
    [
        ("c4d-standard-8", "us-central1-a"),
        ("c4d-standard-8", "us-central1"),  # its nodes are in zones a, b and c
        ("c4a-standard-8", "us-central1-f"),  # no source lists the zones of C4A
        ("n4-standard-8", "us-south1-b"),
    ],
)
def test_a_machine_type_is_accepted_where_a_zone_may_have_it(machine: str, location: str) -> None:
    cluster = {"location": location, "systemPool": {"machineType": machine}}
    assert parse_platform({**MINIMAL, "clusters": {"east": cluster}}).clusters["east"].location == location


def test_a_zonal_cluster_has_pools_in_other_zones_of_its_region() -> None:
    tpu = {"type": "v6e", "topology": "4x4"}
    spec = parse_platform(
        {
            **MINIMAL,
            "classes": {
                "near": {
                    "nodePoolAutoCreation": {"enabled": True},
                    "priorities": [{"tpu": tpu, "location": {"zones": ["us-central1-b"]}}],
                }
            },
            "clusters": {
                "east": {
                    "location": "us-central1-a",
                    "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}},
                    "gpuPools": {"chat": {"accelerator": "nvidia-l4", "zones": ["us-central1-b", "us-central1-c"]}},
                    "autoProvisioning": {
                        "limits": {"cpu": 4000, "memoryGb": 16000, "tpu": {"v6e": 64}},
                        "zones": ["us-central1-b"],
                    },
                }
            },
        }
    )
    cluster = plan(spec).clusters[0]
    assert [pool.zones for pool in cluster.node_pools] == [
        ("us-central1-a",),
        ("us-central1-b",),
        ("us-central1-b", "us-central1-c"),
    ]


def test_the_zone_of_a_cluster_is_that_of_its_pools_and_classes_without_one() -> None:
    gpu = {"priorities": [{"machineType": "a3-megagpu-8g"}], "nodePoolAutoCreation": {"enabled": True}}
    cluster = {
        "location": "us-central1-f",
        "pools": {"trainer": {"generation": "v6e", "topology": "4x4"}},
        "gpuPools": {"chat": {"machineType": "a3-megagpu-8g"}},
    }
    with pytest.raises(SpecError) as rejected:
        parse_platform({**MINIMAL, "classes": {"far": gpu}, "clusters": {"east": cluster}})
    of_class, of_gpus, of_tpus = rejected.value.mistakes
    assert of_gpus.path[-1] == "zones"
    assert of_gpus.message.startswith(
        "required: us-central1-f is not known to offer a3-megagpu-8g; allowed: us-central1-a, "
    )
    assert "'a3-megagpu-8g' is not known to be in us-central1-f" in of_class.message
    assert of_tpus.path[-1] == "zone"
    assert of_tpus.message == "required: us-central1-f is not known to offer v6e; allowed: us-central1-b"


def test_a_class_of_a_zonal_cluster_names_the_zones_of_its_region_that_offer_its_slices() -> None:
    sliced = {"priorities": [{"tpu": {"type": "v6e", "topology": "4x4"}}], "nodePoolAutoCreation": {"enabled": True}}
    platform = {**MINIMAL, "classes": {"far": sliced}, "clusters": {"east": {"location": "us-central1-f"}}}
    with pytest.raises(SpecError) as rejected:
        parse_platform(platform)
    (mistake,) = rejected.value.mistakes
    assert mistake.path == ("classes", "far", "priorities", 0, "location", "zones")
    assert mistake.message == "required: us-central1-f is not known to offer v6e; allowed: us-central1-b"
    sliced["priorities"][0]["location"] = {"zones": ["us-central1-b"]}  # type: ignore[index]
    assert parse_platform(platform).classes["far"].priorities


def test_snake_case_means_the_same() -> None:
    camel = with_pool(diskSizeGb=200, autoscaling={"minSlices": 1, "maxSlices": 3})
    assert with_pool(disk_size_gb=200, autoscaling={"min_slices": 1, "max_slices": 3}) == camel


def test_numbers_may_arrive_as_text() -> None:
    """`pulumi up -c` and `pulumi config set` hand over every number and truth value as text."""
    assert with_pool(slices="3", autoRepair="false") == with_pool(slices=3, autoRepair=False)


def test_no_slices_is_a_pool_that_waits() -> None:
    assert with_pool(slices=0).clusters["east"].pools["trainer"].scale.maximum == 0


@pytest.mark.parametrize("version", ["1.34", "1.34.1", "1.34.1-gke.2201000"])
def test_versions_as_gke_writes_them(version: str) -> None:
    cluster = {**MINIMAL["clusters"]["east"], "version": version}
    assert parse_platform({**MINIMAL, "clusters": {"east": cluster}}).clusters["east"].version == version


def test_a_description_cannot_be_changed() -> None:
    spec = parse_platform(MINIMAL)
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "other"  # type: ignore[misc]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 70000) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def paths(value: object, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [at]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, (*at, key))
    return found


FULL: dict[str, Any] = {
    **MINIMAL,
    "labels": {"team": "a"},
    "clusters": {
        "east": {
            "location": "us-central1",
            "version": "1.34",
            "releaseChannel": "RAPID",
            "network": {"nodesCidr": "10.0.0.0/20", "podsCidr": "10.64.0.0/14", "servicesCidr": "10.32.0.0/20"},
            "controlPlane": {
                "masterCidr": "172.16.0.0/28",
                "authorizedNetworks": [{"cidr": "10.9.0.0/16", "name": "vpn"}],
            },
            "systemPool": {"machineType": "n2-standard-4", "minNodes": 1, "maxNodes": 2},
            "namespaces": ["research"],
            "pools": {
                "trainer": {
                    "generation": "v6e",
                    "topology": "4x4",
                    "zone": "us-central1-b",
                    "machineType": "ct6e-standard-4t",
                },
                "serving": {"generation": "v6e", "topology": "2x2", "autoscaling": {"minSlices": 0, "maxSlices": 2}},
            },
        }
    },
}


def replaced(value: Any, path: tuple[str, ...], new: object) -> Any:
    if not path:
        return new
    return {**value, path[0]: replaced(value[path[0]], path[1:], new)}


@settings(max_examples=300)
@given(path=st.sampled_from(paths(FULL)), junk=JSON)
def test_junk_anywhere_is_read_or_rejected_in_lines_that_name_the_place(path: tuple[str, ...], junk: object) -> None:
    """No value at any place ends in anything but a spec or mistakes, each of one line."""
    try:
        parse_platform(replaced(FULL, path, junk))
    except SpecError as error:
        assert error.mistakes
        assert len(str(error).splitlines()) >= len(error.mistakes)
        assert all(mistake.message for mistake in error.mistakes)


def test_a_value_that_is_nested_too_deep_is_rejected() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(SpecError, match="nested too deeply for a description"):
        parse_platform(replaced(FULL, ("clusters", "east", "pools"), deep))


@settings(max_examples=50)
@given(junk=JSON)
def test_the_same_mistakes_every_time(junk: object) -> None:
    value = replaced(FULL, ("clusters", "east", "pools", "trainer"), junk)
    assert _outcome(value) == _outcome(value)


def _outcome(value: object) -> str:
    try:
        return parse_platform(value).model_dump_json()
    except SpecError as error:
        return str(error)
