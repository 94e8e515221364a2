"""The conformance suite: what it would create where, and the question before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform
from typer.testing import CliRunner

from conformance.__main__ import app
from conformance.compare import differences
from conformance.recorder import redacted
from conformance.suite import SUITE, changed, choose
from tests.support import REPOSITORY

pytestmark = pytest.mark.unit


def test_the_smallest_platform_of_a_zone_has_the_cheapest_generation_of_it() -> None:
    zone = "us-west4-a"
    platform, steps, usd = choose("acme-lab", zone, "spot")
    (cluster,) = plan(parse_platform(platform)).clusters
    (pool,) = cluster.tpu_pools
    assert (pool.hardware.chips, pool.node_count, pool.capacity, cluster.location) == (1, 1, "spot", zone)
    assert platform["clusters"]["main"]["pools"]["single"]["generation"] == "v5e"
    assert 1 < usd < 30
    assert [step["name"] for step in steps][-1] == "destroy"


def test_each_step_makes_a_change_of_its_class() -> None:
    before, steps, _ = choose("acme-lab", "us-west4-a", "spot")
    found = {}
    for step in steps:
        if "set" in step:
            after = changed(before, step["set"])
            changes = diff(parse_platform(before), parse_platform(after)).changes
            found[step["name"]] = {change.kind for change in changes}
            before = after
    assert found == {
        "change to a pool in place": {"in-place"},
        "change to the cluster in place": {"in-place"},
        "one more host": {"in-place"},
        "nodes created again": {"rolls-nodes"},
        "replacement of a pool": {"replaces-pools"},
        "multi-host slice": {"creates"},
        "replacement of the cluster, only planned": {"replaces-cluster"},
    }


def test_a_zone_without_such_chips_is_a_mistake() -> None:
    with pytest.raises(SpecError, match="us-central2-b"):
        choose("acme-lab", "us-central2-b", "spot")


def test_the_command_prints_price_and_limit_and_asks(tmp_path: Path) -> None:
    file = tmp_path / "cloud.json"
    words = ["run", "--project", "acme-lab", "--zone", "us-west4-a", "--output", str(file)]
    printed = CliRunner().invoke(app, words, input="n\n")
    assert "creates in acme-lab, us-west4-a: a VPC, a cluster" in printed.output
    assert f"in the limit of {SUITE['minutes']} min" in printed.output
    assert printed.exit_code == 1
    assert not file.exists()
    assert CliRunner().invoke(app, [*words[:4], "nowhere-1", "--output", str(file)]).exit_code == 2


def test_a_file_that_cannot_be_written_ends_the_command_before_the_question(tmp_path: Path) -> None:
    file = tmp_path / "none" / "cloud.json"
    words = ["run", "--project", "acme-lab", "--zone", "us-west4-a", "--output", str(file), "--yes"]
    printed = CliRunner().invoke(app, words)
    assert (printed.exit_code, printed.stdout) == (2, "")
    assert printed.stderr.startswith(f"--output: {file} cannot be written: No such file or directory; name a file")


RESULT = {"failure": "", "steps": {"create": {"outcome": "succeeded"}}, "nodes": {}, "requests": []}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file or directory; name the result of a run"),
        ("[]", "is not the result of a run; write one with"),
        ("{", "is not the result of a run; write one with"),
        (json.dumps({**RESULT, "failure": "quota"}), "this run failed (quota); compare results of runs that did not"),
    ],
)
def test_only_results_of_runs_that_did_not_fail_are_compared(tmp_path: Path, text: str | None, message: str) -> None:
    good, other = tmp_path / "good.json", tmp_path / "other.json"
    good.write_text(json.dumps(RESULT))
    if text is not None:
        other.write_text(text)
    assert CliRunner().invoke(app, ["compare", str(good), str(good)]).stdout == "no difference\n"
    for files in ((good, other), (other, good)):
        printed = CliRunner().invoke(app, ["compare", *map(str, files)])
        assert (printed.exit_code, printed.stdout) == (2, "")
        assert message in printed.stderr


def answered(response: Any) -> dict[str, Any]:
    """The result of a run with one request."""
    request = {"step": "create", "method": "GET", "path": "/c", "status": 200, "response": response}
    return {**RESULT, "requests": [request]}


@pytest.mark.parametrize(
    ("google", "twin", "row"),
    [
        ({"stackType": "IPV4_ONLY"}, {"stackType": "IPV4_IPV6"}, "GET /c stackType | IPV4_ONLY | IPV4_IPV6"),
        ({"items": [{"code": "NO"}, {"code": "OK"}]}, {"items": [{"code": "OK"}]}, "GET /c items[].code | NO, OK | OK"),
        ({"items": [{"code": "NO"}, {"code": "OK"}]}, {"items": [{"code": "OK"}, {"code": "NO"}]}, None),
        ({"address": "10.0.0.1", "size": 1}, {"address": "10.0.0.2", "size": 2}, None),
    ],
)
def test_enumerations_and_all_items_of_a_list_are_compared(google: Any, twin: Any, row: str | None) -> None:
    found = differences(answered(google), answered(twin))
    assert found.splitlines()[2:] == ([f"| create | {row} |"] if row else [])


def test_every_text_below_the_name_of_a_secret_is_redacted() -> None:
    body = {"tokens": ["a", {"value": "b"}], "masterAuth": {"clientKey": {"pem": "c"}, "enabled": True}, "zone": "acme"}
    assert redacted(body, lambda text: text.replace("acme", "PROJECT")) == {
        "tokens": ["REDACTED", {"value": "REDACTED"}],
        "masterAuth": {"clientKey": {"pem": "REDACTED"}, "enabled": True},
        "zone": "PROJECT",
    }


def test_tested_on_google_cloud_is_no_until_a_result_exists() -> None:
    results = [
        file for file in (REPOSITORY / "conformance" / "data").glob("*.json") if '"Google Cloud"' in file.read_text()
    ]
    page = (REPOSITORY / "docs/comparison.md").read_text(encoding="utf-8")
    assert ("| tested on Google Cloud | **no** |" in page) == (not results)
