"""Dynamic slices of tpu7x, with the real Kueue: GKE's slice controller and Kueue's slice controller are emulated."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tpuplane.addons.kueue_objects import flavor_spec, slice_check_spec
from tpuplane.labels import (
    BLOCK_LABEL,
    DYNAMIC_SLICE_LABEL,
    TOPOLOGY_LABEL,
    TPU,
    partition_label,
    partition_state_label,
)
from tpuplane.plan import plan
from tpuplane.plan.flavors import FLAVOR_LABEL
from tpuplane.spec import parse_platform
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Api, ClusterError, Object, has_condition, path
from tpuplane_twin.slices.controllers import SliceControllers
from tpuplane_twin.slices.formation import LINKS

from tests.support.cluster import operators
from tests.support.cluster.cluster_objects import CLUSTER, JOBSETS, Cluster, empty, pool, rejection, running_pods
from tests.support.cluster.control_planes import running
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

KUEUE, SLICES = "/apis/kueue.x-k8s.io/v1beta2", "/apis/accelerator.gke.io/v1beta1/slices"
DESCRIPTION = {**CLUSTER, "addonsConfig": {"sliceControllerConfig": {"enabled": True}}}
TEAM, CUBES = "research", 4
PLATFORM: Object = {
    "name": "lab",
    "project": "acme-lab",
    "reservations": {"ours": {"generation": "tpu7x", "zone": "us-central1-c", "chips": 64 * CUBES}},
    "teams": {TEAM: {"clusters": {"main": {"pools": {"cubes": {"slices": CUBES}}}}}},
    "clusters": {
        "main": {
            "location": "us-central1",
            "releaseChannel": "RAPID",
            "version": "1.36",
            "sliceController": True,
            "addons": {
                "kueue": {},
                "jobset": {},
                "kueueSliceController": {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
            },
            "pools": {
                "cubes": {
                    "generation": "tpu7x",
                    "topology": "4x4x4",
                    "zone": "us-central1-c",
                    "slices": CUBES,
                    "capacity": "reservation",
                    "reservation": {"name": "ours", "block": "block-1"},
                    "acceleratorTopologyMode": "PROVISION_ONLY",
                }
            },
        }
    },
}


def queueing() -> list[tuple[str, Object]]:
    """The objects that the platform makes for the cubes, and one queue for all of their chips."""
    queues = plan(parse_platform(PLATFORM)).clusters[0].queues
    assert queues is not None
    queue = next(own for own in queues.cluster_queues if own.team == TEAM)
    (use,) = queue.checks
    flavor = next(own for own in queues.flavors if own.name in use.flavors)
    topology = next(own for own in queues.topologies if own.name == flavor.topology)
    covered = [*flavor.per_slice]
    quota = [{"name": name, "nominalQuota": 64 * CUBES if name == TPU else "100Ti"} for name in covered]
    groups = [{"coveredResources": covered, "flavors": [{"name": flavor.name, "resources": quota}]}]
    strategy = {"admissionChecks": [{"name": use.check, "onFlavors": list(use.flavors)}]}
    body = {"namespaceSelector": {}, "resourceGroups": groups, "admissionChecksStrategy": strategy}
    objects = [
        ("topologies", "Topology", topology.name, {"levels": [{"nodeLabel": label} for label in topology.levels]}),
        ("resourceflavors", "ResourceFlavor", flavor.name, flavor_spec(flavor)),
        ("admissionchecks", "AdmissionCheck", use.check, slice_check_spec()),
        ("clusterqueues", "ClusterQueue", "cubes", body),
        (f"namespaces/{TEAM}/localqueues", "LocalQueue", "cubes", {"clusterQueue": "cubes"}),
    ]
    return [
        (f"{KUEUE}/{url}", {"apiVersion": KUEUE[6:], "kind": kind, "metadata": {"name": name}, "spec": spec})
        for url, kind, name, spec in objects
    ]


def cube(number: int, labels: dict[str, str]) -> Object:
    affinity = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["projects/acme/reservations/ours/reservationBlocks/block-1"],
    }
    made = pool(f"cube-{number}", "tpu7x-standard-4t", 16, labels=labels, reservationAffinity=affinity)
    return {**made, "twinCube": "4x4x4", "placementPolicy": {"policyName": "wp"}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sliced(tools: twin_tools.Tools, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """A cluster with the slice controller, Kueue, JobSet and four cubes of one block."""
    async with running(tools, tmp_path_factory.mktemp("sliced"), DESCRIPTION) as found, found.api() as api:
        await operators.install(api, tools, found.folder, PLATFORM)
        objects = queueing()
        labels = next(item["spec"]["nodeLabels"] for _, item in objects if item["kind"] == "ResourceFlavor")
        own = {label: labels[label] for label in (FLAVOR_LABEL, "tpuplane-capacity")}
        for number in range(CUBES):
            await found.plane.pools.apply(cube(number, own), DESCRIPTION)
        await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
        task = asyncio.create_task(SliceControllers({"main": found.plane}, Times(speed=60)).run())
        await eventually(lambda: operators.takes_work(api, TEAM))
        for url, item in objects:
            await api.request("POST", url, body=item)
        yield found
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest_asyncio.fixture(loop_scope="session")
async def api(sliced: Cluster) -> AsyncIterator[Api]:
    async with sliced.api() as api:
        yield api
        for node in await api.list("Node"):
            if LINKS in node["metadata"].get("annotations", {}):
                await links(api, [node["metadata"]["name"]], None)
        await api.request("DELETE", f"{JOBSETS}/{TEAM}/jobsets")
        await empty(api, TEAM)
        for name in await slices(api):
            await api.delete("Slice", name)
        await eventually(lambda: slices(api), lambda found: not found)


def jobset(name: str, topology: str, pods: int, replicas: int = 1) -> Object:
    """A JobSet as GKE's page "Schedule dynamic slices with Kueue and TAS" writes it."""
    template = {
        "metadata": {"annotations": {"cloud.google.com/gke-tpu-slice-topology": topology}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu7x"},
            "tolerations": [{"key": TPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"}],
            "containers": [{"name": "jax", "image": "python:latest", "resources": {"limits": {TPU: 4}}}],
        },
    }
    job = {"parallelism": pods, "completions": pods, "backoffLimit": 10, "template": template}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "cubes"}},
        "spec": {"replicatedJobs": [{"name": "job", "replicas": replicas, "template": {"spec": job}}]},
    }


