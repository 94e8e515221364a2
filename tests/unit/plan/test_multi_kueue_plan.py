"""One queue over several clusters: the manager's is the sum of its workers', and they let it in."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tpuplane.plan import ClusterPlan, plan
from tpuplane.spec import SpecError, parse_platform

from tests.support.planned import addon_of
from tests.support.queue_quotas import V6E, chips

pytestmark = pytest.mark.unit

Clusters = dict[str, ClusterPlan]
KUEUE = {"kueue": {}}


def spanning(
    teams: dict[str, Any], *, multi: dict[str, Any] | None = None, **clusters: dict[str, Any]
) -> dict[str, Any]:
    """A description of a manager and two workers with three v6e 4x4 slices each; `clusters` change parts of them."""
    whole: dict[str, Any] = {}
    places = {"hub": "us-central1", "east": "us-east5", "central": "us-central1"}
    for index, (name, location) in enumerate(places.items()):
        network = {
            "nodesCidr": f"10.0.{16 * index}.0/20",
            "podsCidr": f"10.{64 + 4 * index}.0.0/14",
            "servicesCidr": f"10.32.{16 * index}.0/20",
        }
        zone = "us-east5-b" if name == "east" else "us-central1-b"
        pools = {} if name == "hub" else {"trainer": {**V6E, "zone": zone, "slices": 3}}
        whole[name] = {"location": location, "addons": KUEUE, "network": network, "pools": pools}
        whole[name] |= clusters.get(name, {})
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "queues": {"multiKueue": {"manager": "hub", "workers": ["east", "central"], **(multi or {})}},
        "teams": teams,
        "clusters": whole,
    }


def planned(description: dict[str, Any]) -> Clusters:
    """The clusters by key."""
    return {cluster.key: cluster for cluster in plan(parse_platform(description)).clusters}


def team(east: dict[str, Any] | None = None, central: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A team with these quotas in the trainers of the two workers."""
    quotas = {"east": east, "central": central}
    return {
        "clusters": {key: {"pools": {"trainer": quota}} for key, quota in quotas.items() if quota is not None},
        **more,
    }


def test_what_a_team_keeps_in_one_worker_it_keeps_in_the_manager() -> None:
    made = planned(spanning({"research": team({"slices": 2, "lendingLimit": 0}, {"slices": 1})}))
    queues = made["hub"].queues
    assert queues is not None
    assert chips(queues.cluster_queues[0].flavors)["v6e-4x4"] == (48, None, 16)


def test_a_team_has_in_the_manager_what_it_has_in_all_workers() -> None:
    made = planned(
        spanning(
            {
                "research": team({"slices": 2, "borrowingLimit": 1}, {"chips": 16, "borrowingLimit": 32}),
                "product": team(None, {"slices": 1, "lendingLimit": 0}),
            }
        )
    )
    queues = made["hub"].queues
    assert queues is not None
    research, product = queues.cluster_queues
    assert chips(research.flavors) == {"cpu": (0, None, None), "v6e-4x4": (48, 48, None)}
    assert chips(product.flavors) == {"cpu": (0, None, None), "v6e-4x4": (16, None, 0)}
    assert chips(queues.shared) == {"v6e-4x4": (32, None, None)}
    (cpu,) = [flavor for flavor in research.flavors if flavor.flavor == "cpu"]
    assert {resource.resource: resource.nominal for resource in cpu.resources} == {
        "google.com/tpu": 0,
        "cpu": 32,
        "memory": 128,
        "ephemeral-storage": 200,
    }
    assert research.workers == ("lab-east", "lab-central")
    assert product.workers == ("lab-central",)
    for key in ("east", "central"):
        own = made[key].queues
        assert own is not None
        assert {cluster_queue.workers for cluster_queue in own.cluster_queues} == {()}


def test_the_manager_has_the_namespaces_and_queues_of_its_workers_and_their_flavors() -> None:
    made = planned(spanning({"research": team({"slices": 1}, {"slices": 1}, namespaces=["a", "b"], queue="main")}))
    hub, east = made["hub"].queues, made["east"].queues
    assert hub is not None
    assert east is not None
    assert hub.teams == east.teams
    assert hub.priorities == east.priorities
    for flavor, own in zip(hub.flavors, east.flavors, strict=True):
        assert (flavor.name, flavor.node_labels, flavor.topology) == (own.name, own.node_labels, own.topology)


