"""`tpuplane diff` held against the engine: the change that it shows is the change that `pulumi preview` plans."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tpuplane.diff import diff
from tpuplane.spec import load_stack

from tests.support import BIN
from tests.support.diff.done import of_diff, of_steps
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = pytest.mark.e2e


def every_kind_of_pool_change(described: dict[str, Any]) -> None:
    """Replaced, recreated node by node, fewer nodes, one more slice, updated in place; and the control plane opens."""
    cluster = described["clusters"]["central1"]
    cluster["pools"]["trainer"]["topology"] = "2x4"
    cluster["pools"]["evals"] |= {"slices": 2, "diskSizeGb": 200}
    cluster["pools"]["added"] = {"generation": "v6e", "topology": "2x2"}
    cluster["gpuPools"]["l4s"]["nodes"] = 2
    cluster["gpuPools"]["shared"] |= {"driver": "LATEST", "labels": {"team": "product"}}
    cluster["systemPool"]["diskSizeGb"] = 200
    cluster["controlPlane"] = {"publicEndpoint": True, "authorizedNetworks": [{"cidr": "203.0.113.0/24", "name": "a"}]}


def another_range(described: dict[str, Any]) -> None:
    described["clusters"]["central1"]["network"] = {"podsCidr": "10.128.0.0/14"}


def less(described: dict[str, Any]) -> None:
    """Without a team with its namespace, and two pools. Of others, defaults are written, and what only checks read."""
    cluster = described["clusters"]["central1"]
    del described["teams"]["product"], cluster["pools"]["evals"], cluster["gpuPools"]["shared"]
    cluster["pools"]["trainer"] |= {"machineType": "ct6e-standard-4t", "zone": "us-central1-b"}
    cluster["gpuPools"]["l4s"]["machineType"] = "g2-standard-12"
    described["quotas"] = {"us-central1": {"v6e": {"onDemand": 512}}}
    described["reservations"] = {"later": {"generation": "v6e", "zone": "us-central1-b", "chips": 64}}


@pytest.mark.parametrize("change", [every_kind_of_pool_change, less, another_range])
def test_the_engine_plans_what_the_diff_says(platform: PlatformUnderTest, change: Any) -> None:
    before = load_stack(platform.stack_file)
    with platform.described(change):
        said = of_diff(diff(before, load_stack(platform.stack_file)))
        steps = json.loads(platform.pulumi("preview", "--json").stdout)["steps"]
    assert of_steps(steps) == said


def test_the_last_update_is_what_is_deployed(platform: PlatformUnderTest) -> None:
    deployed = (BIN / "tpuplane", "diff", "--deployed", "local", platform.stack_file, "--json")
    assert json.loads(platform.run(*deployed).stdout)["changes"] == []
    with platform.described(another_range):
        (change,) = json.loads(platform.run(*deployed).stdout)["changes"]
    assert (change["path"], change["class"]) == ("clusters.central1.network.podsCidr", "replaces-cluster")