async def submit(api: Api, *items: Object) -> None:
    for item in items:
        await api.request("POST", f"{JOBSETS}/{TEAM}/jobsets", body=item)


def of(name: str) -> str:
    return f"jobset.sigs.k8s.io/jobset-name={name}"


async def slices(api: Api) -> dict[str, Object]:
    return {item["metadata"]["name"]: item for item in await api.list("Slice")}


async def workload(api: Api, job: str) -> Object:
    """The Workload of a job."""

    async def look() -> Object | None:
        found = await api.list("Workload", TEAM)
        return next((item for item in found if item["metadata"]["ownerReferences"][0]["name"] == job), None)

    return await eventually(look)


async def nodes_of(api: Api, pods: list[Object]) -> list[dict[str, str]]:
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in await api.list("Node")}
    return [nodes[pod["spec"]["nodeName"]] for pod in pods]


async def waits(api: Api, job: str) -> str:
    """The message of Kueue about a job that waits for quota or a place."""

    async def look() -> str:
        for condition in (await workload(api, job)).get("status", {}).get("conditions", ()):
            if condition["type"] == "QuotaReserved" and condition["status"] == "False":
                return str(condition["message"])
        return ""

    return await eventually(look)


async def states(api: Api, shape: str) -> Counter[str]:
    nodes = await api.list("Node", labelSelector=partition_label("4x4x4"))
    return Counter(node["metadata"]["labels"].get(partition_state_label(shape), "") for node in nodes)


async def break_chips(api: Api, node: str, *, broken: bool = True) -> None:
    patch = {"status": {"allocatable": {TPU: "0" if broken else "4"}}}
    url = f"{path('Node', node, None)}/status"
    await api.request("PATCH", url, body=patch, content_type="application/merge-patch+json")


async def links(api: Api, nodes: list[str], value: str | None) -> None:
    for name in nodes:
        await api.merge("Node", name, {"metadata": {"annotations": {LINKS: value}}})


async def hosts(api: Api, number: int) -> list[str]:
    found = await api.list("Node", labelSelector=f"cloud.google.com/gke-nodepool=cube-{number}")
    return sorted(node["metadata"]["name"] for node in found)


@contextlib.asynccontextmanager
async def bad(api: Api, *numbers: int) -> AsyncIterator[None]:
    """The first host of these cubes reports no chips."""
    names = [(await hosts(api, number))[0] for number in numbers]
    healthy = (await states(api, "4x4x4"))["HEALTHY"]
    for name in names:
        await break_chips(api, name)
    await eventually(lambda: states(api, "4x4x4"), lambda found: found["UNHEALTHY"] == 16 * len(numbers))
    try:
        yield
    finally:
        for name in names:
            await break_chips(api, name, broken=False)
    await eventually(lambda: states(api, "4x4x4"), lambda found: found["HEALTHY"] == healthy)


