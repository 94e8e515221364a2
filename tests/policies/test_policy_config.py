"""Both gates read the policy configuration strictly: each mistake has its file and key."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane_policies.core.config import SHIPPED, ConfigError, read, settings
from tpuplane_policies.core.registry import rules
from tpuplane_policies.plangate import app
from typer.testing import CliRunner

pytestmark = pytest.mark.policies

TOOLS = Path(__file__).parents[2] / "twin" / "tpuplane_twin" / "tools" / "tools.yaml"
EXEMPT = {"resource": "a", "reason": "b", "until": "2027-01-31"}

WRONG: dict[str, str] = {
    "": "it is empty; allowed: a JSON file",
    "{": "Expecting property name",
    "[]": "[] is not an object",
    "null": "nothing is not an object",
    "1": "1 is not an object",
    '{"REP001": "Mandatory"}': "REP001: 'Mandatory' is not a level; allowed: advisory, mandatory, remediate",
    '{"REP001": "mandatry"}': "nearest: mandatory",
    '{"REP001": ""}': "REP001: '' is not a level",
    '{"REP001": true}': "REP001: true is not a level or an object of options",
    '{"REP001": null}': "REP001: nothing is not a level",
    '{"REP001": []}': "REP001: [] is not a level",
    '{"REP001": {"enforcementLevel": "on"}}': "REP001.enforcementLevel: 'on' is not a level",
    '{"REP001": {"enforcementLevel": null}}': "REP001.enforcementLevel: nothing is not a level",
    '{"REP001": {"enforcementLevel": {"a": 1}}}': "REP001.enforcementLevel: {'a': 1} is not a level",
    '{"REP001": {"approved": "central-x"}}': "REP001.approved: 'central-x' is not a list",
    '{"REP001": {"approved": [1]}}': "REP001.approved[0]: 1 is not a text",
    '{"REP001": {"approve": ["central"]}}': "'approve' is not an option of this rule; allowed: enforcementLevel",
    '{"GKE08": "mandatory"}': "'GKE08' is not a rule; allowed: all, and the ids of docs/policies.md; nearest: ",
    '{"gke008": "mandatory"}': "'gke008' is not a rule",
    '{"TPU007-stack": "mandatory"}': "'TPU007-stack' is not a rule",
    '{"all": "advisory", "GKE08": "mandatory"}': "'GKE08' is not a rule",
    '{"all": {"chips": 5}}': "all.chips: 'chips' is not an option of this rule; allowed: enforcementLevel",
    '{"all": "none"}': "all: 'none' is not a level",
    '{"TPU012": {"chip": 5}}': "TPU012.chip: 'chip' is not an option of this rule",
    '{"TPU012": {"chips": "many"}}': "TPU012.chips: 'many' is not a number; allowed: a number from 0",
    '{"TPU012": {"chips": true}}': "TPU012.chips: true is not a number",
    '{"TPU012": {"chips": -1}}': "TPU012.chips: -1 is not a number",
    '{"TPU012": {"chips": null}}': "TPU012.chips: nothing is not a number",
    '{"TPU012": {"chips": 1e999}}': "TPU012.chips: inf is not a number",
    f'{{"TPU012": {{"chips": 1{"0" * 400}}}}}': "000... is not a number",
    '{"TPU012": {"chips": NaN}}': "NaN is not a number",
    '{"TPU012": {"teams": {"vision": "all"}}}': "TPU012.teams.vision: 'all' is not a number",
    '{"TPU012": {"teams": ["vision"]}}': "TPU012.teams: ['vision'] is not an object",
    '{"GKE002": {"privateEndpoint": "true"}}': "GKE002.privateEndpoint: 'true' is not true or false",
    '{"RAY002": {"least": "1,1"}}': "RAY002.least: '1,1' is not a version; allowed: MAJOR.MINOR",
    '{"GKE021": {"labels": "owner"}}': "GKE021.labels: 'owner' is not a list",
    '{"GKE001": "advisory", "GKE001": "mandatory"}': "GKE001 is given twice",
    '{"GKE001": {"exemptions": {}}}': "GKE001.exemptions: {} is not a list",
    '{"GKE001": {"exemptions": ["a"]}}': "GKE001.exemptions[0]: 'a' is not an object",
    '{"GKE001": {"exemptions": [{"resource": "a"}]}}': "GKE001.exemptions[0]: reason is not set; allowed: resource",
    json.dumps({"GKE001": {"exemptions": [EXEMPT | {"untill": "2027-01-31"}]}}): "'untill' is not a field here",
    json.dumps(
        {"GKE001": {"exemptions": [EXEMPT | {"until": "soon"}]}}
    ): "until: 'soon' is not a date; allowed: YYYY-MM-DD",
    json.dumps({"GKE001": {"exemptions": [EXEMPT | {"until": "2027-02-30"}]}}): "until: '2027-02-30' is not a date",
    json.dumps({"GKE001": {"exemptions": [EXEMPT | {"until": "20270131"}]}}): "until: '20270131' is not a date",
    json.dumps({"GKE001": {"exemptions": [EXEMPT | {"reason": "  "}]}}): "reason: is empty",
    json.dumps({"GKE001": {"exemptions": [EXEMPT | {"resource": ""}]}}): "resource: is empty",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_a_mistake_is_named_with_its_file_and_fails_the_gate_for_plans(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "prod.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        settings(read(path), str(path), rules())
    assert all(line.startswith(f"{path}: ") for line in str(error.value).splitlines())
    assert said in str(error.value)
    (tmp_path / "plan.json").write_text('{"steps": []}')
    result = CliRunner().invoke(app, [str(tmp_path / "plan.json"), "--config", str(path)])
    assert (result.exit_code, result.stderr) == (2, f"{error.value}\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"REP001": "\xff"}', "can't decode byte 0xff"),
        ("{}".encode("utf-16"), "can't decode byte 0xff"),
        (b"\xef\xbb\xbf{}", "Unexpected UTF-8 BOM"),
        (b"[" * 100_000, "maximum recursion depth"),
        (b"9" * 5000, "Exceeds the limit"),
        (rb'{"REP001": {"approved": ["\ud800"]}}', "can't encode character"),
        (b" " * (1 << 20) + b"{}", "it is larger than 1,048,576 bytes"),
    ],
    ids=["bytes", "utf-16", "mark", "deep", "number", "half", "large"],
)
def test_a_file_that_cannot_be_read_is_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "prod.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as error:
        read(path)
    assert "\n" not in str(error.value)


def test_a_file_without_an_end_is_not_read_to_it() -> None:
    with pytest.raises(ConfigError, match="it is larger than"):
        read(Path("/dev/zero"))


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(ConfigError) as error:
        settings({"GKE08": "mandatory", "TPU012": {"chip": 5, "gpus": "x"}}, "prod.json", rules())
    assert len(str(error.value).splitlines()) == 3


@pytest.mark.parametrize(
    "text",
    ["{}", '{"all": "advisory", "TPU012": {"chips": 0, "teams": {}}}', '{"all": {"enforcementLevel": "disabled"}}'],
)
def test_valid_configuration_is_accepted(text: str) -> None:
    settings(json.loads(text), "prod.json", rules())


def test_level_of_the_entry_or_of_all_or_of_the_rule() -> None:
    levels = {rule.id: rule for rule in rules()}
    config: dict[str, Any] = {"all": "advisory", "GKE001": "mandatory", "TPU012": {"chips": 5}}
    for name, level in (("GKE001", "mandatory"), ("TPU012", "advisory"), ("GKE002", "advisory")):
        assert settings(config, "", rules()).level(levels[name]) == level
    assert settings({"TPU012": {"chips": 5}}, "", rules()).level(levels["TPU012"]) == "mandatory"


def test_own_policies_are_accepted_if_they_are_named() -> None:
    config = {"acme-beta": "advisory"}
    settings(config, "prod.json", rules(), ["acme-beta"])
    with pytest.raises(ConfigError, match="'acme-beta' is not a rule"):
        settings(config, "prod.json", rules())
    with pytest.raises(ConfigError, match="REP001: 'off' is not a level"):
        settings({"REP001": "off"}, "prod.json", rules(), ["REP001"])


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_shipped_configuration_is_valid(path: Path) -> None:
    settings(read(path), str(path), rules())


@pytest.mark.parametrize("stack", ["prod", "staging"])
def test_undecided_rules_fail_in_important_stacks(stack: str) -> None:
    checked = settings(read(SHIPPED / f"{stack}.json"), stack, rules())
    assert checked.level(next(rule for rule in rules() if rule.id == "REP006")) == "mandatory"


def test_fields_that_remedies_name_are_fields_of_the_stack_file() -> None:
    schema = json.loads((Path(__file__).parents[2] / "components/tpuplane/spec/platform.schema.json").read_text())
    known = set(
        re.findall(
            r'"(\w+)": ', json.dumps([definition.get("properties", {}) for definition in schema["$defs"].values()])
        )
    )
    for rule in rules():
        for text in rule.fields.values():
            for name in re.findall(r"[a-z]\w*(?:\.\w+)+|^\w+", text):
                assert set(name.split(".")) <= known, (rule.id, text)


def test_the_versions_tested_together_are_the_twins() -> None:
    pinned = {source["name"]: source["version"] for source in yaml.safe_load(TOOLS.read_text())["sources"]}
    rule = next(candidate for candidate in rules() if candidate.id == "VER001")
    lws = addon_catalogue().addons["leaderWorkerSet"]
    pinned["lws"] = f"v{lws.chart.version}"  # the twin builds it on demand
    for chart, versions in rule.defaults["versions"].items():
        assert [f"v{version}" for version in versions] == [pinned[chart.removesuffix("-operator")]]
