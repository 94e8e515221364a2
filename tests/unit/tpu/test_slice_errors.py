"""What users read when they get it wrong: whole messages, word by word."""

from __future__ import annotations

import pytest
from tpuplane.tpu import GkeVersion, Slice, SliceError, catalogue

pytestmark = pytest.mark.unit

V6E = "1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"
V5P = "2x2x1, 2x2x2, 2x2x4, 2x4x4, and any AxBxC of multiples of 4 with A<=B<=C and at most 6144 chips"


@pytest.mark.parametrize(
    ("generation", "topology", "message"),
    [
        ("v6e", "4x5", f"'4x5' is not a v6e topology; allowed: {V6E}; nearest: 4x4, 4x8"),
        ("v6e", "8x4", f"'8x4' is not a v6e topology; allowed: {V6E}; nearest: 4x8"),
        ("v6e", "32x32", f"'32x32' is not a v6e topology; allowed: {V6E}; nearest: 16x16"),
        ("v6e", "2x8", f"'2x8' is not a v6e topology; allowed: {V6E}; nearest: 4x4"),
        ("v6e", "2x2x4", f"'2x2x4' is not a v6e topology (it needs 2 numbers); allowed: {V6E}; nearest: 4x4"),
        ("v6e", "4X4", f"'4X4' is not a v6e topology (write AxB, for example 16x16); allowed: {V6E}; nearest: 4x4"),
        ("v6e", "4 x 4", f"'4 x 4' is not a v6e topology (write AxB, for example 16x16); allowed: {V6E}; nearest: 4x4"),
        ("v6e", "16", f"'16' is not a v6e topology (write AxB, for example 16x16); allowed: {V6E}; nearest: 4x4"),
        ("v6e", "large", f"'large' is not a v6e topology (write AxB, for example 16x16); allowed: {V6E}"),
        (
            "v5p",
            "4x2x2",
            f"'4x2x2' is not a v5p topology (the numbers must ascend, A<=B<=C); allowed: {V5P}; nearest: 2x2x4",
        ),
        ("v5p", "4x4", f"'4x4' is not a v5p topology (it needs 3 numbers); allowed: {V5P}; nearest: 2x2x4"),
        (
            "v5p",
            "4x4x6",
            "'4x4x6' is not a v5p topology (from 64 chips, every number must be a multiple of 4); "
            f"allowed: {V5P}; nearest: 4x4x4, 4x4x8",
        ),
        (
            "v5p",
            "2x2x3",
            "'2x2x3' is not a v5p topology (below 64 chips, only the listed topologies exist); "
            f"allowed: {V5P}; nearest: 2x2x2, 2x2x4",
        ),
        (
            "v5p",
            "16x20x20",
            "'16x20x20' is not a v5p topology (6400 chips are more than the largest slice, 6144); "
            f"allowed: {V5P}; nearest: 16x16x20",
        ),
    ],
)
def test_topology(generation: str, topology: str, message: str) -> None:
    with pytest.raises(SliceError) as caught:
        Slice.of(generation, topology)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("generation", "topology", "machine_type", "message"),
    [
        (
            "v6e",
            "4x4",
            "ct6e-standard-8t",
            "'ct6e-standard-8t' supports only v6e 2x4, not 4x4; allowed: ct6e-standard-4t; nearest: ct6e-standard-4t",
        ),
        (
            "v6e",
            "2x2",
            "ct5p-hightpu-4t",
            "'ct5p-hightpu-4t' is a v5p machine type and does not support v6e 2x2; "
            "allowed: ct6e-standard-4t; nearest: ct6e-standard-4t",
        ),
        (
            "v6e",
            "1x1",
            "ct6e-standard-4t",
            "'ct6e-standard-4t' has 4 chips per host and does not support v6e 1x1; "
            "allowed: ct6e-standard-1t; nearest: ct6e-standard-1t",
        ),
        (
            "v6e",
            "2x4",
            "ct6e-standard-9t",
            "'ct6e-standard-9t' is not a v6e machine type; "
            "allowed: ct6e-standard-4t, ct6e-standard-8t; nearest: ct6e-standard-8t",
        ),
        (
            "v5p",
            "2x2x2",
            "ct5p-hightpu-2t",
            "'ct5p-hightpu-2t' is not a v5p machine type on GKE "
            "(neither the GKE autoscaler nor Compute Engine lists it under this name); "
            "allowed: ct5p-hightpu-4t; nearest: ct5p-hightpu-4t",
        ),
    ],
)
def test_machine_type(generation: str, topology: str, machine_type: str, message: str) -> None:
    with pytest.raises(SliceError) as caught:
        Slice.of(generation, topology, machine_type)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("written", "nearest"), [("V6E", "v6e"), ("v6", "v6e"), ("tpu-7x", "tpu7x"), ("Trillium", "v6e")]
)
def test_generation(written: str, nearest: str) -> None:
    with pytest.raises(SliceError) as caught:
        Slice.of(written, "4x4")
    assert caught.value.field == "generation"
    assert caught.value.nearest[0] == nearest
    assert str(caught.value).startswith(
        f"'{written}' is not a TPU generation; allowed: v3-device, v3, v4, v5e-device, v5e, v5p, v6e, tpu7x; nearest: "
    )


def test_a_generation_that_two_share_is_not_guessed() -> None:
    with pytest.raises(SliceError) as caught:
        Slice.of("v5", "2x2")
    assert set(caught.value.nearest) == {"v5e", "v5p"}


def test_nodes_with_a_number_of_chips_that_no_machine_has() -> None:
    with pytest.raises(SliceError, match="'3' chips per node do not match v6e 2x4; allowed: 4, 8; nearest: 4"):
        Slice.for_nodes("tpu-v6e-slice", "2x4", chips_per_node=3)


def test_nodes_whose_machine_and_chips_contradict_each_other() -> None:
    with pytest.raises(SliceError, match="'8' chips per node do not match v6e 2x4"):
        Slice.for_nodes("tpu-v6e-slice", "2x4", "ct6e-standard-4t", chips_per_node=8)


@pytest.mark.parametrize(
    ("zone", "generation", "nearest"),
    [
        ("us-central1-a", "v4", ("us-central2-b",)),
        ("us-central1-f", "v6e", ("us-central1-b",)),
        ("europe-west4-b", "v6e", ("europe-west4-a",)),
        ("us-central1-a", "tpu7x", ("us-central1-ai1a", "us-central1-c")),
        ("asia-east1-a", "v5p", ()),
        ("us-east5a", "v5p", ("us-east5-a", "us-east5-c")),
    ],
)
def test_zone(zone: str, generation: str, nearest: tuple[str, ...]) -> None:
    with pytest.raises(SliceError) as caught:
        catalogue().check_zone(zone, generation)
    assert caught.value.field == "zone"
    assert caught.value.nearest == nearest
    assert str(caught.value).startswith(f"'{zone}' is not known to offer {generation}; allowed: ")


@pytest.mark.parametrize(
    "text", ["latest", "-", "1", "1.34.x", "1.34.0-gke", "1.34.0-eks.1", "v1.34.0", "1.34.0-gke.1 "]
)
def test_version(text: str) -> None:
    with pytest.raises(SliceError, match="is not a GKE version; write it as"):
        GkeVersion.parse(text)
