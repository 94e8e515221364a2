"""Queues that a stack adds to an existing cluster: removed with work in them, adopted again, and upgraded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.e2e.platform_under_test import CENTRAL2, PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.pages import DESTROY, script_of
from tests.support.pulumi_program import Program

pytestmark = [pytest.mark.e2e, pytest.mark.long]

TEAM, NEIGHBOURS = "guests", "neighbours"
SHAPE = {"generation": "v4", "topology": "2x2x1"}
MIRROR = "TPUPLANE_CHART_MIRROR"


class Guest(Program):
    """A stack of its own in the cluster central2, which the local stack made: two slices, a team, its operators."""

    def __init__(self, platform: PlatformUnderTest, folder: Path) -> None:
        super().__init__(platform.folder, platform.variables, "guest")
        self.platform, self.jobs = platform, folder / "jobs.yaml"
        self.stack_file = platform.folder / "stacks" / "Pulumi.guest.yaml"
        self.describe()
        self.pulumi("stack", "init")

    def describe(
        self,
        *,
        kueue: dict[str, Any] | None = None,
        boxes: dict[str, Any] | None = None,
        team: str = TEAM,
        neighbours: bool = False,
    ) -> None:
        """Write the stack file, with these values of the operator and of the pool, and this name of the team; or with
        a second team, which has an autoscaled pool of the same shape."""
        cluster = {
            "location": "us-central2-b",
            "existing": {"name": "lab-central2"},
            "addons": {"kueue": kueue or {}, "jobset": {}},
            "pools": {"boxes": {**SHAPE, **(boxes or {"slices": 2})}},
        }
        teams: dict[str, Any] = {
            team: {"namespaces": [TEAM], "clusters": {"there": {"pools": {"boxes": {"slices": 2}}}}}
        }
        if neighbours:
            cluster["pools"]["more"] = {**SHAPE, "autoscaling": {"maxSlices": 2}}
            teams[NEIGHBOURS] = {"clusters": {"there": {"pools": {"more": {"slices": 2}}}}}
        platform = {"name": "guest", "project": "tpuplane-lab", "teams": teams, "clusters": {"there": cluster}}
        self.stack_file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform}}))

    def submit(self, *names: str, team: str = TEAM) -> None:
        """Jobs of one slice each."""
        self.jobs.write_text(yaml.safe_dump_all([_job(name) for name in names]))
        self.platform.kubectl(CENTRAL2, "apply", "-n", team, "-f", str(self.jobs))

    def pod(self, name: str, team: str = TEAM) -> dict[str, Any]:
        """The pod of a job that runs."""
        label = f"batch.kubernetes.io/job-name={name}"
        (pod,) = running(self.platform, CENTRAL2, label, 1, namespace=team)
        return pod

    def pool(self, name: str, team: str = TEAM) -> str:
        """The node pool on which a job runs."""
        return self.platform.pool_of(CENTRAL2, self.pod(name, team))

    def chips(self, queue: str) -> dict[str, str]:
        """Chips that work holds in a cluster queue, by flavor."""
        text = self.platform.kubectl(CENTRAL2, "get", "clusterqueue", queue, "-o", "json")
        return {
            flavor["name"]: resource["total"]
            for flavor in json.loads(text)["status"]["flavorsReservation"]
            for resource in flavor["resources"]
            if resource["name"] == "google.com/tpu"
        }

    def definitions(self) -> dict[str, dict[str, Any]]:
        """The CRDs of Kueue and JobSet by name."""
        found = {definition["metadata"]["name"]: definition for definition in self.platform.items(CENTRAL2, "crd")}
        return {name: value for name, value in found.items() if name.endswith((".kueue.x-k8s.io", ".jobset.x-k8s.io"))}

    def flavors(self) -> set[str]:
        return {flavor["metadata"]["name"] for flavor in self.platform.items(CENTRAL2, "resourceflavors")}

    def objects(self) -> list[str]:
        """Every object of their kinds."""
        kinds = ",".join(self.definitions())
        return [
            f"{found_object['kind']} {found_object['metadata']['name']}"
            for found_object in self.platform.items(CENTRAL2, kinds, "-A")
        ]


@pytest.fixture
def guest(platform: PlatformUnderTest, tmp_path: Path) -> Iterator[Guest]:
    found = Guest(platform, tmp_path)
    try:
        yield found
    finally:
        found.destroy()
        found.pulumi("stack", "rm", "--yes")  # and its file with it
        if left := found.definitions():
            platform.kubectl(CENTRAL2, "delete", "crd", *left)


def test_destroy_ends_with_work_in_the_queues_and_the_kinds_stay(guest: Guest) -> None:
    guest.up()
    guest.submit("one", "two")
    assert guest.pod("one")
    assert guest.pod("two")
    guest.submit("waits")
    before = {name: definition["metadata"]["uid"] for name, definition in guest.definitions().items()}
    assert "resourceflavors.kueue.x-k8s.io" in before

    guest.destroy()
    assert {name: definition["metadata"]["uid"] for name, definition in guest.definitions().items()} == before
    assert guest.objects() == []
    namespaces = {namespace["metadata"]["name"] for namespace in guest.platform.items(CENTRAL2, "namespaces")}
    assert namespaces.isdisjoint({TEAM, "kueue-system", "jobset-system"})
    assert not guest.platform.steps(), "nothing of whose cluster it is has changed"

    guest.up()
    assert {name: definition["metadata"]["uid"] for name, definition in guest.definitions().items()} == before
    assert not guest.steps()
    guest.submit("again")
    assert guest.pod("again")


@pytest.mark.parametrize("state", ["was deleted", "cannot run any more"])
def test_destroy_without_an_operator(guest: Guest, state: str) -> None:
    """Only Kueue removes its finalizers from queues and work."""
    guest.up()
    guest.submit("one", "two")
    assert guest.pod("one")
    guest.submit("waits")
    guest.platform.kubectl(CENTRAL2, "delete", "deployment", "-n", "kueue-system", "kueue-controller-manager")
    script = script_of(DESTROY, f"# an existing cluster, whose operator {state}", "guest")
    guest.run("bash", "-e", "-c", script.replace("kubectl ", f"kubectl --context {CENTRAL2} "))
    guest.destroy()
    assert guest.objects() == []


def test_an_upgrade_changes_kinds_in_place_and_leaves_work_alone(guest: Guest, tmp_path: Path) -> None:
    current = guest.platform.variables[MIRROR]
    former = tmp_path / "former"
    shutil.copytree(current, former)
    _without_short_name(former / "kueue", "resourceflavors.kueue.x-k8s.io")
    guest.platform.variables[MIRROR] = str(former)
    try:
        guest.up()
    finally:
        guest.platform.variables[MIRROR] = current
    guest.submit("through")
    pod, before = guest.pod("through"), guest.definitions()
    assert "rf" not in before["resourceflavors.kueue.x-k8s.io"]["spec"]["names"]["shortNames"]

    guest.describe(kueue={"replicas": 2})
    guest.up()
    after = guest.definitions()
    assert "rf" in after["resourceflavors.kueue.x-k8s.io"]["spec"]["names"]["shortNames"]
    assert {name: manifest["metadata"]["uid"] for name, manifest in after.items()} == {
        name: manifest["metadata"]["uid"] for name, manifest in before.items()
    }
    (manager,) = guest.platform.items(CENTRAL2, "deployments", "-n", "kueue-system")
    assert manager["status"]["readyReplicas"] == 2
    assert guest.pod("through")["metadata"]["uid"] == pod["metadata"]["uid"]
    assert not guest.steps()


def test_another_teams_autoscaled_pool_leaves_flavors_and_work_as_they_are(guest: Guest) -> None:
    guest.up()
    guest.submit("through")
    pod, pool = guest.pod("through"), guest.pool("through")
    flavors = {
        flavor["metadata"]["name"]: flavor["metadata"]["uid"]
        for flavor in guest.platform.items(CENTRAL2, "resourceflavors")
    }
    assert set(flavors) == {"cpu", "v4-2x2x1"}

    guest.describe(neighbours=True)
    guest.up()
    assert not guest.steps()
    now = {flavor["metadata"]["name"]: flavor for flavor in guest.platform.items(CENTRAL2, "resourceflavors")}
    assert {name: now[name]["metadata"]["uid"] for name in flavors} == flavors
    assert {name: manifest["spec"].get("topologyName") for name, manifest in now.items()} == {
        "cpu": "slices",
        "cpu-elastic": None,
        "v4-2x2x1": "slices",
        "v4-2x2x1-elastic": None,
    }
    guest.submit("comes", team=NEIGHBOURS)
    assert guest.pool("comes", NEIGHBOURS) == "more"
    guest.submit("after", "waits")
    assert {guest.pool("through"), guest.pool("after")} == {pool} == {"boxes"}
    assert guest.pod("through")["metadata"]["uid"] == pod["metadata"]["uid"]
    # Both slices are taken, and what waits gets none of its neighbours'.
    assert guest.chips(TEAM) == {"cpu": "0", "v4-2x2x1": "8"}
    assert guest.chips(f"{NEIGHBOURS}-elastic") == {"cpu-elastic": "0", "v4-2x2x1-elastic": "4"}


def test_a_pool_becomes_autoscaled_when_its_work_has_ended(guest: Guest) -> None:
    """Kueue changes no flavor that has a topology, and would no longer count the work of another."""
    guest.up()
    guest.submit("through")
    pod = guest.pod("through")

    guest.describe(boxes={"autoscaling": {"minSlices": 1, "maxSlices": 2}})
    with pytest.raises(AssertionError) as rejected:
        guest.up()
    assert "work in this queue holds quota of v4-2x2x1" in str(rejected.value)
    assert guest.chips(TEAM) == {"cpu": "0", "v4-2x2x1": "4"}
    assert guest.pod("through")["metadata"]["uid"] == pod["metadata"]["uid"]

    guest.platform.kubectl(CENTRAL2, "delete", "job", "-n", TEAM, "--wait", "through")
    guest.up()
    assert guest.flavors() == {"cpu", "cpu-elastic", "v4-2x2x1-elastic"}
    assert not guest.steps()
    guest.submit("after")
    assert guest.pod("after")


def test_a_team_with_a_new_name_keeps_its_namespace(guest: Guest) -> None:
    """Kueue takes no other cluster queue in a local queue, so that there is a new one of the same name."""
    guest.up()
    guest.submit("before")
    assert guest.pod("before")
    (namespace,) = guest.platform.items(CENTRAL2, "namespaces", f"--field-selector=metadata.name={TEAM}")
    # A queue stays as long as there is work in it, and `up` would wait for that.
    guest.platform.kubectl(CENTRAL2, "delete", "job", "-n", TEAM, "--wait", "before")

    guest.describe(team="hosts")
    guest.up()
    (local,) = guest.platform.items(CENTRAL2, "localqueues", "-n", TEAM)
    (queue,) = guest.platform.items(CENTRAL2, "clusterqueues")
    assert local["spec"]["clusterQueue"] == queue["metadata"]["name"] == "hosts"
    (kept,) = guest.platform.items(CENTRAL2, "namespaces", f"--field-selector=metadata.name={TEAM}")
    assert kept["metadata"]["uid"] == namespace["metadata"]["uid"]
    assert not guest.steps()
    guest.submit("after")
    assert guest.pod("after")


def _job(name: str) -> dict[str, Any]:
    container = {"name": "train", "image": "python:3.11", "resources": {"limits": {"google.com/tpu": 4}}}
    selector = {"cloud.google.com/gke-tpu-accelerator": "tpu-v4-podslice", "cloud.google.com/gke-tpu-topology": "2x2x1"}
    pod = {"restartPolicy": "Never", "nodeSelector": selector, "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "default"}},
        "spec": {"template": {"spec": pod}},
    }


def _without_short_name(chart: Path, definition: str) -> None:
    """Make a chart the former release of itself, in which a kind had one short name less."""
    plural = definition.partition(".")[0]
    (path,) = (file for file in chart.rglob("*.yaml") if file.name.endswith(f"_{plural}.yaml"))
    text = path.read_text()
    changed = text.replace("      - rf\n", "")
    assert changed != text, path
    path.chmod(0o644)
    path.write_text(changed)