async def test_a_job_without_a_queue_is_not_changed(api: Api) -> None:
    (job,) = jobset("alone", "2x2x2", 2)["spec"]["replicatedJobs"]
    url, template = f"/apis/batch/v1/namespaces/{TEAM}/jobs", job["template"]
    asked = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "alone"}, "spec": template["spec"]}
    made = await api.request("POST", url, body=asked, params={"dryRun": "All"})
    assert "kueue.x-k8s.io/podset-slice-size" not in made["spec"]["template"]["metadata"]["annotations"]


async def test_three_parts_fill_a_cube_and_the_fourth_job_waits(api: Api) -> None:
    async with bad(api, 0, 1, 2):
        # The healthy parts of the bad cubes remain usable; so the jobs select the only healthy cube.
        jobs = [jobset("half", "2x4x4", 8), jobset("one", "2x2x4", 4), jobset("two", "2x2x4", 4)]
        jobs.append(jobset("three", "2x2x4", 4))
        for item in jobs:
            template = item["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
            template["spec"]["nodeSelector"][partition_state_label("4x4x4")] = "HEALTHY"
        await submit(api, *jobs[:3])
        pods = await running_pods(api, TEAM, 16)
        labels = await nodes_of(api, pods)
        assert len({own["kubernetes.io/hostname"] for own in labels}) == 16
        assert Counter(own[TOPOLOGY_LABEL] for own in labels) == {"2x4x4": 8, "2x2x4": 8}
        found = await slices(api)
        assert {(item["spec"]["topology"], len(item["spec"]["partitionIds"])) for item in found.values()} == {
            ("2x4x4", 1),
            ("2x2x4", 1),
        }
        assert {own[DYNAMIC_SLICE_LABEL] for own in labels} == found.keys()
        await submit(api, jobs[3])
        assert "topology" in await waits(api, "three")
        await api.request("DELETE", f"{JOBSETS}/{TEAM}/jobsets/one")
        await running_pods(api, TEAM, 4, of("three"))


async def test_a_slice_of_two_cubes_is_in_one_block(api: Api, sliced: Cluster) -> None:
    await submit(api, jobset("pair", "4x4x8", 32))
    labels = await nodes_of(api, await running_pods(api, TEAM, 32))
    assert len({own[partition_label("4x4x4")] for own in labels}) == 2
    assert {(own[BLOCK_LABEL], own[TOPOLOGY_LABEL]) for own in labels} == {(labels[0][BLOCK_LABEL], "4x4x8")}
    ((name, item),) = (await slices(api)).items()
    assert sorted(item["spec"]["partitionIds"]) == sorted({own[partition_label("4x4x4")] for own in labels})
    assert has_condition(item, "Ready", reason="ACTIVE")
    check = (await workload(api, "pair"))["status"]["admissionChecks"][0]
    assert (check["state"], check["message"]) == ("Ready", "Slices are in states: 1 ACTIVE")
    assert (await sliced.kubectl("get", "slices")).split()[:4] == ["NAME", "TYPE", "TOPOLOGY", "STATE"]
    number = next(own["cloud.google.com/gke-nodepool"] for own in labels)
    with pytest.raises(ClusterError, match=f"cannot be deleted while Slices use its nodes: {name}"):
        await sliced.plane.pools.delete(number)


async def test_a_slice_of_four_cubes_waits_for_a_bad_one(api: Api) -> None:
    async with bad(api, 3):
        await submit(api, jobset("large", "4x8x8", 64))
        assert "allows to fit only" in await waits(api, "large")
        assert await slices(api) == {}
    await running_pods(api, TEAM, 64)


async def test_a_lost_host_moves_its_slice(api: Api, sliced: Cluster) -> None:
    await submit(api, jobset("moved", "2x2x2", 2))
    before = await nodes_of(api, await running_pods(api, TEAM, 2))
    lost, number = before[0]["kubernetes.io/hostname"], before[0]["cloud.google.com/gke-nodepool"]
    await api.delete("Node", lost)

    async def elsewhere() -> bool:
        pods = [pod for pod in await api.list("Pod", TEAM) if pod["status"].get("phase") == "Running"]
        found = await nodes_of(api, [pod for pod in pods if pod["spec"]["nodeName"] != lost])
        parts = {own[partition_label("2x2x2")] for own in found}
        return len(found) == 2 and not parts & {before[0][partition_label("2x2x2")]}

    await eventually(elsewhere)
    events = await api.list("Event", TEAM, fieldSelector="reason=SlicesCreated")
    assert len([item for item in events if "moved" in item["involvedObject"]["name"]]) == 2
    assert (await states(api, "4x4x4"))["INCOMPLETE"] == 15
    await sliced.plane.pools.apply(cube(int(number[-1]), _own(before[0])), DESCRIPTION)
    await eventually(lambda: states(api, "4x4x4"), lambda found: found["HEALTHY"] == 16 * CUBES)
    for pod in await api.list("Pod", TEAM, fieldSelector=f"spec.nodeName={lost}"):
        await api.delete("Pod", pod["metadata"]["name"], TEAM)  # Kubernetes would take a minute


def _own(labels: dict[str, str]) -> dict[str, str]:
    return {label: labels[label] for label in (FLAVOR_LABEL, "tpuplane-capacity")}


async def test_links_that_do_not_form_make_kueue_try_again(api: Api) -> None:
    names = [name for number in range(CUBES) for name in await hosts(api, number)]
    await links(api, names, "stuck")
    await submit(api, jobset("late", "2x2x1", 1))

    async def retried() -> bool:
        checks = (await workload(api, "late")).get("status", {}).get("admissionChecks", [{}])
        return any(check.get("retryCount") for check in checks)

    await eventually(retried)
    await links(api, names, "degraded")
    await running_pods(api, TEAM, 1)
    assert await states(api, "4x4x4") == {"DEGRADED": 16 * CUBES}
    assert await states(api, "2x2x4") == {"HEALTHY": 16 * CUBES}
    # A deletion that hangs ends when a user removes the finalizer.
    await links(api, names, "stuck")
    ((name, _),) = (await slices(api)).items()
    await api.request("DELETE", f"{JOBSETS}/{TEAM}/jobsets/late")
    await eventually(
        lambda: api.get("Slice", name), lambda found: has_condition(found, "Ready", "False", "DEACTIVATING")
    )
    await api.merge("Slice", name, {"metadata": {"finalizers": []}})
    await eventually(lambda: slices(api), lambda found: not found)
    await links(api, names, None)
    await eventually(lambda: states(api, "4x4x4"), lambda found: found["HEALTHY"] == 16 * CUBES)


async def test_wrong_slices_and_jobs_are_rejected(api: Api) -> None:
    def item(name: str, **spec: Any) -> Object:
        body = {"type": "tpu7x", "topology": "4x4x8", "partitionIds": ["a", "b"], **spec}
        api_version = "accelerator.gke.io/v1beta1"
        return {"apiVersion": api_version, "kind": "Slice", "metadata": {"name": name}, "spec": body}

    wrong = {
        "at most 49 characters": item("a" * 50),
        "only tpu7x": item("one", type="v6e"),
        "multiples of 4": item("one", topology="4x4x6"),
        "ascending": item("one", topology="4x8x4"),
        "at most 9,216 chips": item("one", topology="16x32x32"),
        "one 4x4x4 partition for each 64 chips": item("one", partitionIds=["a"]),
        "one of a part of a cube": item("one", topology="2x2x4"),
    }
    for message, body in wrong.items():
        assert message in await rejection(api.request("POST", SLICES, body=body))
    jobs = {
        "must be exactly 16 TPUs (full utilization)": jobset("wrong", "2x2x4", 3),
        "results in 32 TPUs requested per cube, but must be exactly 64": jobset("wrong", "4x4x8", 16),
        "each side must be a multiple of 4": jobset("wrong", "2x4x8", 16),
        "ascending order": jobset("wrong", "4x8x4", 32),
    }
    for message, body in jobs.items():
        assert message in await rejection(submit(api, body))


async def test_of_two_slices_with_one_partition_one_is_formed(api: Api) -> None:
    label = partition_label("4x4x4")
    identity = next(node["metadata"]["labels"][label] for node in await api.list("Node", labelSelector=label))
    spec = {"type": "tpu7x", "topology": "4x4x4", "partitionIds": [identity]}
    items = [
        {"apiVersion": "accelerator.gke.io/v1beta1", "kind": "Slice", "metadata": {"name": name}, "spec": spec}
        for name in ("one", "two")
    ]
    await asyncio.gather(*(api.request("POST", SLICES, body=item) for item in items))

    def reasons(found: dict[str, Object]) -> list[str]:
        conditions = (item.get("status", {}).get("conditions", []) for item in found.values())
        return sorted(condition["reason"] for own in conditions for condition in own)

    await eventually(lambda: slices(api), lambda found: reasons(found) == ["ACTIVE", "SliceCreationFailed"])
