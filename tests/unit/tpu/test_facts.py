"""The data files against the fact sheet they were translated from, where a checkout has it beside the repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.tpu import Generation, Slice, catalogue

FACTS = Path(__file__).parents[3].parent / "shared" / "facts" / "tpu.yaml"

pytestmark = [pytest.mark.unit, pytest.mark.skipif(not FACTS.exists(), reason="no fact sheet beside the repository")]


@pytest.fixture(scope="module")
def facts() -> Any:
    return yaml.safe_load(FACTS.read_text(encoding="utf-8"))


@pytest.fixture(params=catalogue().generations, ids=lambda generation: generation.name)
def generation(request: pytest.FixtureRequest) -> Generation:
    found: Generation = request.param
    return found


@pytest.fixture
def sheet(facts: Any, generation: Generation) -> Any:
    return facts["generations"][generation.name]


def test_every_public_generation_is_there(facts: Any) -> None:
    public = {name for name, sheet in facts["generations"].items() if sheet.get("public", True)}
    assert {generation.name for generation in catalogue().generations} == public


def test_machines(sheet: Any, generation: Generation) -> None:
    assert {machine.name for machine in generation.machines} == set(sheet["machine_types"])
    for machine in generation.machines:
        raw = sheet["machine_types"][machine.name]
        assert machine.chips == raw["chips_per_vm"]
        assert machine.vcpus == raw["vcpus"]
        assert machine.memory_gb == raw["memory_gb"]
        assert machine.single_host_topology == raw["single_host_topology"]
        assert machine.single_host_only is bool(raw.get("single_host_only") or sheet.get("single_host_only"))
        assert machine.min_cpu_platform == raw.get("min_cpu_platform", sheet.get("min_cpu_platform"))
        assert list(machine.sources) == raw["sources"]


def test_topologies(sheet: Any, generation: Generation) -> None:
    assert list(generation.topologies) == [raw["topology"] for raw in sheet["topologies"]]
    for raw in sheet["topologies"]:
        assert {machine.name for machine in generation.machines_for(raw["topology"])} == set(raw["vms"])
        for machine_type, hosts in raw["vms"].items():
            found = Slice.of(generation.name, raw["topology"], machine_type)
            assert (found.chips, found.hosts) == (raw["chips"], hosts)
            assert found.multi_host is raw["multi_host"][machine_type]


def test_facts_of_a_generation(sheet: Any, generation: Generation) -> None:
    assert generation.label == sheet["gke_accelerator_label"] == sheet["resource_limit_type"]
    assert generation.product.startswith(sheet["product"].split(" (")[0])
    assert generation.pod_chips == sheet.get("pod_chips")
    assert generation.flex_start is sheet["dws_flex_start"]
    assert generation.nap_min_version == sheet["nap_min_version"]
    minimum = sheet.get("gke_min_version")
    if isinstance(minimum, dict):
        assert generation.min_gke_version_autopilot == minimum["autopilot"]
        minimum = minimum["standard"]
    assert generation.min_gke_version == minimum
    assert (generation.placement == "workload-policy") is sheet.get("workload_policy_required_for_multi_host", False)


def test_chip(sheet: Any, generation: Generation) -> None:
    raw = dict(sheet["chip"])
    raw.pop("hbm_note", None)
    hbm = f"{raw.pop('hbm_gib')} GiB" if "hbm_gib" in raw else f"{raw.pop('hbm_gb')} GB"
    assert generation.chip.hbm == hbm
    if "ici_gbps_bidir" in raw:
        raw["ici_gbps_bidirectional"] = raw.pop("ici_gbps_bidir")
    for name, value in raw.items():
        assert getattr(generation.chip, name) == value, name


def test_boot_disks(facts: Any, generation: Generation) -> None:
    hyperdisk_only = {"v6e", "tpu7x"}
    assert (generation.boot_disk_types == ("hyperdisk-balanced",)) is (generation.name in hyperdisk_only)
    assert list(generation.boot_disk_types or ()) == facts["generations"][generation.name].get(
        "boot_disk_types", ["pd-balanced", "pd-ssd"] if generation.name in {"v5e", "v5p"} else []
    )


def test_accelerator_type_names(facts: Any, generation: Generation) -> None:
    naming = facts["accelerator_type_naming"]
    prefix = generation.accelerator_type.prefixes[0]
    assert generation.accelerator_type.cores_per_chip == naming["cores_counted_per_chip"][prefix]
    for example in naming["examples"]:
        found = Slice.from_accelerator_type(example["name"])
        assert (found.chips, found.hosts) == (example["chips"], example["vms"])


def test_zones(facts: Any) -> None:
    sheets = dict(facts["zones"])
    documented = {name: set(raw.get("gke_doc", ())) for name, raw in sheets.items() if isinstance(raw, dict)}
    for generation in catalogue().generations:
        name = generation.name
        if name in {"v3", "v3-device"}:
            continue
        raw = sheets[name]
        assert set(catalogue().zones(name)) == documented[name] | set(raw.get("api_hardware_zones", ()))
        for zone in catalogue().zones(name):
            assert (catalogue().zone_offers(zone, name) == "documented") is (zone in documented[name])
        assert set(catalogue().zones(name, flex_start=True)) == set(raw.get("flex_start_zones", ()))
    # The sheet lists the zones of single hosts and of podslices together.
    assert {*catalogue().zones("v3"), *catalogue().zones("v3-device")} == documented["v3"]


def test_regions(facts: Any) -> None:
    for generation in catalogue().generations:
        raw = facts["zones"].get(generation.name, facts["zones"]["v3"])
        for region in raw.get("ce_machine_regions", ()):
            named = any(zone.startswith(f"{region}-") for zone in catalogue().zones(generation.name))
            assert named or catalogue().zone_offers(f"{region}-b", generation.name) == "region"


def test_prices(facts: Any) -> None:
    def day(as_of: str) -> str | None:
        return None if as_of == "older" else as_of

    expected = Counter(
        (
            raw["generation"],
            raw["region"],
            raw["model"].replace("_", "-"),
            raw["usd_per_chip_hour"],
            day(raw["as_of"]),
            raw["source"],
        )
        for raw in facts["pricing"]["list"]
    )
    found = Counter(
        (p.generation, p.region, p.model, p.usd_per_chip_hour, p.as_of, p.source) for p in catalogue().prices
    )
    assert found == expected


@pytest.mark.parametrize(
    ("feature", "gate"),
    [
        ("multislice", ("multislice", "standard")),
        ("multislice-autopilot", ("multislice", "autopilot")),
        ("flex-start-tpu", ("flex_start_tpu",)),
        ("ray-operator-addon", ("ray_operator_addon",)),
        ("compute-class", ("compute_class",)),
        ("compute-class-tpu", ("compute_class_tpu",)),
        ("compute-class-reservations", ("compute_class_reservations",)),
        ("compute-class-placement", ("compute_class_placement",)),
        ("compute-class-auto-creation-without-nap", ("compute_class_auto_creation_without_nap",)),
    ],
)
def test_version_gates(facts: Any, feature: str, gate: tuple[str, ...]) -> None:
    found = facts["version_gates"]
    for key in gate:
        found = found[key]
    assert str(catalogue().min_version(feature)) == found
