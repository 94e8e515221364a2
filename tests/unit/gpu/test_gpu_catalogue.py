"""The GPU catalogue: its data hold together, and its look-ups say what is allowed."""

from __future__ import annotations

import re

import pytest
from tpuplane.gpu import GpuError, GpuMachine, gpu_catalogue
from tpuplane.spec.core.locations import locations
from tpuplane.tpu.catalogue import region_of

pytestmark = pytest.mark.unit

MACHINES = gpu_catalogue().machines


def test_every_source_key_is_explained() -> None:
    known = gpu_catalogue().sources
    used = {key for machine in MACHINES for key in (*machine.sources, *machine.accelerator.sources)}
    used |= {price.source for price in gpu_catalogue().prices}
    assert used <= set(known)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine_: machine_.name)
def test_a_machine_is_what_its_name_says(machine: GpuMachine) -> None:
    size = re.fullmatch(r".*-(\d+)(g?)", machine.name)
    assert size is not None
    # The A series count GPUs, the G series vCPUs.
    assert int(size[1]) == (machine.gpus if size[2] else machine.vcpus)
    assert machine.name.startswith(f"{machine.series}-")
    assert len(set(machine.zones)) == len(machine.zones) > 0
    assert {region_of(zone) for zone in machine.zones} <= set(locations().regions)
    # Local SSDs come with it or may be asked for, never both.
    assert not (machine.local_ssds and machine.local_ssd_choices)
    assert bool(machine.networks) == (machine.gpudirect is not None)


def test_an_incomplete_name_is_nearest_to_its_continuations() -> None:
    with pytest.raises(GpuError) as raised:
        gpu_catalogue().accelerator("nvidia-h100")
    assert raised.value.nearest == ("nvidia-h100-80gb", "nvidia-h100-mega-80gb")


def test_one_default_at_most_among_machines_that_differ_in_size_only() -> None:
    by_shape: dict[tuple[str, int], list[GpuMachine]] = {}
    for machine in MACHINES:
        by_shape.setdefault((machine.accelerator.name, machine.gpus), []).append(machine)
    for shape, alike in by_shape.items():
        assert len(alike) == 1 or sum(machine_.default for machine_ in alike) == 1, shape


@pytest.mark.parametrize(
    ("accelerator", "gpus", "machine"),
    [
        ("nvidia-l4", None, "g2-standard-12"),
        ("nvidia-l4", 8, "g2-standard-96"),
        ("nvidia-tesla-a100", 16, "a2-megagpu-16g"),
        ("nvidia-a100-80gb", 2, "a2-ultragpu-2g"),
        ("nvidia-h100-80gb", None, "a3-highgpu-1g"),
        ("nvidia-h100-mega-80gb", None, "a3-megagpu-8g"),
        ("nvidia-h200-141gb", 8, "a3-ultragpu-8g"),
        ("nvidia-b200", None, "a4-highgpu-8g"),
    ],
)
def test_the_machine_with_so_many_gpus(accelerator: str, gpus: int | None, machine: str) -> None:
    assert gpu_catalogue().machine_with(accelerator, gpus).name == machine


def test_rejections_name_what_is_allowed() -> None:
    catalogue = gpu_catalogue()
    with pytest.raises(GpuError) as unknown:
        catalogue.accelerator("nvidia-h100")
    assert unknown.value.field == "accelerator"
    assert "nvidia-h100-80gb" in unknown.value.nearest
    with pytest.raises(GpuError, match=r"'3' GPUs of nvidia-l4 .*; allowed: 1, 2, 4, 8"):
        catalogue.machine_with("nvidia-l4", 3)
    with pytest.raises(GpuError) as misspelt:
        catalogue.machine("a3-highgpu-8")
    assert misspelt.value.field == "machine_type"
    assert "a3-highgpu-8g" in misspelt.value.nearest
    with pytest.raises(GpuError) as elsewhere:
        catalogue.check_zone("us-west1-a", catalogue.machine("a3-ultragpu-8g"))
    assert elsewhere.value.field == "zone"
    assert elsewhere.value.nearest == ("us-west1-c",)


# What GKE's own autoscaler reckons these machines cost per hour in us-central1, GPUs included: a source beside ours.
@pytest.mark.parametrize(
    ("machine", "usd"), [("a2-highgpu-1g", 3.673385), ("a2-highgpu-4g", 14.69354), ("a2-highgpu-8g", 29.38708)]
)
def test_prices_agree_with_the_autoscalers(machine: str, usd: float) -> None:
    found = gpu_catalogue().machine(machine)
    price = gpu_catalogue().price(found, "us-central1", "on-demand")
    assert price is not None
    assert price.usd_per_node_hour(found) == pytest.approx(usd, rel=1e-4)


def test_spot_is_cheaper_than_on_demand() -> None:
    compared = 0
    for machine in MACHINES:
        for price in gpu_catalogue().prices:
            if (price.series, price.model) != (machine.series, "spot"):
                continue
            full = gpu_catalogue().price(machine, price.region, "on-demand")
            if full is not None:
                assert price.usd_per_node_hour(machine) < full.usd_per_node_hour(machine), (machine.name, price.region)
                compared += 1
    assert compared


def test_a_price_is_of_exactly_its_region() -> None:
    catalogue = gpu_catalogue()
    assert catalogue.price(catalogue.machine("a4-highgpu-8g"), "us-central1", "on-demand") is None
    assert catalogue.price(catalogue.machine("g2-standard-4"), "europe-west6", "spot") is None
