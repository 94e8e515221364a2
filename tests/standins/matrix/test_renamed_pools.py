"""Pools under another key: with `formerly`, the engine replaces nothing, and `tpuplane diff` says so."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tpuplane.diff import diff
from tpuplane.spec import parse_platform

from tests.support.diff.done import of_diff, of_steps
from tests.support.matrix.cloud import listed
from tests.support.matrix.engine import STACK_FILE
from tests.support.matrix.play import Player

pytestmark = pytest.mark.twin
KINDS = ("nodePool", "resourcePolicy", "NodePool")


def test_a_renamed_pool_keeps_what_it_has(player: Player) -> None:
    content = yaml.safe_load(STACK_FILE.read_text())["config"]
    first: dict[str, Any] = {**content["tpuplane:platform"], "project": content["gcp:project"]}
    pools = first["clusters"]["main"]["pools"]

    def described(formerly: bool, **other: Any) -> dict[str, Any]:
        """All pools under other keys; with a topology, `hosts` has that one."""
        topology = {"hosts": {"topology": other.pop("topology")}} if "topology" in other else {}
        named = {key: {"formerly": key, **other, **topology.get(key, {})} if formerly else {} for key in pools}
        renamed = {f"new-{key}": {**pool, **named[key]} for key, pool in pools.items()}
        return {**first, "clusters": {"main": {**first["clusters"]["main"], "pools": renamed}}}

    with player.serving(player.deployed):
        before = listed(player.database)
        for other in ({"nodeLabels": {"a": "b"}}, {"diskSizeGb": 200}, {"topology": "4x8"}, {"topology": "2x4"}):
            player.describe(described(True, **other))
            said = of_diff(diff(parse_platform(first), parse_platform(described(True, **other))))
            assert said == of_steps(player.engine.steps()), other
        for formerly in (False, True):
            player.describe(described(formerly))
            steps = player.engine.steps()
            assert of_diff(diff(parse_platform(first), parse_platform(described(formerly)))) == of_steps(steps)
        of_pools = {step["op"] for step in steps if step["urn"].split("::")[2].endswith(KINDS)}
        assert of_pools == {"same", "update"}
        assert not player.engine.up().code
        player.agrees()
        assert listed(player.database) == before
        cubes, hosts = ({**pools[key], "formerly": key} for key in ("cubes", "hosts"))
        moved = ({"hosts": cubes}, {"hosts": {**cubes, "topology": "2x2x4"}}, {"hosts": cubes, "cubes": hosts})
        for own in moved:  # a key of another pool, which is deleted or has the other key
            after = {**first, "clusters": {"main": {**first["clusters"]["main"], "pools": own}}}
            player.describe(after)
            said = of_diff(diff(parse_platform(first), parse_platform(after)))
            assert said == of_steps(player.engine.steps()), own
    player.describe(first)
