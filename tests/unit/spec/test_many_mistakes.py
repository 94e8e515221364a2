"""Very many mistakes: the first 50 are listed, the others counted, and the work to explain them is bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.spec import PlatformSpec, SpecError, parse_platform
from tpuplane.spec.checks import check
from tpuplane.spec.core.mistakes import judged
from tpuplane.spec.pools.names import NodePoolNames, TakenNames

from benchmarks.mistakes import WRONG, large, rejected

pytestmark = pytest.mark.unit

PRODUCTION = Path(__file__).parents[3] / "stacks/Pulumi.prod.yaml"


@pytest.mark.parametrize("kind", WRONG)
def test_at_most_50_mistakes_are_listed(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(large(kind, 6_000), encoding="utf-8")
    error = rejected(file)
    lines = str(error).splitlines()
    assert len(error.listed) == min(50, len(error.mistakes))
    assert error.rest == len(error.mistakes) + error.unexplained - len(error.listed)
    if error.rest:
        assert lines[-1] == f"and {error.rest:,} more; fix these first"
    assert max(map(len, lines)) < 6_000


@pytest.mark.parametrize("kind", ["unknown fields", "pools of another topology"])
def test_the_number_of_the_others_is_right(kind: str) -> None:
    with pytest.raises(SpecError) as error:
        parse_platform(WRONG[kind](350))
    found = [mistake for mistake in error.value.mistakes if not str(mistake.path[-1]).endswith("Cidr")]
    assert len(found) + error.value.unexplained == 350
    assert len(error.value.listed) == 50


def test_a_rejected_pool_of_production_is_explained_with_few_checks() -> None:
    """A replaced pool may have 15,000 slices, and every rule is checked again for each value in its place."""
    document: dict[str, Any] = yaml.safe_load(PRODUCTION.read_text(encoding="utf-8"))
    described = {**document["config"]["tpuplane:platform"], "project": "acme-ml-prod"}
    described["clusters"]["central"]["pools"]["pretrain"] = [None, None]
    error, checks = counted_checks(described)
    assert [mistake.path for mistake in error.mistakes] == [("clusters", "central", "pools", "pretrain")]
    assert checks <= 80


def test_a_large_file_is_read_a_few_times_with_other_values() -> None:
    """Each time, a rejected value is replaced again until what replaces it is accepted."""
    error, checks = counted_checks(WRONG["clusters of which 150 have a range that is none"](2000))
    assert len(error.mistakes) >= 150
    assert checks <= 4


def test_a_default_is_not_copied_for_each_cluster() -> None:
    one, two = parse_platform(described_clusters("east", "west")).clusters.values()
    assert one.system_pool is two.system_pool
    assert one.control_plane is two.control_plane


def described_clusters(*keys: str) -> dict[str, Any]:
    networks = {"nodesCidr": "10.{}.0.0/20", "podsCidr": "240.{}.0.0/16", "servicesCidr": "12.{}.0.0/20"}
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "clusters": {
            key: {"location": "us-east5", "network": {name: text.format(number) for name, text in networks.items()}}
            for number, key in enumerate(keys)
        },
    }


def counted_checks(described: dict[str, Any]) -> tuple[SpecError, int]:
    """The mistakes of a description, and how often its rules were checked to find them."""
    checks = 0

    def counting(spec: PlatformSpec) -> list[Any]:
        nonlocal checks
        checks += 1
        return check(spec)

    with pytest.raises(SpecError) as error:
        judged(described, PlatformSpec, counting)
    return error.value, checks


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        (NodePoolNames("a", ("a",)), NodePoolNames("a", ("a",)), "a"),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a-2", ("a-2",)), "a-2"),
        (NodePoolNames("a-2", ("a-2",)), NodePoolNames("a", (), range(3)), "a-2"),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a-3", ("a-3",)), None),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a-02", ("a-02",)), None),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a", (), range(2, 9)), "a-2"),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a", (), range(3, 9)), None),
        (NodePoolNames("a", ("x",), range(1, 3)), NodePoolNames("a-0", ("a-0",)), None),
        (NodePoolNames("a", (), range(3)), NodePoolNames("a-1", (), range(3)), None),
    ],
)
def test_names_are_compared_without_a_list_of_them(
    first: NodePoolNames, second: NodePoolNames, clash: str | None
) -> None:
    assert clash == next((name for name in first.every() if name in second.every()), None)
    taken = TakenNames()
    assert taken.take(first, "one") is None
    assert taken.take(second, "two") == (clash and (clash, "one"))
