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
    assert [row[1] for row in rows] == [it.pool.name for it in costs.pools]
    assert [row[-1] for row in rows] == [f"{it.sum.max.usd_per_month:,.0f}" for it in costs.pools]
    assert all(len(row) == 8 for row in rows)


def test_nothing_changed() -> None:
    text = markdown(ACME, "--against", ACME)
    assert "No pool changes." in text
    assert "→" not in text


def test_a_change_is_one_row(changed: Callable[[Callable[[Platform], None]], Path]) -> None:
    cluster = next(iter(yaml.safe_load(ACME.read_text())["config"]["tpuplane:platform"]["clusters"]))

    def gone(platform: Platform) -> None:
        pools = platform["clusters"][cluster]["pools"]
        pools["renamed"] = pools.pop(next(iter(pools)))

    rows = cells(markdown(changed(gone), "--against", ACME))
    assert sorted(row[1] for row in rows) == ["new", "removed"]
    (one, other) = rows
    assert one[2:] == other[2:]


def test_against_alone_is_a_mistake_of_the_caller() -> None:
    result = CliRunner().invoke(app, ["plan", str(ACME), "--against", str(ACME)])
    assert result.exit_code == 2
    assert "it needs --markdown" in result.output


def test_quotas_and_what_a_change_does_to_them(changed: Callable[[Callable[[Platform], None]], Path]) -> None:
    def team(slices: int) -> Callable[[Platform], None]:
        def give(platform: Platform) -> None:
            cluster = platform["clusters"]["central"]
            cluster["addons"] = {"kueue": {}}
            platform["teams"] = {"research": {"clusters": {"central": {"pools": {"pretrain": {"slices": slices}}}}}}

        return give

    with_one = changed(team(1))
    base = with_one.with_name("base.yaml")
    base.write_text(with_one.read_text())
    _, _, cpu, own, rest = markdown(base).split("| cluster | queue |")[1].strip().splitlines()
    assert " | cpu | system | 16 cores, 64 GB | any | all |" in cpu
    assert " | research | " in own
    assert " | shared by all teams | " in rest
    rows = cells(markdown(changed(team(2)), "--against", base))
    assert [(row[1], row[3]) for row in rows] == [("research", "changed"), ("shared by all teams", "changed")]
    assert rows[0][5] == "1 slice, 256 chips → 2 slices, 512 chips"
