"""`tpuplane job`: values that no operator takes, and places that cannot run a job although they have such slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.jobs.pods import require
from tpuplane.workloads.pods import affinity_without

from tests.support.job_command import GOOD, LETTERS, PRODUCT, changed, printed, run, templates

pytestmark = pytest.mark.unit


def lab(folder: Path, ram_disks: dict[str, int] | None = None, **pools: dict[str, Any]) -> Path:
    """A platform with these pools, all of the team research, and a file system in each zone of them."""
    quotas = {"main": {"pools": {name: {"slices": pool.get("slices", 1)} for name, pool in pools.items()}}}
    main = {
        "location": "us-east5",
        "storage": {"lustre": True, "gcsFuse": True},
        "addons": {"kueue": {}, "jobset": {}, "leaderWorkerSet": {}, "ray": {}},
        "pools": pools,
    }
    buckets = {"saved": {"purpose": "checkpoints", "location": "us-east5", "writers": ["research"]}}
    if ram_disks:
        sizes = {pool: {"ramDiskGb": size} for pool, size in ram_disks.items()}
        main["multiTierCheckpointing"] = {"bucket": "saved", "pools": sizes}
    size = {"capacityGib": 18000, "throughput": 500, "writers": ["research"]}
    platform = {
        "name": "lab",
        "project": "tpuplane-lab",
        "storage": {
            "buckets": buckets,
            "lustre": {f"files-{pool['zone'][-1]}": {**size, "zone": pool["zone"]} for pool in pools.values()},
        },
        "teams": {"research": {"clusters": quotas}},
        "clusters": {"main": main},
    }
    stack = folder / "Pulumi.lab.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform}}))
    return stack


NEAR = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}
AWAY = {**NEAR, "zone": "us-east5-a"}
ELASTIC = {"autoscaling": {"maxSlices": 2}}
QUEUED = {**ELASTIC, "capacity": "flex-start", "flexStart": {"queued": True}}
SPOT = {**AWAY, "capacity": "spot"}
ZONE = "topology.kubernetes.io/zone"


def selected(manifest: dict[str, Any], label: str) -> set[str | None]:
    """The values of a label that pods with chips select; None: they do not select it."""
    pods = [template["spec"] for template in templates(manifest)]
    assert not any(label in pod.get("nodeSelector", {}) for pod in pods if "google.com/tpu" not in str(pod))
    return {pod["nodeSelector"].get(label) for pod in pods if "google.com/tpu" in str(pod)}


def required(manifest: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The expressions of the node affinity of each template of pods with chips."""
    pods = [template["spec"] for template in templates(manifest)]
    assert not any("affinity" in pod for pod in pods if "google.com/tpu" not in str(pod))
    found = [pod["affinity"]["nodeAffinity"] for pod in pods if "google.com/tpu" in str(pod)]
    terms = [own["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] for own in found]
    return [term["matchExpressions"] for (term,) in terms]


def flavors(*names: str) -> dict[str, Any]:
    return {"key": "tpuplane-flavor", "operator": "In", "values": [*names]}


def test_a_slice_has_the_names_of_cloud_tpu_in_both_cases() -> None:
    wanted = printed(GOOD)
    for name in ("V6E-4x4", "v6e-16", "V6E-16", "'v6e 4X4'"):
        assert printed(f"{GOOD} --slice {name}") == wanted
    batch = "--team product --image i --kind Job"
    assert printed(f"{batch} --slice v5e-4") == printed(f"{batch} --slice v5litepod-4")


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("-- ''", "-- COMMAND: is missing; write it at the end, such as: -- python train.py"),
        ("-- ' ' a", "-- COMMAND: is missing; write it at the end, such as: -- python train.py"),
        (
            f"-- python {'a' * 27}.py",
            f"--name: '{'a' * 27}' is not a valid name of a JobSet; allowed: 1 to 26 {LETTERS}; this name is from the "
            "command, and --name sets another",
        ),
    ],
)
def test_a_wrong_command_is_one_line(command: str, line: str) -> None:
    assert run(GOOD, command).stderr == f"{line}\n"


