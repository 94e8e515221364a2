"""The catalogue's look-ups and the soundness of its data files."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest
import yaml
from tpuplane.tpu import GkeVersion, SliceError, catalogue
from tpuplane.tpu.catalogue import Catalogue, region_of

from tests.support.imported import imported

pytestmark = pytest.mark.unit

GENERATIONS = catalogue().generations


def data(name: str) -> Any:
    return yaml.safe_load(files("tpuplane.tpu").joinpath("data", name).read_text(encoding="utf-8"))


def test_every_source_key_has_a_citation() -> None:
    availability = {key for keys in data("zones.yaml")["sources"].values() for key in keys}
    features = {raw["source"] for raw in data("versions.yaml")["features"].values()}
    prices = {price.source for price in catalogue().prices}
    machines = {key for gen in GENERATIONS for machine in gen.machines for key in machine.sources}
    assert availability | features | prices | machines <= set(catalogue().sources)
    for generation in GENERATIONS:
        assert generation.sources
        assert set(generation.sources) <= set(catalogue().sources)
        assert all(machine.sources for machine in generation.machines)


def test_every_citation_is_used() -> None:
    text = "".join(
        files("tpuplane.tpu").joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
        for name in ("generations", "zones", "prices", "versions")
    )
    for name in ("rules", "class_rules", "observability"):
        text += files("tpuplane.spec").joinpath(f"data/{name}.yaml").read_text(encoding="utf-8")
    for definition in files("tpuplane.spec").joinpath("data/addons").iterdir():
        text += definition.read_text(encoding="utf-8")
    assert [key for key in catalogue().sources if not re.search(rf"\b{key}\b", text)] == []


def test_no_two_generations_share_a_name_a_label_or_a_machine() -> None:
    names = Counter(name for gen in GENERATIONS for name in {gen.name, gen.label, *gen.aliases})
    machines = Counter(machine.name for gen in GENERATIONS for machine in gen.machines)
    assert max(names.values()) == max(machines.values()) == 1


def test_a_machine_leads_to_its_generation() -> None:
    generation, machine = catalogue().machine("ct6e-standard-4t")
    assert (generation.name, machine.chips, machine.vcpus, machine.memory_gb) == ("v6e", 4, 180, 720)


@pytest.mark.parametrize(
    ("machine_type", "message"),
    [
        ("ct6e-standard-2t", "is not a TPU machine type; allowed: "),
        ("e2-standard-4", "is not a TPU machine type; allowed: "),
        ("ct5p-hightpu-1t", "is not a TPU machine type on GKE: neither the GKE autoscaler nor Compute Engine lists it"),
    ],
)
def test_a_machine_without_chips_is_rejected(machine_type: str, message: str) -> None:
    with pytest.raises(SliceError, match=message) as caught:
        catalogue().machine(machine_type)
    assert caught.value.field == "machine_type"


@pytest.mark.parametrize(
    ("zone", "generation", "offer"),
    [
        ("us-central2-b", "v4", "documented"),
        ("us-central1-a", "v4", None),
        ("us-central1-a", "v5e", "documented"),
        ("us-east5-c", "v5p", "listed"),
        ("us-central2-b", "v6e", "listed"),
        ("us-central1-ai1a", "tpu7x", "documented"),
        ("us-east1-b", "tpu7x", "region"),
        ("us-east4-a", "v6e", "region"),  # Compute Engine lists v6e in us-east4, no table says in which zone
        ("us-central1-f", "v6e", None),  # the region's zone is known, and it is another
        ("us-east4", "v6e", None),
        ("mars-north1-a", "v6e", None),
        ("us-central1-b", "trillium", "documented"),
    ],
)
def test_zone_offers(zone: str, generation: str, offer: str | None) -> None:
    assert catalogue().zone_offers(zone, generation) == offer
    if offer:
        catalogue().check_zone(zone, generation)


def test_a_generation_without_zones_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Catalogue()
    monkeypatch.setattr(own, "_zones", {})
    with pytest.raises(LookupError, match=r"v6e has no zones; add it to tpu/data/zones\.yaml"):
        own.zones("v6e")


def test_every_listed_zone_is_offered_and_flex_start_zones_are_among_them() -> None:
    for generation in GENERATIONS:
        for zone in catalogue().zones(generation.name):
            assert region_of(zone)
            assert catalogue().zone_offers(zone, generation.name) in {"documented", "listed"}
        flex_start = catalogue().zones(generation.name, flex_start=True)
        assert set(flex_start) <= set(catalogue().zones(generation.name))
        assert bool(flex_start) is generation.flex_start


@pytest.mark.parametrize(
    ("zone", "region"), [("us-central1-a", "us-central1"), ("us-south1-ai1b", "us-south1"), ("x", "")]
)
def test_region_of(zone: str, region: str) -> None:
    assert region_of(zone) == region


@pytest.mark.parametrize(
    ("generation", "region", "model", "usd", "as_of"),
    [
        ("tpu7x", "us-central1", "on-demand", 12.0, "2026-10"),  # a month beats the day in June
        ("v6e", "us-east5", "on-demand", 2.7, "2026-08-07"),  # a day beats the bare year
        ("v6e", "us-east1", "on-demand", 2.7, "2026-10"),
        ("v6e", "us-east5", "spot", 1.4033, "2026-08-07"),
        ("v6e", "us-east5", "flex-start", 1.35, "2026-08-07"),
        ("v5p", "us-east5", "cud-3y", 1.89, "2026-10"),
        ("v5e", "europe-west4", "on-demand", 1.56, None),
        ("trillium", "us-west1", "spot", 0.57285, "2026"),
    ],
)
def test_the_newest_price_is_found(generation: str, region: str, model: Any, usd: float, as_of: str | None) -> None:
    price = catalogue().price(generation, region, model)
    assert price is not None
    assert (price.usd_per_chip_hour, price.as_of, price.region) == (usd, as_of, region)


def test_a_price_is_never_taken_from_another_region_or_model() -> None:
    assert catalogue().price("tpu7x", "europe-west2", "on-demand") is None
    assert catalogue().price("tpu7x", "us-central1", "spot") is None


def test_prices_are_sound() -> None:
    readings = Counter((p.generation, p.region, p.model, p.as_of) for p in catalogue().prices)
    assert max(readings.values()) == 1, "which of two readings of one date is the price?"
    for price in catalogue().prices:
        assert price.usd_per_chip_hour > 0
        assert price.as_of is None or re.fullmatch(r"20\d\d(-[01]\d(-[0-3]\d)?)?", price.as_of)
        assert catalogue().generation(price.generation).name == price.generation


@pytest.mark.parametrize(
    ("asked", "minimum", "enough"),
    [
        ("1.34.0-gke.2201000", "1.34.0-gke.2201000", True),
        ("1.34.0-gke.2200999", "1.34.0-gke.2201000", False),
        ("1.34.0", "1.34.0-gke.2201000", True),
        ("1.34", "1.34.1-gke.2541000", True),
        ("1.33", "1.34.0-gke.2201000", False),
        ("1.9.9", "1.10.0-gke.1", False),
        ("1.28.0-gke.0", "1.28", True),
        ("1.27", "1.28", False),
        ("1.31.0-gke.1", "1.31.0", True),
    ],
)
def test_a_version_against_a_minimum(asked: str, minimum: str, enough: bool) -> None:
    assert (GkeVersion.parse(asked) >= GkeVersion.minimum(minimum)) is enough


def test_minimum_versions_on_record() -> None:
    assert str(catalogue().min_version("flex-start-tpu")) == "1.33.0-gke.1712000"
    for feature in data("versions.yaml")["features"]:
        assert catalogue().min_version(feature) > GkeVersion.minimum("1.20")
    for generation in GENERATIONS:
        for version in (generation.min_gke_version, generation.nap_min_version):
            assert version is None or GkeVersion.minimum(version)


def test_the_catalogue_needs_no_pulumi() -> None:
    assert imported("import tpuplane.tpu", "pulumi") == []
