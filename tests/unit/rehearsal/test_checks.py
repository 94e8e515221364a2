"""What a platform must have before the jobs and events of a rehearsal begin."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane.status.asking import read
from tpuplane.status.snapshot import Objects
from tpuplane_twin.cluster.nodes import FAULT
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.rehearsal.checks import event_problem, queued, undone
from tpuplane_twin.rehearsal.observed import ENDS, chips, unsettled
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.trace import TraceJob

from tests.support.small_stage import SHAPE, tpu_node, tpu_pod
from tests.support.twin_status import cluster, pool

pytestmark = pytest.mark.unit

TRAIN = pool(name="train-0", capacity="on-demand")
SINGLE = pool(name="single", slice="v6e 2x2", capacity="spot")
EVALS = pool(name="evals")


@pytest.mark.parametrize(
    ("event", "of", "problem"),
    [
        ("fail-host", "train-0/3", ""),
        ("fail-host", "host-7", ""),
        ("fail-host", "gke-lab-train-0-1a2b3c4d-x9k2", ""),
        ("fail-slice", "nap-ct6e-standa-4t-k3v9x0qa", ""),
        ("reclaim", "nap-ct6e-standa-4t-spot-k3v9x0qa", ""),
        ("fail-host", "nap-ct6e-standa-4t-spot-k3v9x0qa/2", ""),
        ("fail-host", "gke-lab-train-0", "'gke-lab-train-0' is not a node pool or node"),
        ("fail-host", "gke-labour-a-1a2b3c4d-x9k2", "'gke-labour-a-1a2b3c4d-x9k2' is not a node pool or node"),
        ("fail-host", "gke-far-train-0-1a2b3c4d-x9k2", "'gke-far-train-0-1a2b3c4d-x9k2' is not a node pool or node"),
        ("fail-slice", "nap-ct6e", "'nap-ct6e' is not a node pool or node"),
        ("fail-slice", "nap-ct6e-standa-4t-k3v9x0", "'nap-ct6e-standa-4t-k3v9x0' is not a node pool or node"),
        ("fail-host", "train-0/4", "'train-0/4' is not a host; allowed: train-0/0, train-0/1, train-0/2, train-0/3"),
        ("fail-host", "train-0", "the node pool 'train-0' has several hosts; name one of them: train-0/0, train-0/1"),
        ("fail-slice", "train-0", ""),
        ("fail-host", "single", ""),
        ("fail-host", "single/7", ""),
        ("fail-slice", "evals", "several clusters have a node pool 'evals'; add cluster to of: lab, other"),
        ("fail-slice", {"target": "evals", "cluster": "other"}, ""),
        ("reclaim", "train-0", "'train-0' is on-demand, and only spot and reserved hosts are reclaimed"),
        ("reclaim", "single", ""),
        ("reclaim", "host-7", "'host-7' is not a node pool or node"),
        ("reclaim", "gke-lab-train-0-1a2b3c4d-x9k2", "'gke-lab-train-0-1a2b3c4d-x9k2' is not a node pool or node"),
        ("upgrade", "lab", ""),
        ("capacity", None, ""),
        ("fail-host", "trian-0/3", "'trian-0' is not a node pool or node"),
        ("reclaim", "train-0/3", "'train-0/3' is not a node pool or node"),
        ("reclaim", "spot-0", "'spot-0' is not a node pool or node; allowed: train-0, single"),
        ("upgrade", "labs", "'labs' is not a cluster; allowed: lab, other; nearest: lab"),
        ("reclaim", {"pool": "single", "cluster": "other"}, "'single' is not a node pool or node; allowed: evals"),
    ],
)
def test_an_event_of_what_the_platform_does_not_have_is_a_mistake(event: str, of: object, problem: str) -> None:
    clusters = [cluster(name="lab", nodePools=[TRAIN, SINGLE, EVALS]), cluster(name="other", nodePools=[EVALS])]
    found = event_problem(EventSpec.model_validate({"at": "1h", "event": event, "of": of}), clusters, ["host-7"])
    assert found.startswith(problem) if problem else not found


def objects(context: str, *teams: str, flavor: dict[str, str] | None = None) -> Objects:
    """A cluster with a queue for each of these teams."""
    queues = [{"metadata": {"name": "default", "namespace": team, "uid": team}} for team in teams]
    flavors = [{"metadata": {"name": "slices", "uid": "f"}, "spec": {"nodeLabels": flavor or {}}}]
    lists: dict[str, list[dict[str, Any]]] = {"local_queues": queues, "flavors": flavors, "workloads": []}
    lists |= {"nodes": [], "pods": []}
    return Objects.of(context, "", {kind: [read(kind, item) for item in items] for kind, items in lists.items()})


def job(team: str, compute_class: str = "") -> TraceJob:
    return TraceJob("train", team, SHAPE, 1, 60.0, "", 0.0, compute_class=compute_class)


def test_a_job_goes_to_a_cluster_with_its_shape() -> None:
    clusters = [objects("west", "research"), objects("east", "research", flavor=SHAPE.node_labels), objects("north")]
    assert [found.context for found in queued(job("research"), clusters)] == ["east", "west"]
    assert queued(job("nightly", "overnight"), clusters) == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (job("product"), "the team 'product' of the job 'train' has no queue on this platform"),
        (job("research", "overnight"), "has the class 'overnight', and its team 'research' has a queue; remove class"),
    ],
)
def test_a_job_has_a_queue_or_a_class(wanted: TraceJob, message: str) -> None:
    with pytest.raises(TwinError, match=message):
        queued(wanted, [objects("east", "research")])


@pytest.mark.parametrize("created", [True, False])
def test_the_clock_waits_until_kueue_has_created_a_workload(created: bool) -> None:
    metadata = {"name": "train", "namespace": "research", "uid": "j"}
    waiting = {"metadata": {**metadata, "labels": {"kueue.x-k8s.io/queue-name": "default"}}, "spec": {"suspend": True}}
    owner = {"kind": "JobSet", "name": "train", "uid": "j", "controller": True}
    workload = {"metadata": {"name": "w", "namespace": "research", "uid": "w", "ownerReferences": [owner]}}
    lists = {"nodes": [], "pods": [], "JobSet": [waiting], "workloads": [workload] if created else []}
    found = Objects.of("lab", "", {kind: [read(kind, item) for item in items] for kind, items in lists.items()})
    assert unsettled(found, [job("research")]) == ("" if created else "the JobSet research/train")


@pytest.mark.parametrize(
    ("annotations", "waits"), [({}, False), ([ENDS], True), ([ENDS, (FAULT, "host-error")], False)]
)
def test_pods_that_are_to_succeed_are_waited_for_unless_their_host_is_silent(annotations: Any, waits: bool) -> None:
    pod = tpu_pod(job("research"), "n", "train-0")
    pod["metadata"]["annotations"] = dict(annotations)
    lists = {"nodes": [tpu_node("n", "train", ready=True)], "pods": [pod]}
    found = Objects.of("lab", "", {kind: [read(kind, item) for item in items] for kind, items in lists.items()})
    assert unsettled(found, []) == ("the pod research/train-0" if waits else "")


@pytest.mark.parametrize(
    ("event", "answer", "reported"),
    [
        ("upgrade", {"upgraded": [], "held": []}, "upgrade lab: nothing to upgrade"),
        ("upgrade", {"upgraded": ["lab: 1.34 to 1.35"], "held": []}, ""),
        ("upgrade", {"upgraded": [], "held": ["lab by the exclusion NO_UPGRADES"]}, "upgrade lab: held: lab by"),
        ("upgrade", {"upgraded": [], "held": [], "error": "no quota"}, "upgrade lab: failed: no quota"),
        ("reclaim", {"pool": "lab", "error": "no capacity"}, "reclaim lab: failed: no capacity"),
        ("reclaim", {"pool": "lab"}, ""),
        ("capacity", {"stockouts": []}, ""),
    ],
)
def test_a_rehearsal_reports_what_an_event_has_not_done(event: str, answer: dict[str, Any], reported: str) -> None:
    of = "lab" if event != "capacity" else None
    found = undone(EventSpec.model_validate({"at": "1h", "event": event, "of": of}), answer)
    assert "".join(found).startswith(reported)
    assert bool(found) == bool(reported)


@pytest.mark.parametrize(("offered", "usable", "lost", "idle"), [("4", 16, 0, 1), ("0", 12, 4, 0)])
def test_a_host_that_does_not_offer_its_chips_is_lost(offered: str, usable: int, lost: int, idle: int) -> None:
    nodes = [tpu_node(f"n{number}", "train-0", ready=True) for number in range(4)]
    nodes[0]["status"]["allocatable"] = {"google.com/tpu": offered}
    found = chips([Objects.of("lab", "", {"nodes": [read("nodes", node) for node in nodes], "pods": []})])
    assert (found.usable, found.lost, found.idle.get(SHAPE, 0)) == (usable, lost, idle)


def test_a_slice_with_missing_hosts_has_the_chips_of_the_others() -> None:
    nodes = [tpu_node(f"n{number}", "train-0", ready=True) for number in range(2)]
    found = chips([Objects.of("lab", "", {"nodes": [read("nodes", node) for node in nodes], "pods": []})])
    assert (found.usable, found.lost) == (8, 0)