def test_the_entrypoint_of_ray_has_no_variables_of_kubernetes() -> None:
    ray = f"{GOOD} --kind RayJob --name train --env RUN=a"
    assert run(ray, "-- python 'a$(RUN)' '$$$(RUN)'").stderr == (
        "-- COMMAND: $(RUN) is not replaced in the command of a RayJob; read the variable in the program\n"
    )
    assert printed(ray, "-- python '$$(RUN)' '$(OTHER)' '$RUN'")
    assert printed(ray.replace("RayJob", "JobSet"), "-- python '$(RUN)'")


def test_kueue_chooses_a_flavor_for_each_slice_of_ray(tmp_path: Path) -> None:
    stack = changed(tmp_path, ("addons: {kueue: {},", "addons: {kueue: {}, leaderWorkerSet: {},"))
    options = "--team research --slice v6e-4x4 --image i --cluster central1"
    for kind in ("RayJob", "LeaderWorkerSet"):
        assert printed(f"{options} --slices 2 --kind {kind}", stack=stack)
        assert run(f"{options} --slices 3 --kind {kind}", stack=stack).stderr == (
            "--slices: 3 is too large; the flavors of the queue default have room for 2 slices; allowed: at most 2; "
            "for more, raise the team's quota, and if quotas cover all slices, add slices to a pool\n"
        )
        assert run(f"{options} --slices 2 --kind {kind} --capacity reservation", stack=stack).stderr.startswith(
            "--slices: requests 32 chips of v6e-4x4-reservation-r, but its queue can get 16 chips. Request at most 16 "
        )
    assert run(f"{options} --slices 2", stack=stack).stderr.startswith("--slices: requests 32 chips")
    many = run(f"{options} --slices 100000 --kind LeaderWorkerSet", stack=stack).stderr
    assert many.startswith("--slices: 100000 is too large; the flavors of the queue default have room for 2 "), many


def test_a_mistake_of_all_slices_of_ray_is_one_line() -> None:
    line = run(f"{GOOD} --kind RayJob --image 'a b'").stderr
    assert line.startswith("--image: 'a b' is not") and line.count("\n") == 1
    assert run(f"{GOOD} --kind RayJob --slices 3 --image 'a b'").stderr == line


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("4x4", "'4x4' is not a slice of a pool; allowed: v6e 4x4 (trainer)"),
        ("v6e-32", "'v6e-32' is not a slice of a pool; allowed: v6e 4x4 (trainer), v6e 4x4 (held), v6e 2x4 (serving)"),
        ("v6e-4*4", "'4*4' is not a v6e topology (write AxB, for example 16x16)"),
        ("v6e-4x", "'4x' is not a v6e topology (write AxB, for example 16x16)"),
        ("tpu7x-4y4", "'4y4' is not a tpu7x topology (write AxBxC"),
        ("v9-4x4", "'v9' is not a TPU generation"),
        ("A2-highgpu-1g", "'A2-highgpu-1g' has GPUs"),
    ],
)
def test_the_mistake_of_a_slice_names_its_wrong_part(name: str, start: str) -> None:
    assert run(f"{GOOD} --slice {name}").stderr.startswith(f"--slice: {start}")


def test_a_rayjob_needs_a_namespace_without_a_default_class(tmp_path: Path) -> None:
    spotty = "{clusters: [central1], defaultNamespaces: [research], priorities: [{nodepools: [held]}]}"
    held = "reservation: {name: r}}"
    stack = changed(
        tmp_path,
        ("    teams:\n", f"    classes: {{spotty: {spotty}}}\n    teams:\n"),
        (held, f"{held[:-1]}, computeClass: spotty}}"),
    )
    assert printed(GOOD, stack=stack)
    assert run(f"{GOOD} --kind RayJob", stack=stack).stderr == (
        "--namespace: 'research' is not a namespace whose pods can run on the system pool, as the head of a RayJob; "
        "allowed: ablations; its pods run only on nodes of its default class, spotty\n"
    )
    assert printed(f"{GOOD} --kind RayJob --namespace ablations", stack=stack)


