"""Every planned value has a reason, every reason is somebody's, and what a reason says is what the plan did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from tpuplane import explain as package
from tpuplane.explain import Explanation, UnknownPath, citation, explain
from tpuplane.explain.explanation import planned_parts
from tpuplane.explain.paths import targets
from tpuplane.explain.reasons import Kind, Reason, entries
from tpuplane.plan import ClusterPlan, NodePoolPlan, plan
from tpuplane.spec import PlatformSpec, load_stack, parse_platform

from tests.support.full_platform import FULL

pytestmark = pytest.mark.unit

HERE = Path(__file__).parents[1]
RESERVED = {"generation": "v6e", "zone": "us-east5-b", "chips": 64}

FLEX = {
    "generation": "v6e",
    "topology": "4x4",
    "zone": "us-east5-b",
    "capacity": "flex-start",
    "autoscaling": {"maxSlices": 1},
}


def spec_of(location: str = "us-central1", /, reservations: Any = None, **cluster: Any) -> PlatformSpec:
    description = {"name": "lab", "project": "tpuplane-lab", "clusters": {"main": {"location": location, **cluster}}}
    return parse_platform({**description, "reservations": reservations or {}})


def pool_of(location: str = "us-central1", /, reservations: Any = None, **pool: Any) -> PlatformSpec:
    return spec_of(location, reservations, pools={"trainer": pool})


SPECS = {
    "gpus": spec_of(
        gpuPools={
            "shared": {
                "accelerator": "nvidia-l4",
                "zones": ["us-central1-a", "us-central1-b"],
                "autoscaling": {"maxNodes": 2},
                "sharing": {"strategy": "TIME_SHARING", "maxClients": 4},
                "localSsds": 1,
            },
            "training": {"accelerator": "nvidia-b200", "compactPlacement": True, "capacity": "spot"},
            "chosen": {
                "machineType": "a2-highgpu-1g",
                "zones": ["us-central1-a"],
                "driver": "LATEST",
                "partitionSize": "1g.5gb",
                "diskType": "pd-ssd",
                "maxPodsPerNode": 64,
                "autoRepair": False,
                "nodeLabels": {"team": "vision"},
            },
            "night": {"accelerator": "nvidia-h200-141gb", "capacity": "flex-start", "autoscaling": {"maxNodes": 2}},
        }
    ),
    "gpus-without-channel": spec_of(
        "us-central1-a",
        releaseChannel="UNSPECIFIED",
        gpuPools={
            "held": {"accelerator": "nvidia-l4", "autoUpgrade": False},
            "upgraded": {"accelerator": "nvidia-l4", "gpus": 2},
        },
    ),
    "lab": load_stack(HERE / "lab.yaml"),
    "acme": load_stack(HERE / "acme.yaml"),
    "chosen": spec_of(
        releaseChannel="UNSPECIFIED",
        addons={"kueue": {}, "jobset": {}, "ray": {"mode": "none"}},
        version="1.34",
        controlPlane={
            "publicEndpoint": True,
            "masterCidr": "172.16.0.0/28",
            "authorizedNetworks": [{"cidr": "10.0.0.0/8", "name": "vpn"}],
        },
        systemPool={"machineType": "n2-standard-8", "diskType": "pd-ssd", "diskSizeGb": 50},
        autoProvisioning={"limits": {"cpu": 8000, "memoryGb": 32000, "tpu": {"v5e": 64}}},
        pools={
            "chosen": {
                "generation": "v6e",
                "topology": "2x4",
                "machineType": "ct6e-standard-8t",
                "zone": "us-central1-b",
                "capacity": "on-demand",
                "diskType": "hyperdisk-balanced",
                "maxPodsPerNode": 64,
                "hostMaintenance": "PERIODIC",
                "autoRepair": False,
                "autoUpgrade": False,
                "nodeLabels": {"a": "b"},
            },
            "spot": {"generation": "v5e", "topology": "4x4", "capacity": "spot", "autoscaling": {"maxSlices": 2}},
            "default": {"generation": "v6e", "topology": "2x4", "autoscaling": {"maxSlices": 1}},
        },
    ),
    "flex-start": pool_of("us-east5", **FLEX),
    "flex-start-chosen": pool_of("us-east5", **FLEX, flexStart={"maxRunDuration": "12h"}),
    "reservation": pool_of(
        "us-east5",
        {"mine": {**RESERVED, "maintenanceInterval": "PERIODIC"}},
        generation="v6e",
        topology="4x4",
        zone="us-east5-b",
        capacity="reservation",
        reservation={"name": "mine"},
    ),
    "existing": spec_of(existing={"name": "shared"}, pools={"eval": {"generation": "v6e", "topology": "4x4"}}),
    "classes": parse_platform(
        {
            "name": "lab",
            "project": "tpuplane-lab",
            "classes": {"slices": {"priorities": [{"nodepools": ["named"]}]}},
            "clusters": {
                "main": {
                    "location": "us-central1-b",
                    "pools": {
                        "named": {"generation": "v6e", "topology": "4x4"},
                        "chosen": {"generation": "v6e", "topology": "2x4", "computeClass": "slices"},
                    },
                }
            },
        }
    ),
    "v3": pool_of("europe-west4-a", generation="v3", topology="4x4"),
    "unrestricted-disk": pool_of("us-central2-b", generation="v4", topology="2x2x2"),
    "two-disks": pool_of("us-east5", generation="v5p", topology="2x2x2", zone="us-east5-a"),
}


def everything(spec: PlatformSpec) -> Iterator[Explanation]:
    platform = plan(spec)
    return (explain(spec, platform, target.path) for target in targets(spec))


def value_of(spec: PlatformSpec, path: str) -> package.Explained:
    (value,) = explain(spec, plan(spec), path).values
    return value


@pytest.mark.parametrize("name", SPECS)
def test_everything_of_a_platform_is_explained(name: str) -> None:
    for explanation in everything(SPECS[name]):
        for value in explanation.values:
            assert value.value
            assert value.reason
            assert "{" not in value.reason
            assert all(citation(source) for source in value.sources)


def test_no_value_of_the_plan_is_left_out() -> None:
    """What has no reason in data/reasons.yaml and no field of the same name in the spec is part of another value."""
    unseen = {"node", "imported", "kept", "first_key"}
    part_of_others = {
        "pool": {"pool", "index", "gpu", "local_ssds", "compact"} | unseen,
        "gpuPool": {
            "pool",
            "index",
            "slice",
            "placement_topology",
            "workload_policy",
            "accelerator_topology_mode",
            "sub_slices",
        }
        | unseen,
        "systemPool": {"pool", "index", "first_key"},
        "cluster": {
            "key",
            "region",
            "system_pool",
            "pools",
            "addons",
            "node_addresses",
            "pod_addresses",
            "pods_range",
            "services_range",
            "queues",
            "manager",
            "worker",
            "keys",
            "global_access",
            "compute_classes",
            "default_compute_class",
            "multi_networking",
            "hardening",
            "imported",
            "kept",
            "existing_account",
            "scrapes",
            "frontend",
            "checkpointing",
            "disks",
        },
    }
    for kind, plan_of_it in {"pool": NodePoolPlan, "gpuPool": NodePoolPlan, "cluster": ClusterPlan}.items():
        explained = {entry.of.partition(".")[0] for entry in entries(kind)}  # type: ignore[arg-type]
        assert {part.name for part in fields(plan_of_it)} - explained == part_of_others[kind]


def applied() -> Iterator[Reason]:
    """The reasons that apply somewhere in the platforms above, and in that of every field."""
    for spec in (*SPECS.values(), FULL):
        platform = plan(spec)
        for target in targets(spec):
            things, facts = planned_parts(spec, platform, target)
            yield from (entry.reason(facts) for entry in entries(target.kind) if things)


def test_every_reason_of_the_data_applies_somewhere() -> None:
    data = yaml.safe_load((Path(package.__file__).parent / "data/reasons.yaml").read_text())
    texts = {reason.text for reason in applied()}
    for kind in get_args(Kind):
        for name, entry in data[kind].items():
            assert [reason["text"] for reason in entry["reasons"] if reason["text"] not in texts] == [], name


def test_every_source_of_the_data_is_used() -> None:
    data = yaml.safe_load((Path(package.__file__).parent / "data/reasons.yaml").read_text())
    cited = {source for reason in applied() for source in reason.sources}
    assert set(data["sources"]) <= cited


def test_a_choice_names_where_it_was_made() -> None:
    value = value_of(SPECS["acme"], "clusters.central.pools.serving.machineType")
    assert value.value == "ct6e-standard-8t"
    assert value.written == ("clusters", "central", "pools", "serving", "machineType")
    assert value.reason.startswith("You chose it. ")
    assert "v6e 2x4: ct6e-standard-4t or ct6e-standard-8t" in value.reason
    assert value_of(SPECS["lab"], "pools.trainer.machineType").written is None


def test_node_pools_that_differ_are_told_apart() -> None:
    value = value_of(SPECS["acme"], "pools.ablations.autoscaling")
    warm, cold = value.value.split("; ")
    assert warm == "minNodes=8 maxNodes=8 locationPolicy=ANY for ablations-0"
    assert cold.startswith("minNodes=0 maxNodes=8 locationPolicy=ANY for ablations-1, ablations-2")


def test_the_sources_are_those_of_the_generation_and_the_zone() -> None:
    assert value_of(SPECS["lab"], "pools.trainer.slice").sources == ("ca", "doc_v6e", "ce_machines")
    assert value_of(SPECS["lab"], "pools.cubes.slice").sources[:3] == ("ca", "doc_gke_tpus", "doc_v4")


def test_a_flex_start_pool_is_not_repaired_and_says_why() -> None:
    value = value_of(SPECS["flex-start"], "pools.trainer.autoRepair")
    assert (value.value, value.sources) == ("false", ("toolkit",))


def test_an_add_on_has_its_planned_values_at_its_path_in_the_file() -> None:
    spec = spec_of(addons={"leaderWorkerSet": {}})
    explanation = explain(spec, plan(spec), "addons.leaderWorkerSet")
    assert explanation.path == "clusters.main.addons.leaderWorkerSet"
    assert [value.name for value in explanation.values][:2] == ["release", "after"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pools.trainer.topology", "slice"),
        ("pools.trainer.zone", "zones"),
        ("clusters.central1.pools.trainer.slices", "nodePools"),
        ("clusters.central1.systemPool.minNodes", "autoscaling"),
        ("clusters.central1.minMasterVersion", "version"),
    ],
)
def test_values_are_known_by_the_names_of_the_file_and_of_google(path: str, name: str) -> None:
    assert value_of(SPECS["lab"], path).name == name


@pytest.mark.parametrize(
    ("stack", "path", "message"),
    [
        ("lab", "pools.trainr", "'pools.trainr' does not exist; .*nearest: pools.trainer"),
        ("lab", "clusters.central3.pools.trainer", "nearest: clusters.central1.pools.trainer"),
        ("lab", "pools.trainer.disktype", "has no 'disktype'; allowed: .*nearest: pools.trainer.diskType"),
        ("lab", "pools.trainer.diskType.more", "does not exist"),
        ("lab", "", "'' does not exist"),
        ("lab", ".", "does not exist"),
        ("acme", "pools.pretrain", "several clusters; allowed: clusters.central.pools.pretrain, clusters.columbus"),
        ("acme", "systemPool.zones", "several clusters"),
        ("acme", "nothing.like.it", "and 10 more$"),
    ],
)
def test_an_unknown_path_says_what_there_is(stack: str, path: str, message: str) -> None:
    spec = SPECS[stack]
    with pytest.raises(UnknownPath, match=message):
        explain(spec, plan(spec), path)


def test_a_pool_of_no_slices_has_nothing_planned() -> None:
    spec = pool_of(generation="v6e", topology="4x4", slices=0)
    with pytest.raises(UnknownPath, match="has no slices"):
        explain(spec, plan(spec), "pools.trainer")
