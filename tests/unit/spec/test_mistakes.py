"""Every way to be wrong that we know of, and the exact line the user reads."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.spec import PlatformSpec, SpecError
from tpuplane.spec.errors import shown

pytestmark = pytest.mark.unit

RIGHT: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "clusters": {
        "east": {
            "location": "us-central1",
            "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "slices": 2}},
        }
    },
}
GONE = object()
TRAINER = "clusters.east.pools.trainer"


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The right description with the value at each dotted path replaced, or removed."""
    value = copy.deepcopy(RIGHT)
    for path, new in changes.items():
        at = value
        *parents, last = path.split(".")
        for part in parents:
            at = at.setdefault(part, {})
        if new is GONE:
            del at[last]
        else:
            at[last] = new
    return value


def lines(value: object) -> list[str]:
    with pytest.raises(SpecError) as refused:
        PlatformSpec.parse(value)
    return str(refused.value).splitlines()


MISTAKES = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text())


@pytest.mark.parametrize("case", MISTAKES, ids=[case["line"].partition("; ")[0] for case in MISTAKES])
def test_a_mistake_is_one_clear_line(case: dict[str, Any]) -> None:
    changes = {**case.get("change", {}), **dict.fromkeys(case.get("gone", ()), GONE)}
    assert lines(changed(changes)) == [case["line"]]


def test_a_description_is_no_longer_than_kueue_takes() -> None:
    wrong = changed({"queues": {"priorities": {"urgent": {"value": 1, "description": "x" * 2049}}}})
    (line,) = lines(wrong)
    assert line.startswith("queues.priorities.urgent.description: ")
    assert line.endswith(" is too long; allowed: at most 2048 characters")


def test_clusters_of_one_name_in_two_places_are_two() -> None:
    theirs = {place: {"location": place, "existing": {"name": "theirs"}} for place in ("us-central1", "us-east5")}
    spec = PlatformSpec.parse({"name": "lab", "project": "tpuplane-lab", "clusters": theirs})
    assert list(spec.clusters) == list(theirs)


def test_the_description_that_the_table_changes_is_right() -> None:
    assert PlatformSpec.parse(RIGHT).clusters["east"].pools["trainer"].max_slices == 2


def test_all_mistakes_come_at_once_sorted_by_path() -> None:
    """Malformed fields do not hide rules that other fields break, nor a broken rule another one."""
    everything = changed(
        {
            "name": "Lab",
            "lables": {},
            "clusters.east.releaseChannel": "FAST",
            "clusters.east.pools.a": {"generation": "v6e", "topology": "4x5", "slcies": 2},
            "clusters.east.pools.b": {"topology": "4x4"},
            "clusters.west": {"location": "us-east5"},
        }
    )
    assert [line.partition(":")[0] for line in lines(everything)] == [
        "clusters.east.pools.a.slcies",
        "clusters.east.pools.a.topology",
        "clusters.east.pools.b.generation",
        "clusters.east.releaseChannel",
        "clusters.west.network.nodesCidr",
        "clusters.west.network.podsCidr",
        "clusters.west.network.servicesCidr",
        "lables",
        "name",
    ]


def test_a_refused_value_is_not_also_missed() -> None:
    """A zone of the wrong type must not be reported as a zone that is required as well."""
    value = changed({f"{TRAINER}.generation": "tpu7x", f"{TRAINER}.topology": "2x2x2", f"{TRAINER}.zone": 7})
    assert lines(value) == [f"{TRAINER}.zone: 7 is a number to YAML, not text; put it in quotes"]


def test_what_hangs_on_a_refused_value_is_no_news() -> None:
    """A misspelt capacity is one mistake, although its reservation then stands beside none that it fits."""
    value = changed({f"{TRAINER}.capacity": "reserved", f"{TRAINER}.reservation": {"name": "nightly"}})
    (line,) = lines(value)
    assert line.startswith(f"{TRAINER}.capacity: 'reserved' is not allowed; allowed: on-demand, spot, reservation")


def test_an_overlap_names_a_default_and_offers_free_ranges() -> None:
    first, second, third = lines(changed({"clusters.west": {"location": "us-east5"}}))
    assert first == (
        "clusters.west.network.nodesCidr: '10.0.0.0/20' (the default) overlaps 10.0.0.0/20 of "
        "clusters.east.network.nodesCidr; next free: 10.0.16.0/20"
    )
    free = {
        "nodesCidr": first.rpartition(" ")[2],
        "podsCidr": second.rpartition(" ")[2],
        "servicesCidr": third.rpartition(" ")[2],
    }
    assert PlatformSpec.parse(changed({"clusters.west": {"location": "us-east5", "network": free}}))


def test_a_name_too_long_for_a_workload_policy_is_refused() -> None:
    pool = {"generation": "tpu7x", "topology": "16x16x16", "zone": "us-central1-c"}
    value = changed({"name": "l" * 25, "clusters.east.pools": {"p" * 35: pool}})
    (line,) = lines(value)
    assert "its workload policy" in line
    assert "allowed: 63" in line


@pytest.mark.parametrize("value", [None, 5, "lab", ["lab"]])
def test_anything_but_a_mapping_is_refused(value: object) -> None:
    assert lines(value) == [f"a mapping with name, project and clusters is wanted, not {shown(value)}"]


def test_where_stands_in_front_of_every_mistake() -> None:
    with pytest.raises(SpecError, match=r"^tpuplane:platform: name: ''"):
        PlatformSpec.parse(changed({"name": ""}), where="tpuplane:platform")
