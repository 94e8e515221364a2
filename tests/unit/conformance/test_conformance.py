"""The conformance suite: what it would create where, and the question before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform
from typer.testing import CliRunner

from conformance.__main__ import app
from conformance.suite import SUITE, choose
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


def test_tested_on_google_cloud_is_no_until_a_result_exists() -> None:
    results = [
        file for file in (REPOSITORY / "conformance" / "data").glob("*.json") if '"Google Cloud"' in file.read_text()
    ]
    page = (REPOSITORY / "docs/comparison.md").read_text(encoding="utf-8")
    assert ("| tested on Google Cloud | **no** |" in page) == (not results)
