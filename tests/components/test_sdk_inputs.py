"""Every input of every resource is one that the provider's SDK has, under that name and of that type."""

from __future__ import annotations

import pytest

from tests.support.components.deployment import Deployment
from tests.support.components.sdk_inputs import mismatches

pytestmark = pytest.mark.components

# The resource types of a platform without add-ons.
TYPES = {
    "gcp:compute/network:Network",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/resourcePolicy:ResourcePolicy",
    "gcp:serviceaccount/account:Account",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "kubernetes:core/v1:Namespace",
}


def test_a_platform_uses_these_types_and_no_others(deployed: Deployment) -> None:
    assert {resource.type for resource in deployed.custom()} == TYPES


def test_every_input_is_one_of_the_sdk(deployed: Deployment) -> None:
    wrong = {
        resource.urn: found for resource in deployed.custom() if (found := mismatches(resource.type, resource.inputs))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({"cluster": "c", "node_count": 1}, "node_count: unknown"),
        ({"cluster": "c", "nodeConfig": {"machine_type": "x"}}, "nodeConfig.machine_type: unknown"),
        ({"cluster": "c", "nodeConfig": {"diskSizeGb": "100"}}, "nodeConfig.diskSizeGb: int wanted, not '100'"),
        ({"cluster": "c", "placementPolicy": {"tpuTopology": "4x4"}}, "placementPolicy.type: required"),
        ({"cluster": "c", "nodeLocations": "us-central1-a"}, "nodeLocations: a list wanted, not 'us-central1-a'"),
        ({"cluster": "c", "nodeConfig": {"labels": {"a": 1}}}, "nodeConfig.labels[a]: str wanted, not 1"),
        ({"cluster": "c", "management": True}, "management.: NodePoolManagementArgs wanted, not True"),
    ],
)
def test_the_comparison_finds_what_mocks_let_pass(inputs: dict[str, object], complaint: str) -> None:
    assert mismatches("gcp:container/nodePool:NodePool", inputs) == [complaint]
