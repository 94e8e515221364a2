"""The jobs, the layouts and the figures of `python -m benchmarks queueing`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.quantities import thousandths
from tpuplane.spec import load_stack
from tpuplane.status.asking import read
from tpuplane.status.snapshot import Objects
from tpuplane.tpu import Slice

from benchmarks.queue_load import TEAMS, QueuedJob, Record, queued_jobs
from benchmarks.queueing import LAYOUTS, PLATFORM, local_queue, slices
from scripts.scale_table import layout_tables

pytestmark = pytest.mark.unit

SHAPE = Slice.of("v6e", "4x4")
DELAY = "pod-complete.stage.kwok.x-k8s.io/delay"
FILES = [file for file in LAYOUTS.values() if file is not None]


def of_kind(file: Path, kind: str) -> dict[str, dict[str, Any]]:
    objects = yaml.safe_load_all(file.read_text())
    return {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}


def quotas(file: Path) -> dict[str, dict[str, int]]:
    """The quotas of the one cluster queue, by flavor."""
    (queue,) = of_kind(file, "ClusterQueue").values()
    (group,) = queue["spec"]["resourceGroups"]
    return {
        flavor["name"]: {own["name"]: thousandths(str(own["nominalQuota"])) // 1000 for own in flavor["resources"]}
        for flavor in group["flavors"]
    }


def test_the_jobs_are_always_the_same_and_have_every_team_and_shape() -> None:
    jobs = queued_jobs(200, slices())
    assert jobs == queued_jobs(200, slices())
    assert len({job.name for job in jobs}) == 200
    assert {job.team for job in jobs} == TEAMS.keys() == load_stack(PLATFORM).teams.keys()
    assert {job.shape for job in jobs} == slices().keys()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_job_has_a_queue_of_the_layout_and_ends_by_itself(layout: str) -> None:
    file = LAYOUTS[layout]
    found = plan(load_stack(PLATFORM)).clusters[0].queues
    assert found is not None
    of_teams = {(space.name, name) for team in found.teams for space in team.namespaces for name in team.local_queues}
    queues = of_teams if file is None else {("default", name) for name in of_kind(file, "LocalQueue")}
    for job in queued_jobs(100, slices()):
        made = job.manifest(local_queue(file))
        queue = made["metadata"]["labels"].get("kueue.x-k8s.io/queue-name", "default")
        assert (made["metadata"]["namespace"], queue) in queues
        work = made["spec"] if made["kind"] == "Job" else made["spec"]["replicatedJobs"][0]["template"]["spec"]
        assert work["parallelism"] == job.shape.hosts
        assert work["template"]["metadata"]["annotations"][DELAY] == f"{job.seconds}s"
        alone = made["metadata"].get("annotations", {}).keys() == {"alpha.jobset.sigs.k8s.io/exclusive-topology"}
        assert alone == (file is not None and job.shape.multi_host)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_layout_has_quota_for_all_hosts(file: Path) -> None:
    (queue,) = of_kind(file, "ClusterQueue")
    (local,) = of_kind(file, "LocalQueue").values()
    assert local["spec"]["clusterQueue"] == queue
    assert [*quotas(file)] == [*of_kind(file, "ResourceFlavor")]
    whole: Counter[str] = Counter()
    for quota in quotas(file).values():
        whole.update(quota)
    machines = [(shape.machine, shape.hosts * count) for shape, count in slices().items()]
    assert whole == {
        "google.com/tpu": sum(machine.chips * hosts for machine, hosts in machines),
        "cpu": sum(machine.vcpus * hosts for machine, hosts in machines),
        "memory": sum(machine.memory_gb * hosts for machine, hosts in machines) * 2**30,
    }


def test_each_shape_has_a_flavor_of_xpk_with_its_chips() -> None:
    (file,) = (file for file in FILES if file.stem == "xpk")
    flavors = of_kind(file, "ResourceFlavor")
    for shape, count in slices().items():
        labels = shape.node_labels.items()
        (name,) = (name for name, flavor in flavors.items() if flavor["spec"]["nodeLabels"].items() <= labels)
        assert quotas(file)[name]["google.com/tpu"] == shape.chips * count


def workload(name: str, *conditions: str) -> dict[str, Any]:
    return {
        "metadata": {"name": f"jobset-{name}", "ownerReferences": [{"kind": "JobSet", "name": name}]},
        "status": {"conditions": [{"type": each, "status": "True"} for each in conditions]},
    }


def seen(conditions: dict[str, tuple[str, ...]], on_host: str | None) -> Objects:
    """A slice of four hosts, with a pod of a job on the first of them."""
    labels = {**SHAPE.node_labels, "cloud.google.com/gke-nodepool": "slice"}
    ready, chips = [{"type": "Ready", "status": "True"}], {"google.com/tpu": "4"}
    nodes = [
        {"metadata": {"name": f"host-{host}", "labels": labels}, "status": {"conditions": ready, "capacity": chips}}
        for host in range(4)
    ]
    owner = {"kind": "JobSet", "name": on_host, "uid": on_host, "controller": True}
    pod = {
        "metadata": {"name": "pod", "uid": "pod", "ownerReferences": [owner]},
        "spec": {"nodeName": "host-0", "containers": [{"resources": {"requests": chips}}]},
    }
    lists = {
        "nodes": nodes,
        "pods": [pod] if on_host else [],
        "workloads": [workload(name, *own) for name, own in conditions.items()],
    }
    return Objects.of("lab", "", {name: [read(name, item) for item in items] for name, items in lists.items()})


def test_the_figures_of_two_jobs_on_one_slice() -> None:
    jobs = [QueuedJob("one", "research", SHAPE, 10), QueuedJob("two", "product", SHAPE, 10)]
    record = Record(jobs, began=100.0)
    held, ended = ("QuotaReserved", "Admitted"), ("QuotaReserved", "Admitted", "Finished")
    record.look(seen({"one": (), "two": ()}, None), 100.0)
    record.look(seen({"one": held, "two": ()}, None), 102.0)  # admitted, and not on its hosts yet
    record.look(seen({"one": held, "two": ()}, "one"), 103.0)
    record.look(seen({"one": (), "two": held}, None), 105.0)  # preempted
    record.look(seen({"one": (), "two": held}, "two"), 106.0)
    record.look(seen({"one": (), "two": ended}, None), 110.0)
    assert not record.look(seen({"one": held, "two": ended}, "one"), 115.0)
    assert record.look(seen({"one": ended, "two": ended}, None), 120.0)
    assert record.figures(chips=16) == {
        "seconds": 20.0,
        "admissions per second": 0.4,  # 2 in 5 s
        "of the first quarter": 0.5,  # 1 in 2 s
        "idle chip-seconds": 144,  # 16 chips from 0 to 3, 5 to 6 and 10 to 15
        "% of all chips": 45.0,
        "preemptions": 1,
        "waits": {"research": 3.0, "product": 6.0, "vision": 0.0, "speech": 0.0, "robotics": 0.0},
    }


def test_the_page_has_each_layout_its_ratios_and_the_waits() -> None:
    ours = {"layout": "tpuplane", "jobs": 2000, "seconds": 400.0, "preemptions": 0, "waits": {"research": 390.5}}
    other = {"layout": "xpk", "jobs": 2000, "seconds": 500.0, "preemptions": 3, "waits": {"research": 480.0}}
    whole, _, ratios, _, waits = layout_tables([ours, other])
    assert whole == (
        "| layout | seconds | preemptions |\n|---|---|---|\n| tpuplane | 400.0 | 0 |\n| xpk | 500.0 | 3 |\n"
    )
    assert ratios == "| layout | seconds |\n|---|---|\n| xpk | 1.25 |\n"
    assert waits.endswith("| tpuplane | 390.5 s |\n| xpk | 480.0 s |\n")
