"""Every way to be wrong that we know of, and the exact line the user reads."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.core.errors import shown

from scripts.error_tables import with_fields

pytestmark = pytest.mark.unit

RIGHT: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "clusters": {
        "east": {"location": "us-central1", "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "slices": 2}}}
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
    with pytest.raises(SpecError) as rejected:
        parse_platform(value)
    return str(rejected.value).splitlines()


MISTAKES = yaml.safe_load(with_fields(Path(__file__).with_name("mistakes.yaml").read_text()))


@pytest.mark.parametrize("case", MISTAKES, ids=[case["line"].partition("; ")[0] for case in MISTAKES])
def test_a_mistake_is_one_clear_line(case: dict[str, Any]) -> None:
    changes = {**case.get("change", {}), **dict.fromkeys(case.get("gone", ()), GONE)}
    assert lines(changed(changes)) == [case["line"]]


def test_a_description_is_no_longer_than_kueue_takes() -> None:
    wrong = changed({"queues": {"priorities": {"urgent": {"value": 1, "description": "x" * 2049}}}})
    (line,) = lines(wrong)
    start = f"queues.priorities.urgent.description: '{'x' * 55}...'"
    assert line == f"{start} (2,049 characters) is too long; allowed: at most 2048 characters"


def test_keys_of_a_program_that_are_no_texts() -> None:
    pools = RIGHT["clusters"]["east"]["pools"]
    wrong = changed({"clusters.east.pools": {**pools, 1: pools["trainer"], "slices": 2}})
    (line, _) = lines(wrong)
    assert line.endswith("slices: is a field in place of a name; indent it below trainer, or below a new name")


def test_arguments_of_a_script_may_repeat() -> None:
    script = {"gcpSecretManagerSecretUri": "projects/p/secrets/s/versions/1", "args": ["-v", "-v"]}
    settings = {"linuxNodeConfig": {"customNodeInit": {"initScript": script}}}
    class_ = {
        "nodePoolAutoCreation": {"enabled": True},
        "priorities": [{"tpu": {"type": "v6e", "topology": "4x4"}, "nodeSystemConfig": settings}],
    }
    assert parse_platform(changed({"classes.main": class_})).classes["main"].priorities


def test_clusters_of_one_name_in_two_places_are_two() -> None:
    theirs = {place: {"location": place, "existing": {"name": "theirs"}} for place in ("us-central1", "us-east5")}
    spec = parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": theirs})
    assert list(spec.clusters) == list(theirs)


def test_the_description_that_the_table_changes_is_right() -> None:
    assert parse_platform(RIGHT).clusters["east"].pools["trainer"].scale.maximum == 2


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


def test_a_wrong_key_does_not_hide_its_wrong_value() -> None:
    assert [line.partition("; ")[0] for line in lines(changed({"labels": {"Team": "ML"}}))] == [
        "labels.Team: 'ML' is not allowed",
        "labels.Team: 'Team' is not allowed",
    ]


def test_a_rejected_value_is_not_also_missed() -> None:
    """A zone of the wrong type must not be reported as a zone that is required as well."""
    value = changed({f"{TRAINER}.generation": "tpu7x", f"{TRAINER}.topology": "2x2x2", f"{TRAINER}.zone": 7})
    assert lines(value) == [
        f"{TRAINER}.zone: '7' is not in the cluster's region us-central1; allowed: us-central1-ai1a, us-central1-c"
    ]


def test_what_depends_on_a_rejected_value_is_not_reported() -> None:
    """A misspelt capacity is one mistake, although its reservation then stands beside none that it fits."""
    value = changed({f"{TRAINER}.capacity": "reserved", f"{TRAINER}.reservation": {"name": "nightly"}})
    (line,) = lines(value)
    assert line.startswith(f"{TRAINER}.capacity: 'reserved' is not allowed; allowed: on-demand, spot, reservation")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({f"{TRAINER}.slices": "four"}, f"{TRAINER}.slices: 'four' is not a whole number; allowed: 0 to 15000"),
        ({f"{TRAINER}.slices": "0-2"}, f"{TRAINER}.slices: '0-2' is not a whole number; allowed: 0 to 15000"),
        ({f"{TRAINER}.slices": 10**310}, f"{TRAINER}.slices: 1000000000"),
        ({f"{TRAINER}.topology": GONE}, f"{TRAINER}.topology: required: Chips of one slice"),
        ({TRAINER: None}, f"{TRAINER}: is empty; write trainer: {{generation: …, topology: …}}, or remove it"),
        ({f"{TRAINER}.topology": "9x9"}, f"{TRAINER}.topology: '9x9' is not a v6e topology"),
        ({f"{TRAINER}.zone": "us-east5-b"}, f"{TRAINER}.zone: 'us-east5-b' is not in the cluster's region"),
        ({"reservations.nightly.generation": "v7"}, "reservations.nightly.generation: 'v7' is not a TPU generation"),
        ({"reservations.nightly": None}, "reservations.nightly: is empty; write nightly: {zone: …}, or remove it"),
        ({"queues": None}, "queues: is empty; write queues: {} for its defaults, or remove it"),
        ({"queues.fairSharing": "si"}, "queues.fairSharing: 'si' is not true or false"),
        ({"clusters.east.addons": None}, "clusters.east.addons: is empty; write addons: {} for its defaults"),
        (
            {"clusters.east.addons.kueue": None},
            "clusters.east.addons.kueue: is empty; write kueue: {} for its defaults",
        ),
        ({"clusters.east.pools": None}, "clusters.east.pools: is empty; write pools: {NAME: {generation: …"),
        ({"clusters.east.location": "us-centrall"}, "clusters.east.location: 'us-centrall' is not a Google Cloud"),
        (
            {"clusters.east.version": "1.20"},
            "clusters.east.version: '1.20' is too old: GKE creates no clusters with it",
        ),
        ({"clusters.east.version": "1.31"}, "clusters.east.version: '1.31' is too old for JobSet 0.12.0"),
        ({"classes.big.clusters": ["west"]}, "classes.big.clusters[0]: 'west' is not one of the platform's clusters"),
        ({"classes": None}, "classes: is empty; write classes: {NAME: {…}}, or remove it"),
    ],
)
def test_what_follows_from_a_mistake_is_no_mistake_of_its_own(changes: dict[str, Any], line: str) -> None:
    """A team, a class and a reservation hang on the pool, and on each other."""
    right = {
        "queues": {"fairSharing": True},
        "reservations": {"nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64}},
        "teams": {"a": {"weight": 2, "clusters": {"east": {"pools": {"trainer": {"slices": 2}}}}}},
        "classes": {"big": {"clusters": ["east"], "priorities": [{"nodepools": ["spare"]}]}},
        "clusters.east.addons": {"kueue": {}, "jobset": {}},
        f"{TRAINER}.capacity": "reservation",
        f"{TRAINER}.reservation": {"name": "nightly"},
        f"{TRAINER}.computeClass": "big",
        "clusters.east.pools.spare": {"generation": "v5e", "topology": "2x4"},
    }
    assert parse_platform(changed(right))
    (found,) = lines(changed({**right, **changes}))
    assert found.startswith(line)


def test_each_rule_that_a_rejected_text_breaks_is_reported() -> None:
    teams = {name: {"members": [f"group:{name}@example.com"], "clusters": {"east": {}}} for name in ("one", "two")}
    said = lines(
        changed({"clusters.east.addons": {"kueue": {}}, "clusters.east.security": {"securityGroup": 5}, "teams": teams})
    )
    assert [line.partition(" is a member of ")[0].rpartition(" ")[2] for line in said] == [
        "group:one@example.com",
        "group:two@example.com",
    ]


def test_of_two_mistakes_that_are_independent_none_is_left_out() -> None:
    pools = {name: {"generation": "v6e", "topology": topology} for name, topology in (("a", "4x5"), ("b", "9x9"))}
    assert (
        len(lines(changed({"clusters.east.pools": pools, "name": "Lab", "clusters.east.releaseChannel": "FAST"}))) == 4
    )


@pytest.mark.parametrize(
    ("field", "value", "meant"),
    [
        ("clusters.east.region", "us-central1", "location"),
        (f"{TRAINER}.spot", True, "capacity: spot"),
        (f"{TRAINER}.preemptible", True, "capacity: spot"),
        (f"{TRAINER}.tpu_topology", "4x4", "topology"),
        (f"{TRAINER}.nodeCount", 4, "slices"),
        (f"{TRAINER}.topolgy", "4x4", "topology"),
        ("clusters.east.nodePools", {}, "pools"),
    ],
)
def test_an_unknown_field_is_taken_for_the_one_that_is_meant(field: str, value: object, meant: str) -> None:
    (line,) = lines(changed({field: value}))
    assert line.startswith(f"{field}: unknown field; allowed: ")
    assert line.endswith(f"; {'write' if ':' in meant else 'nearest:'} {meant}")


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("clusters.east.nodesCidr", "10.0.0.0/20", "it belongs below network"),
        ("clusters.east.masterCidr", "10.0.0.0/28", "it belongs below controlPlane"),
        ("clusters.east.exclusions", {}, "it belongs below maintenance"),
        ("podsCidr", "10.64.0.0/14", "it belongs below clusters.NAME.network"),
        (f"{TRAINER}.releaseChannel", "RAPID", "it is a field of clusters.NAME"),
    ],
)
def test_an_unknown_field_is_looked_up_in_the_whole_schema(field: str, value: object, hint: str) -> None:
    (line,) = lines(changed({field: value}))
    assert line.startswith(f"{field}: unknown field; allowed: ")
    assert line.endswith(f"; {hint}")


def test_no_other_field_is_suggested_for_one_that_is_like_none() -> None:
    (line,) = lines(changed({"clusters.east.banana": 1}))
    assert line.startswith("clusters.east.banana: unknown field; allowed: location, ")


def test_ranges_of_different_networks_do_not_overlap() -> None:
    def described(network: str) -> dict[str, Any]:
        existing = {"network": network, "subnetwork": "tpus"}
        return {
            "location": "us-east5",
            "network": {"existing": existing},
            "controlPlane": {"masterCidr": "172.16.0.0/28"},
        }

    apart = {"clusters.first": described("one"), "clusters.second": described("two")}
    assert parse_platform(changed(apart))
    (line,) = lines(changed(apart | {"clusters.second": described("projects/tpuplane-lab/global/networks/one")}))
    assert line.startswith(
        "clusters.second.controlPlane.masterCidr: '172.16.0.0/28' overlaps 172.16.0.0/28 of clusters.first."
    )


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
    assert parse_platform(changed({"clusters.west": {"location": "us-east5", "network": free}}))


def test_a_region_has_one_subnetwork_for_proxies() -> None:
    ranges = {"nodesCidr": "10.1.0.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.33.0.0/20"}
    east = {"clusters.east.network.proxiesCidr": "10.2.0.0/23"}
    west = {"location": "us-central1-a", "network": {**ranges, "proxiesCidr": "10.2.2.0/23"}}
    line = (
        "clusters.west.network.proxiesCidr: us-central1 has the proxy-only subnetwork of "
        "clusters.east.network.proxiesCidr; remove one of the two"
    )
    assert lines(changed({**east, "clusters.west": west})) == [line]
    west["location"] = "us-east5-a"
    assert parse_platform(changed({**east, "clusters.west": west})).clusters.keys() == {"east", "west"}


def test_a_subnetwork_for_proxies_has_a_name_of_its_own() -> None:
    ranges = {"nodesCidr": "10.1.0.0/20", "podsCidr": "10.72.0.0/14", "servicesCidr": "10.33.0.0/20"}
    east = {"clusters.east.network.proxiesCidr": "10.2.0.0/23"}
    other = {"location": "us-central1", "network": ranges}
    line = (
        "clusters.east.network.proxiesCidr: its subnetwork has the same name as that of clusters.east-proxies; "
        "rename one of them"
    )
    assert lines(changed({**east, "clusters.east-proxies": other})) == [line]
    other["network"] = {"existing": {"network": "ours", "subnetwork": "nodes"}}
    assert parse_platform(changed({**east, "clusters.east-proxies": other}))


def test_a_name_too_long_for_a_workload_policy_is_rejected() -> None:
    pool = {"generation": "tpu7x", "topology": "16x16x16", "zone": "us-central1-c"}
    value = changed({"name": "l" * 25, "clusters.east.pools": {"p" * 35: pool}})
    (line,) = lines(value)
    assert "its workload policy" in line
    assert "allowed: 63" in line


@pytest.mark.parametrize("value", [None, 5, "lab", ["lab"]])
def test_anything_but_a_mapping_is_rejected(value: object) -> None:
    assert lines(value) == [f"a description is a mapping with name, project and clusters, not {shown(value)}"]