def test_a_pool_whose_slices_cannot_be_joined_does_not_hide_another(tmp_path: Path) -> None:
    several = {**NEAR, "topology": "2x4", "machineType": "ct6e-standard-4t", "slices": 2}
    single = {**NEAR, "topology": "2x4", "machineType": "ct6e-standard-8t"}
    options = "--team research --image i --slice v6e-2x4 --slices 2"
    assert run(options, stack=lab(tmp_path, a=single)).stderr.startswith(
        "--slices: 2 slices of v6e 2x4 cannot be joined"
    )
    ours = printed(options, stack=lab(tmp_path, a=single, b=several))
    assert ours["spec"]["replicatedJobs"][0]["template"]["spec"]["completions"] == 2


@pytest.mark.parametrize("kind", ["JobSet", "RayJob"])
def test_a_request_for_queued_capacity_has_one_multi_host_slice(tmp_path: Path, kind: str) -> None:
    stack = lab(tmp_path, a={**AWAY, **QUEUED})
    options = "--team research --slice v6e-4x4 --image i --kind"
    assert run(f"{options} {kind} --slices 2", stack=stack).stderr == (
        "--slices: 2 slices of v6e-4x4-flex-start-queued are not supported: GKE serves the request of a job in one "
        "node pool, which is one slice; allowed: 1; submit one job for each slice, or use flex-start without queueing\n"
    )
    assert printed(f"{options} {kind}", stack=stack)
    assert printed(f"{options} LeaderWorkerSet --slices 2", stack=stack)


@pytest.mark.parametrize("kind", ["JobSet", "RayJob"])
def test_several_slices_do_not_run_on_the_queued_capacity_of_their_queue(tmp_path: Path, kind: str) -> None:
    stack = lab(tmp_path, a={**AWAY, **QUEUED}, b={**NEAR, "slices": 2})
    options = f"--team research --slice v6e-4x4 --image i --kind {kind}"
    assert selected(printed(f"{options} --slices 2", stack=stack), "tpuplane-flavor") == {"v6e-4x4"}
    assert selected(printed(options, stack=stack), "tpuplane-flavor") == {None}
    assert run(f"{options} --slices 2 --capacity flex-start", stack=stack).stderr.startswith("--slices: 2 slices of")


@pytest.mark.parametrize(
    ("kind", "slices", "rejected"),
    [
        ("RayJob", 2, False),  # Kueue chooses a flavor for each slice
        ("JobSet", 2, True),
        ("LeaderWorkerSet", 3, False),  # each group has its own request
    ],
)
def test_kueue_chooses_among_the_flavors_that_can_run_several_slices(
    tmp_path: Path, kind: str, slices: int, rejected: bool
) -> None:
    options = f"--team research --slice v6e-4x4 --image i --kind {kind}"
    stack = lab(tmp_path, a=NEAR, b=SPOT, c={**AWAY, **QUEUED})
    result = run(f"{options} --slices {slices}", stack=stack)
    assert result.stderr.startswith("--slices: requests 32 chips") == rejected
    if kind == "RayJob":
        assert required(yaml.safe_load(result.stdout)) == [[flavors("v6e-4x4", "v6e-4x4-spot")]] * 2
        assert run(f"{options} --slices 3", stack=stack).stderr.startswith("--slices: 3 is too large; the flavors of ")
    if kind == "LeaderWorkerSet":
        assert "tpuplane-flavor" not in result.stdout


