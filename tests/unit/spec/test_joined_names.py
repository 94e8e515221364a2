"""Keys that run together: no two resources of one kind may have one name, whatever hyphens the keys have."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.spec import SpecError, parse_platform

pytestmark = pytest.mark.unit

SLICE = {"generation": "v6e", "topology": "4x4"}
L4 = {"accelerator": "nvidia-l4", "zones": ["us-central1-a"]}


def described(us: dict[str, Any], us_east: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A platform with the clusters `us` and `us-east`."""
    network = {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"}
    kueue = {"addons": {"kueue": {}}}
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "clusters": {
            "us": {"location": "us-central1", **kueue, **us},
            "us-east": {"location": "us-central1", "network": network, **kueue, **us_east},
        },
        **more,
    }


def team(cluster: str, **more: Any) -> dict[str, Any]:
    """A team of this cluster."""
    return {"clusters": {cluster: {}}, **more}


BUCKET = {"purpose": "data"}
CLASHES: dict[str, tuple[dict[str, Any], str]] = {
    "pools": (
        described({"pools": {"east-trainer": SLICE}}, {"pools": {"trainer": SLICE}}),
        "clusters.us-east.pools.trainer: has the name 'us-east-trainer' together with its cluster, and so has "
        "clusters.us.pools.east-trainer; rename one of them",
    ),
    "node pools": (
        described({"pools": {"east-t-0": {**SLICE, "topology": "2x2"}}}, {"pools": {"t": SLICE}}),
        "clusters.us-east.pools.t: has the name 'us-east-t-0' together with its cluster, and so has "
        "clusters.us.pools.east-t-0; rename one of them",
    ),
    "GPU pools": (
        described({"gpuPools": {"east-l4": L4}}, {"gpuPools": {"l4": L4}}),
        "clusters.us-east.gpuPools.l4: has the name 'us-east-l4' together with its cluster, and so has "
        "clusters.us.gpuPools.east-l4; rename one of them",
    ),
    "a former name": (
        described({"pools": {"t": SLICE, "new": {**SLICE, "topology": "2x2", "formerly": "t"}}}, {}),
        "clusters.us.pools.new.formerly: 't' is another pool of the cluster; remove formerly, or give pools.t another "
        "name",
    ),
    "namespaces": (
        described({"namespaces": ["east-ml"]}, {}, teams={"ml": team("us-east")}),
        "teams.ml: has the name 'us-east-ml' together with its cluster, and so has "
        "clusters.us.namespaces[0]; rename one of them",
    ),
    "queues": (
        described({}, {}, teams={"a": team("us", queue="b-jobs"), "a-b": team("us", queue="jobs")}),
        "teams.a-b: has the name 'us-a-b-jobs' together with its cluster, and so has teams.a; rename one of them",
    ),
    "queues of autoscaled pools": (
        described(
            {"pools": {"t": {**SLICE, "autoscaling": {"maxSlices": 1}}}},
            {},
            teams={
                "a": {"clusters": {"us": {"pools": {"t": {"slices": 1}}}}},
                "a-default": team("us", queue="elastic"),
            },
        ),
        "teams.a-default: has the name 'us-a-default-elastic' together with its cluster, and so has "
        "teams.a; rename one of them",
    ),
    "roles": (
        described(
            {"addons": {"kueue": {}, "launchAgent": {"queues": ["q"], "teams": ["a"]}}},
            {},
            teams={"a": team("us"), "a-launch": team("us", members=["user:ann@example.com"])},
        ),
        "teams.a-launch: has the name 'us-a-launch-role' together with its cluster, and so has "
        "teams.a; rename one of them",
    ),
    "grants": (
        described(
            {},
            {},
            teams={"a": team("us"), "b-a": team("us")},
            storage={"buckets": {"data": {**BUCKET, "readers": ["b-a"]}, "data-b": {**BUCKET, "writers": ["a"]}}},
        ),
        "storage.buckets.data-b.writers[0]: has the name 'data-b-a' together with its namespace, and so has "
        "storage.buckets.data.readers[0]; rename one of them",
    ),
    "claims": (
        described(
            {"storage": {"gcsFuse": True}},
            {},
            teams={"a": team("us"), "a-b": team("us")},
            storage={"buckets": {"data": {**BUCKET, "readers": ["a-b"]}, "b-data": {**BUCKET, "writers": ["a"]}}},
        ),
        "storage.buckets.b-data.writers[0]: has the name 'us-queues-a-b-data-bucket' together with its cluster and "
        "namespace, and so has storage.buckets.data.readers[0]; rename one of them",
    ),
}


@pytest.mark.parametrize("kind", CLASHES)
def test_keys_that_run_together_are_rejected(kind: str) -> None:
    wrong, line = CLASHES[kind]
    with pytest.raises(SpecError) as rejected:
        parse_platform(wrong)
    assert [str(mistake) for mistake in rejected.value.mistakes] == [line]


def test_classes_that_run_together_are_rejected() -> None:
    pools = {"trainer": SLICE}
    classes = {
        "east-all": {"clusters": ["us"], "priorities": [{"nodepools": ["trainer"]}]},
        "all": {"clusters": ["us-east"], "priorities": [{"nodepools": ["trainer"]}]},
    }
    with pytest.raises(SpecError, match="has the name 'us-east-all' together with its cluster"):
        parse_platform(described({"pools": pools}, {"pools": pools}, classes=classes))


def test_what_has_one_owner_or_another_kind_is_no_clash() -> None:
    right = described(
        {"pools": {"east-trainer": SLICE}, "namespaces": ["ml", "east-trainer"]},
        {"gpuPools": {"trainer": L4}},
        teams={"ml": team("us")},
    )
    assert parse_platform(right)


def test_a_team_of_fixed_pools_has_no_queue_of_autoscaled_ones() -> None:
    parse_platform(described({}, {}, teams={"a": team("us"), "a-default": team("us", queue="elastic")}))


def test_members_and_an_agent_may_share_a_namespace() -> None:
    agent = {"addons": {"kueue": {}, "launchAgent": {"queues": ["q"], "teams": ["a", "a-launch"]}}}
    member = {"members": ["user:ann@example.com"]}
    assert parse_platform(described(agent, {}, teams={"a": team("us", **member), "a-launch": team("us")}))


def test_a_cluster_that_exists_is_another_kind_of_parent() -> None:
    right = described({"pools": {"east-trainer": SLICE}}, {"existing": {"name": "theirs"}, "pools": {"trainer": SLICE}})
    del right["clusters"]["us-east"]["network"]
    assert parse_platform(right)