def test_the_managers_queues_lead_to_the_workers_that_have_them() -> None:
    """A job goes to the local queue of the same name in the worker, which must be of the same cluster queue."""
    elastic = {"pools": {"trainer": {**V6E, "zone": "us-east5-b", "autoscaling": {"maxSlices": 3}}}}
    teams = {"research": team({"slices": 1}, {"slices": 1}), "product": team({"slices": 1})}
    made = {
        key: cluster.queues
        for key, cluster in planned(spanning(teams, east=elastic)).items()
        if cluster.queues is not None
    }
    hub = made["hub"]
    assert {
        cluster_queue.name: (cluster_queue.workers, list(chips(cluster_queue.flavors)))
        for cluster_queue in hub.cluster_queues
    } == {
        "research": (("lab-central",), ["cpu", "v6e-4x4"]),
        "research-elastic": (("lab-east",), ["cpu-elastic", "v6e-4x4-elastic"]),
        "product-elastic": (("lab-east",), ["cpu-elastic", "v6e-4x4-elastic"]),
    }
    assert {flavor.name: flavor.topology for flavor in hub.flavors} == {
        flavor.name: flavor.topology for key in ("central", "east") for flavor in made[key].flavors
    }
    for queue in hub.cluster_queues:
        (own,) = (team_ for team_ in hub.teams if team_.name == queue.team)
        for local in (name for name, cluster_queue in own.local_queues.items() if cluster_queue == queue.name):
            for key in (worker.removeprefix("lab-") for worker in queue.workers):
                (there,) = (team_ for team_ in made[key].teams if team_.name == queue.team)
                assert there.local_queues[local] == queue.name


def test_workers_let_in_the_managers_pods_and_no_one_else() -> None:
    office = {"publicEndpoint": True, "authorizedNetworks": [{"cidr": "203.0.113.0/24", "name": "office"}]}
    made = planned(spanning({"a": team({"slices": 1}, {"slices": 1})}, central={"controlPlane": office}))
    allowed = {
        key: [(cluster_.cidr, cluster_.name) for cluster_ in cluster.control_plane.authorized_networks]
        for key, cluster in made.items()
    }
    pods = ("10.64.0.0/14", "Pods of lab-hub, which hands jobs on")
    assert allowed == {"hub": [], "east": [pods], "central": [("203.0.113.0/24", "office"), pods]}
    # A private address answers its own region alone.
    assert {key: cluster.global_access for key, cluster in made.items()} == {
        "hub": False,
        "east": True,
        "central": False,
    }


def test_a_worker_allows_the_kinds_that_the_manager_watches() -> None:
    teams = {"a": team({"slices": 1}, {"slices": 1}), "b": team(None, {"slices": 1}, namespaces=["x", "y"])}
    made = planned(spanning(teams, hub={"addons": {"kueue": {"integrations": ["batch/job", "deployment", "pod"]}}}))
    east, central = made["east"].worker, made["central"].worker
    assert east is not None
    assert central is not None
    assert east.kinds == (("batch", "jobs"), ("", "pods"))
    assert (east.namespaces, central.namespaces) == (("a",), ("a", "x", "y"))
    assert made["hub"].worker is None


def test_kueue_of_the_manager_knows_how_to_hand_on() -> None:
    multi = {"dispatcher": "Incremental", "workerLostTimeout": "5m"}
    made = planned(spanning({"a": team({"slices": 1}, {"slices": 1})}, multi=multi))
    told = {}
    for key, cluster in made.items():
        kueue = addon_of(cluster, "kueue")
        assert kueue is not None
        told[key] = yaml.safe_load(kueue.values["managerConfig"]["controllerManagerConfigYaml"]).get("multiKueue")
    assert told == {
        "hub": {
            "dispatcherName": "kueue.x-k8s.io/multikueue-dispatcher-incremental",
            "workerLostTimeout": "5m",
            "origin": "lab-hub",
        },
        "east": None,
        "central": None,
    }


@given(parts=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
def test_the_manager_promises_every_slice_of_its_workers_once(parts: list[tuple[int, int]]) -> None:
    left = [3, 3]
    teams = {}
    for index, wanted in enumerate(parts):
        own = [min(part, rest) for part, rest in zip(wanted, left, strict=True)]
        left = [rest - part for rest, part in zip(left, own, strict=True)]
        teams[f"team-{index}"] = team({"slices": own[0]}, {"slices": own[1]})
    queues = planned(spanning(teams))["hub"].queues
    assert queues is not None
    promised = sum(int(chips(cluster_queue.flavors)["v6e-4x4"][0]) for cluster_queue in queues.cluster_queues)
    assert promised + chips(queues.shared).get("v6e-4x4", (0, None, None))[0] == 6 * 16


@pytest.mark.parametrize("at", ["hub", "east", "central"])
def test_a_launch_agent_works_for_a_team_in_its_own_cluster_alone(at: str) -> None:
    agent = {"launchAgent": {"queues": ["tpu"], "teams": ["research"], "entity": "acme"}}
    teams = {"research": team({"slices": 1}, {"slices": 1}), "product": team({"slices": 1}, {"slices": 1})}
    made = planned(spanning(teams, **{at: {"addons": {**KUEUE, **agent}}}))
    working = {
        (key, team_.name)
        for key, cluster in made.items()
        if cluster.queues
        for team_ in cluster.queues.teams
        if team_.launcher
    }
    assert working == {(at, "research")}


def test_a_launch_agent_in_the_manager_knows_teams_that_have_a_worker() -> None:
    agent = {"launchAgent": {"queues": ["tpu"], "teams": ["nobody"], "entity": "acme"}}
    described = spanning({"research": team({"slices": 1})}, hub={"addons": {**KUEUE, **agent}})
    described["queues"]["multiKueue"]["workers"] = ["east"]
    with pytest.raises(SpecError, match="is not a team of the cluster; allowed: research"):
        parse_platform(described)