def test_a_jobset_waits_for_no_capacity_of_its_queue_alone(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i --slices 2"
    two = {"slices": 2}
    stack = lab(tmp_path, a={**NEAR, **two}, b={**SPOT, **two}, c={**AWAY, **QUEUED})
    assert required(printed(options, stack=stack)) == [[flavors("v6e-4x4", "v6e-4x4-spot")]]
    assert selected(printed(f"{options} --capacity spot", stack=stack), "tpuplane-flavor") == {"v6e-4x4-spot"}


def test_a_capacity_excludes_autoscaled_flavors_whose_hosts_kueue_does_not_compare(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i --capacity spot --slices"
    stack = lab(tmp_path, a={**NEAR, "autoscaling": {"maxSlices": 4}}, b={**SPOT, "autoscaling": {"maxSlices": 1}})
    assert selected(printed(f"{options} 1", stack=stack), "tpuplane-flavor") == {"v6e-4x4-spot-elastic"}
    assert run(f"{options} 3", stack=stack).stderr.startswith("--slices: requests 48 chips")


def test_a_required_label_is_added_to_the_node_affinity_of_a_capacity() -> None:
    pod = {"affinity": affinity_without("cloud.google.com/reservation-name")}
    require(pod, "tpuplane-flavor", ["a", "b"])
    reserved = {"key": "cloud.google.com/reservation-name", "operator": "DoesNotExist"}
    terms = [{"matchExpressions": [reserved, flavors("a", "b")]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    assert pod == {"affinity": {"nodeAffinity": required}}


def test_the_message_of_a_team_without_chips_names_the_flavor_of_the_slice(tmp_path: Path) -> None:
    stack = changed(tmp_path, ("notebooks: {chips: 8}", "notebooks: {chips: 0, borrowingLimit: 0}"))
    assert run(f"{PRODUCT} --slice v6e-2x2", stack=stack).stderr == (
        "--slices: requests 4 chips of v6e-2x2, but its queue can get 0 chips. Raise the team's borrowing limit of "
        "v6e-2x2. Raise the team's quota of v6e-2x2 from 0 chips to 4 chips.\n"
    )


def test_a_file_system_selects_its_zone_if_the_hosts_have_several(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i --mount files-b=/data --kind"
    assert "kubernetes.io/zone" not in run(f"{options} JobSet", stack=lab(tmp_path, a=NEAR)).stdout
    for away in (AWAY, SPOT):  # in the same flavor, and in another that Kueue may choose
        stack = lab(tmp_path, a=NEAR, b=away)
        for kind in ("JobSet", "RayJob", "LeaderWorkerSet"):
            assert selected(printed(f"{options} {kind}", stack=stack), ZONE) == {"us-east5-b"}
            assert run(f"{options} {kind} --slices 2", stack=stack).stderr.startswith("--slices: ")
    assert run(f"{options} JobSet --slices 2", stack=lab(tmp_path, a=NEAR, b=AWAY)).stderr.startswith(
        "--slices: hosts have room for 4 of 8 pods"
    )
    assert printed("--team research --slice v6e-4x4 --image i --slices 2", stack=lab(tmp_path, a=NEAR, b=AWAY))


@pytest.mark.parametrize(
    ("near", "away", "flavor"),
    [(NEAR, {**AWAY, **QUEUED}, "v6e-4x4"), ({**NEAR, **ELASTIC}, {**SPOT, **ELASTIC}, "v6e-4x4-elastic")],
)
def test_a_file_system_selects_its_flavor_if_hosts_of_another_do_not_exist(
    tmp_path: Path, near: dict[str, Any], away: dict[str, Any], flavor: str
) -> None:
    options = "--team research --slice v6e-4x4 --image i --mount files-b=/data"
    job = printed(options, stack=lab(tmp_path, a=near, b=away))
    assert selected(job, ZONE) == {"us-east5-b"}
    assert selected(job, "tpuplane-flavor") == {flavor}
    job = printed(options, stack=lab(tmp_path, a=near, b={**away, "zone": "us-east5-b"}))
    assert selected(job, "tpuplane-flavor") == selected(job, ZONE) == {None}


def test_a_file_system_leaves_kueue_each_flavor_with_hosts_in_its_zone(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i --mount files-b=/data"
    near = {"a": {**NEAR, **ELASTIC}, "b": {**SPOT, **ELASTIC, "zone": "us-east5-b"}}
    stack = lab(tmp_path, **near, c={**AWAY, **ELASTIC, "capacity": "flex-start"})
    names = "v6e-4x4-elastic", "v6e-4x4-spot-elastic"
    for kind, slices in (("RayJob", 2), ("LeaderWorkerSet", 2), ("JobSet", 1)):
        job = printed(f"{options} --kind {kind} --slices {slices}", stack=stack)
        assert selected(job, ZONE) == {"us-east5-b"}
        assert {str(expressions) for expressions in required(job)} == {str([flavors(*names)])}
    assert run(f"{options} --kind RayJob --slices 5", stack=stack).stderr.startswith("--slices: 5 is too large; ")


def test_file_systems_of_two_zones_are_not_mounted_together(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i --mount files-b=/data --mount files-a=/more"
    assert run(options, stack=lab(tmp_path, a=NEAR, b=AWAY)).stderr == (
        "--mount: files-a and files-b are in different zones; mount only those of one zone\n"
    )


def test_the_default_memory_leaves_room_for_the_ram_disk_of_checkpoints(tmp_path: Path) -> None:
    disk = "        multiTierCheckpointing: {bucket: checkpoints, pools: {trainer: {ramDiskGb: 400}}}\n"
    line = "        addons: {kueue: {}, jobset: {}}\n"
    stack = changed(tmp_path, (line, line + disk))

    def memory(options: str) -> str:
        (pod,) = templates(printed(options, stack=stack))
        return str(pod["spec"]["containers"][0]["resources"]["limits"]["memory"])

    assert memory(f"{PRODUCT} --slice v6e-4x4") == "238Gi"  # 80% of the rest of the host's allocatable memory
    assert memory(f"{PRODUCT} --slice v6e-2x2") == "576Gi"


def test_the_default_memory_leaves_room_for_each_ram_disk_that_kueue_may_choose(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i"
    stack = lab(tmp_path, {"b": 500}, a=NEAR, b=SPOT)

    def memory(more: str) -> set[str]:
        pods = templates(printed(f"{options} {more}", stack=stack))
        resources = [pod["spec"]["containers"][0]["resources"] for pod in pods]
        return {own[kind]["memory"] for own in resources if "google.com/tpu" in own["limits"] for kind in own}

    for kind in ("JobSet", "RayJob", "LeaderWorkerSet"):
        assert memory(f"--kind {kind}") == {"158Gi"}
    assert memory("--capacity spot") == {"158Gi"}
    assert memory("--capacity on-demand") == memory("--mount files-b=/data") == {"576Gi"}


def test_a_ram_disk_without_room_for_pods_is_named(tmp_path: Path) -> None:
    options = "--team research --slice v6e-4x4 --image i"
    assert printed(options, stack=lab(tmp_path, {"b": 697}, b=SPOT))
    assert run(options, stack=lab(tmp_path, {"b": 698}, b=SPOT)).stderr == (
        "--slice: the RAM disk of its hosts leaves a pod less than 1 GB of memory; allowed: at most 697 GB; lower "
        "clusters.main.multiTierCheckpointing.pools.b.ramDiskGb\n"
    )


def test_more_quota_than_an_autoscaled_pool_has_needs_a_larger_pool(tmp_path: Path) -> None:
    stack = changed(tmp_path, ("serving: {slices: 1, borrowingLimit: 1}", "serving: {slices: 4}"))
    multi = ("machineType: ct6e-standard-8t\n", "machineType: ct6e-standard-4t\n")
    stack.write_text(stack.read_text().replace(*multi))
    assert run("--team research --image i --slice v6e-2x4 --slices 5", stack=stack).stderr == (
        "--slices: requests 40 chips of v6e-2x4-elastic, but its queue can get 32 chips. Request at most 32 chips of "
        "v6e-2x4-elastic. Raise maxSlices of the pool serving by 1.\n"
    )
    stack.write_text(stack.read_text().replace("serving: {slices: 4}", "serving: {slices: 4, borrowingLimit: 0}"))
    assert run("--team research --image i --slice v6e-2x4 --slices 5", stack=stack).stderr.endswith(
        "Raise the team's quota of v6e-2x4-elastic from 32 chips to 40 chips, and raise maxSlices of the pool serving "
        "by 1.\n"
    )
    text = "serving: {slices: 4, borrowingLimit: 0}"
    stack.write_text(stack.read_text().replace(text, "serving: {slices: 1, borrowingLimit: 1}"))
    # The cohort lends three slices, of which the team may borrow one.
    assert run("--team research --image i --slice v6e-2x4 --slices 3", stack=stack).stderr.endswith(
        "Raise the team's quota of v6e-2x4-elastic from 8 chips to 16 chips.\n"
    )
