"""`tpuplane plan --markdown`: the same numbers as the plan's, as a comment, and what a change does to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.cost import cost
from tpuplane.plan import plan
from tpuplane.spec import load_stack
from typer.testing import CliRunner

pytestmark = pytest.mark.unit

ACME = Path(__file__).parents[1] / "acme.yaml"
Platform = dict[str, Any]


def markdown(file: Path, *options: str | Path) -> str:
    result = CliRunner().invoke(app, ["plan", str(file), "--markdown", "--estimate", *map(str, options)])
    assert result.exit_code == 0, result.output
    return result.stdout


def cells(text: str) -> list[list[str]]:
    """The rows of the table, without its head."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[Callable[[Platform], None]], Path]:
    def write(change: Callable[[Platform], None]) -> Path:
        content = yaml.safe_load(ACME.read_text())
        change(content["config"]["tpuplane:platform"])
        file = tmp_path / "Pulumi.acme.yaml"
        file.write_text(yaml.safe_dump(content))
        return file

    return write


def test_every_pool_has_a_row_with_what_it_costs() -> None:
    platform = plan(load_stack(ACME))
    costs = cost(platform, estimate=True)
    text = markdown(ACME)
    assert text.startswith(f"### {platform.name}: {platform.chips:,} chips, {costs.total.max.usd_per_month:,.0f} USD")
    rows = cells(text)
    assert [row[1] for row in rows] == [pool.pool.name for pool in costs.pools]
    assert [row[-1] for row in rows] == [f"{pool.sum.max.usd_per_month:,.0f}" for pool in costs.pools]
    assert all(len(row) == 8 for row in rows)


def test_against_another_file_it_is_the_diff(changed: Callable[[Callable[[Platform], None]], Path]) -> None:
    file = changed(lambda platform: platform["clusters"]["central"]["controlPlane"].update(publicEndpoint=True))
    text = markdown(file, "--against", ACME)
    assert text == CliRunner().invoke(app, ["diff", str(ACME), str(file), "--markdown", "--estimate"]).stdout
    assert "clusters.central.controlPlane.publicEndpoint" in text


def test_against_alone_is_a_mistake_of_the_caller() -> None:
    result = CliRunner().invoke(app, ["plan", str(ACME), "--against", str(ACME)])
    assert result.exit_code == 2
    assert "requires --markdown" in result.output
    for options in (("--markdown", "--json"), ("--markdown", "--against", str(ACME), "--picture", "x.svg")):
        other = CliRunner().invoke(app, ["plan", str(ACME), *options])
        assert (other.exit_code, "remove one" in other.output) == (2, True)


def test_quotas_of_the_teams(changed: Callable[[Callable[[Platform], None]], Path]) -> None:
    def team(platform: Platform) -> None:
        platform["clusters"]["central"]["addons"] = {"kueue": {}}
        platform["teams"] = {"research": {"clusters": {"central": {"pools": {"pretrain": {"slices": 1}}}}}}

    _, _, cpu, own, rest = markdown(changed(team)).split("| cluster | queue |")[1].strip().splitlines()
    assert " | cpu | system | 16 cores, 64 GB | any | all |" in cpu
    assert " | research | " in own
    assert " | shared by all teams | " in rest
