"""`tpuplane job`: the printed manifest, the chosen cluster and queue, and one line for each job that cannot run."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.workloads import MultisliceSpec, RayJobSpec, multislice_manifest, ray_job_manifest
from typer.testing import CliRunner

from tests.support.job_command import GOOD, LETTERS, PRODUCT, STACK, changed, printed, run, templates
from tests.support.spec.rule_table import ROWS, described

pytestmark = pytest.mark.unit

V6E = {"generation": "v6e", "topology": "4x4", "image": "i"}
OTHER = {"nodesCidr": "10.0.64.0/20", "podsCidr": "10.80.0.0/14", "servicesCidr": "10.32.64.0/20"}
POOLS = "v6e 4x4 (trainer), v6e 4x4 (held), v6e 2x4 (serving), v6e 4x4 (spare)"  # in which the team has quota
GPUS = "use gpuWorkers of a Ray component, or a manifest of your own (docs/workloads.md)"
ASCII = "printable ASCII characters except ="
IMAGES = "REPOSITORY:TAG or REPOSITORY@DIGEST, such as us-docker.pkg.dev/acme/images/trainer:v1"


def test_a_jobset_is_what_the_component_makes() -> None:
    spec = MultisliceSpec.model_validate(
        {
            **V6E,
            "namespace": "ablations",
            "slices": 2,
            "queue": "default",
            "priorityClass": "high",
            "command": ["python", "train.py", "--steps", "3"],
            "maxRestarts": 1,
            "keepSeconds": 86400,
            "deadlineSeconds": 7200,
            "env": {"A": "b=c"},
            "capacity": "on-demand",
        }
    )
    options = "--namespace ablations --priority high --restarts 1 --ttl 1d --timeout 2h --env A=b=c --num-slices 2"
    capacity = "--capacity on-demand --name run-1"
    product = "--team product --slice v6e-16 --image i"
    ours = printed(
        f"{product} {options} {capacity}".replace("--namespace ablations", ""), "-- python train.py --steps 3"
    )
    wanted = multislice_manifest("run-1", spec.model_copy(update={"namespace": "product"}))
    assert ours == wanted
    (job,) = ours["spec"]["replicatedJobs"]
    assert job["template"]["spec"]["activeDeadlineSeconds"] == 7200
    assert ours["spec"]["failurePolicy"]["rules"][1] == {
        "name": "timeLimit",
        "action": "FailJobSet",
        "onJobFailureReasons": ["DeadlineExceeded"],
    }


def test_a_rayjob_is_what_the_component_makes_with_a_group_for_each_slice() -> None:
    stack = STACK.parents[3] / "stacks" / "Pulumi.local.yaml"
    ours = printed("--team research --slice v6e-4x4 --image i --kind RayJob --slices 2 --timeout 1h", stack=stack)
    workers = {"slice-0": V6E, "slice-1": V6E}
    cluster = {"namespace": "research", "queue": "default", "workers": workers}
    spec = {"cluster": cluster, "entrypoint": "python train.py", "deadlineSeconds": 3600}
    groups = ours["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    metadata = [group["template"].pop("metadata") for group in groups]
    required = {"kueue.x-k8s.io/podset-required-topology": "cloud.google.com/gke-nodepool"}
    assert metadata == [{"annotations": required}] * 2
    assert ours == ray_job_manifest("train", RayJobSpec.model_validate(spec))


def test_a_job_has_one_host_and_maintenance_is_no_failure() -> None:
    ours = printed(f"{PRODUCT} --slice v6e-2x2 --kind Job --timeout 5m --ttl 60s --service-account runner")
    spec = ours["spec"]
    assert (spec["completions"], spec["backoffLimit"]) == (1, 3)
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (300, 60)
    assert spec["podFailurePolicy"]["rules"][0]["action"] == "Ignore"
    assert spec["template"]["spec"]["serviceAccountName"] == "runner"
    assert spec["template"]["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] == "4"


def test_only_the_named_exit_codes_restart_a_job() -> None:
    options = f"{PRODUCT} --restart-on-exit-codes 137,42,137 --grace-period 2m"
    jobset = printed(f"{options} --slice v6e-4x4")["spec"]
    job = printed(f"{options} --slice v6e-2x2 --kind Job")["spec"]
    for spec in (job, jobset["replicatedJobs"][0]["template"]["spec"]):
        disrupted, other = spec["podFailurePolicy"]["rules"]
        assert "onPodConditions" in disrupted
        on = {"containerName": "main", "operator": "NotIn", "values": [42, 137]}
        assert other == {"action": "FailJob", "onExitCodes": on}
        assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 120
    assert [(rule["action"], "onJobFailureMessagePatterns" in rule) for rule in jobset["failurePolicy"]["rules"]] == [
        ("FailJobSet", True),
        ("RestartJobSetAndIgnoreMaxRestarts", False),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--restart-on-exit-codes 1;2", "'1;2' is not allowed; allowed: exit codes from 1 to 255, such as 42,137"),
        ("--restart-on-exit-codes 0", "0 is too small; allowed: 1 to 255"),
        ("--kind RayJob --restart-on-exit-codes 1", "KubeRay reads no exit code; remove it, or choose the kind"),
    ],
)
def test_a_wrong_exit_code_is_a_mistake(options: str, message: str) -> None:
    result = run(f"{GOOD} {options}".replace("1;2", "'1;2'"))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"--restart-on-exit-codes: {message}"), result.stderr


@pytest.mark.parametrize("text", ["1e-4", "12E5", "1_0e3", ".5e3", "0o17", "0x1F", "-0b1", "y", "N", "NO", "1.30", "~"])
def test_a_text_that_kubectl_reads_as_another_value_has_quotes(text: str) -> None:
    stdout = run(f"{GOOD} --env 'A={text}'", f"-- python train.py --lr '{text}'").stdout
    assert f"value: '{text}'\n" in stdout
    assert f"- '{text}'\n" in stdout
    assert "value: a-1.5e3\n" in run(f"{GOOD} --env A=a-1.5e3").stdout


@pytest.mark.parametrize("kind", ["JobSet", "RayJob", "LeaderWorkerSet"])
def test_buckets_of_the_team_are_mounted_with_the_sidecar_of_gke(serving: Path, kind: str) -> None:
    options = "--team research --slice v6e-4x4 --image i --mount corpus=/data --mount checkpoints=/out"
    pods = list(templates(printed(f"{options} --kind {kind}", stack=serving)))
    assert pods
    for pod in pods:
        assert pod["metadata"]["annotations"]["gke-gcsfuse/volumes"] == "true"
        claims = {
            each["name"]: each["persistentVolumeClaim"]["claimName"]
            for each in pod["spec"]["volumes"]
            if "persistentVolumeClaim" in each
        }
        mounts = {each["mountPath"]: claims.get(each["name"]) for each in pod["spec"]["containers"][0]["volumeMounts"]}
        assert (mounts["/data"], mounts["/out"]) == ("corpus", "checkpoints")


@pytest.mark.parametrize("kind", ["JobSet", "RayJob", "LeaderWorkerSet"])
def test_a_file_system_is_mounted_in_its_zone(serving: Path, kind: str) -> None:
    options = f"--team research --slice v6e-4x4 --image i --kind {kind} --mount files=/data"
    pods = list(templates(printed(options, stack=serving)))
    assert pods
    for pod in pods:
        assert {"persistentVolumeClaim": {"claimName": "files"}}.items() <= pod["spec"]["volumes"][-1].items()
        assert "gke-gcsfuse/volumes" not in pod.get("metadata", {}).get("annotations", {})
    buckets_too = templates(printed(f"{options} --mount corpus=/corpus", stack=serving))
    assert {pod["metadata"]["annotations"]["gke-gcsfuse/volumes"] for pod in buckets_too} == {"true"}
    east = run(f"{GOOD} --cluster east5 --mount files=/data")
    assert east.exit_code == 1
    assert "'files' is not a bucket, file system or disk that research can mount here" in east.stderr


@pytest.mark.parametrize("kind", ["JobSet", "RayJob", "LeaderWorkerSet"])
def test_each_pod_with_chips_has_a_disk_of_its_own(serving: Path, kind: str) -> None:
    disks = "{cache: {type: hyperdisk-balanced, sizeGib: 500}, old: {type: pd-balanced, sizeGib: 10}}"
    text = serving.read_text()
    serving.write_text(text.replace("      lustre:\n", f"      disks: {disks}\n      lustre:\n"))
    options = f"--team research --slice v6e-4x4 --image i --cluster central1 --kind {kind}"
    pods = list(templates(printed(f"{options} --mount cache=/cache", stack=serving)))
    assert pods
    for pod in pods:
        (container,) = pod["spec"]["containers"]
        has_chips = "google.com/tpu" in container["resources"].get("limits", {})
        disk = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "cache",
            "resources": {"requests": {"storage": "500Gi"}},
        }
        made = [each for each in pod["spec"].get("volumes", ()) if "ephemeral" in each]
        assert [each["ephemeral"]["volumeClaimTemplate"]["spec"] for each in made] == [disk] * has_chips
        mounts = {each["mountPath"] for each in container.get("volumeMounts", ())}
        assert ("/cache" in mounts) == has_chips
        assert "persistentVolumeClaim" not in str(pod)
    old = run(f"{options} --mount old=/cache", stack=serving)
    assert old.exit_code == 1
    assert (
        "--mount: 'old' is not a bucket, file system or disk that research can mount here; allowed: corpus, "
        "checkpoints, files, cache; hosts of v6e 4x4 support disks of the type hyperdisk-balanced"
    ) in " ".join(old.stderr.split())
    text = serving.read_text()
    serving.write_text(text.replace("gcsFuse: true", "gcsFuse: true, persistentDisk: false"))
    without = run(f"{options} --mount cache=/cache", stack=serving)
    assert "allowed: corpus, checkpoints, files; or set storage.persistentDisk: true in the cluster" in " ".join(
        without.stderr.split()
    )
    serving.write_text(text)
    guests = "    teams:\n      guests: {clusters: {central1: {cpu: {cores: 1}}}}\n"
    serving.write_text(serving.read_text().replace("    teams:\n", guests, 1))
    guest = run("--team guests --slice v6e-4x4 --image i --mount old=/cache", stack=serving)
    assert (guest.exit_code, guest.stderr.partition(" is not ")[0]) == (1, "--slice: 'v6e 4x4'")


@pytest.fixture
def serving(tmp_path: Path) -> Path:
    """The platform with LeaderWorkerSet."""
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(STACK.read_text().replace("addons: {kueue: {},", "addons: {kueue: {}, leaderWorkerSet: {},"))
    return stack


def test_a_leader_worker_set_has_a_group_for_each_slice(serving: Path) -> None:
    ours = printed("--team research --slice v6e-4x4 --image i --kind LeaderWorkerSet --cluster central1", stack=serving)
    group = ours["spec"]["leaderWorkerTemplate"]
    assert (ours["spec"]["replicas"], group["size"]) == (1, 4)
    pods = group["workerTemplate"]
    assert pods["metadata"]["annotations"] == {
        "kueue.x-k8s.io/podset-required-topology": "cloud.google.com/gke-nodepool"
    }
    assert pods["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] == "4"
    assert ours["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    several = printed(f"{PRODUCT} --slice v6e-2x2 --kind LeaderWorkerSet --slices 2", stack=serving)
    assert (several["spec"]["replicas"], several["spec"]["leaderWorkerTemplate"]["size"]) == (2, 1)
    too_many = run(f"{PRODUCT} --slice v6e-2x2 --kind LeaderWorkerSet --slices 3", stack=serving)
    assert (too_many.exit_code, too_many.stderr.partition(": ")[0]) == (1, "--slices")
    endless = run(f"{PRODUCT} --slice v6e-2x2 --kind LeaderWorkerSet --timeout 1h", stack=serving)
    assert endless.stderr == (
        "--timeout: a LeaderWorkerSet runs until it is deleted, and restarts without limit; remove it\n"
    )


def test_an_autoscaled_pool_has_its_own_queue_and_its_machine_type() -> None:
    ours = printed("--team research --slice v6e-2x4 --image i")
    assert ours["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default-elastic"
    (job,) = ours["spec"]["replicatedJobs"]
    pod = job["template"]["spec"]["template"]
    assert pod["metadata"] == {}
    assert pod["spec"]["nodeSelector"]["node.kubernetes.io/instance-type"] == "ct6e-standard-8t"


def test_a_capacity_selects_its_hosts() -> None:
    ours = printed(f"{GOOD} --capacity reservation")
    (job,) = ours["spec"]["replicatedJobs"]
    selector = job["template"]["spec"]["template"]["spec"]["nodeSelector"]
    assert selector["cloud.google.com/reservation-name"] == "r"


def test_the_same_call_prints_the_same_and_json_is_the_same_object() -> None:
    first, second, as_json = run(GOOD), run(GOOD), run(f"{GOOD} --json")
    assert first.stdout == second.stdout
    assert json.loads(as_json.stdout) == yaml.safe_load(first.stdout)
    assert "&" not in first.stdout, "an alias"
    assert first.stderr == (
        "for lab-central1: kubectl --context gke_tpuplane-lab_us-central1_lab-central1 apply -f -\n"
    )


def test_the_only_cluster_that_fits_is_chosen(tmp_path: Path) -> None:
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(STACK.read_text().replace("spare: {slices: 1}", "spare: {slices: 0, borrowingLimit: 0}"))
    assert "for lab-central1: " in run(GOOD.replace(" --cluster central1", ""), stack=stack).stderr


@pytest.mark.parametrize("kind", ["JobSet", "RayJob"])
def test_the_program_gets_its_environment_and_its_words_as_they_are_written(kind: str) -> None:
    options = f"{GOOD} --kind {kind} --env 'PASS=a$$b' --env 'ALL=$(PASS)'"
    ours = printed(options, "-- python -c 'print($$)'")
    for pod in templates(ours):
        variables = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
        assert (variables["PASS"], variables["ALL"]) == ("a$$$$b", "$(PASS)")
    assert "print($$$$)" in json.dumps(ours)


@pytest.mark.parametrize("kind", ["JobSet", "RayJob"])
def test_a_restricted_namespace_accepts_all_pods(tmp_path: Path, kind: str) -> None:
    stack = changed(tmp_path, ("namespaces: [research", "podSecurity: restricted\n        namespaces: [research"))
    ours = printed(f"{GOOD} --kind {kind}", stack=stack)
    pods = list(templates(ours))
    assert len(pods) == {"JobSet": 1, "RayJob": 3}[kind]
    for pod in pods:
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        (container,) = pod["spec"]["containers"]
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_pods_of_a_namespace_with_a_default_class_run_only_on_its_pools(tmp_path: Path) -> None:
    spotty = "{clusters: [central1], defaultNamespaces: [research], priorities: [{nodepools: [unowned]}]}"
    classes = f"    classes: {{spotty: {spotty}}}\n"
    stack = changed(tmp_path, ("    teams:\n", f"{classes}    teams:\n"))
    result = run(GOOD, stack=stack)
    assert result.stderr == (
        "--namespace: 'research' is not a namespace whose pods can run on the hosts of v6e 4x4; allowed: ablations; "
        "its pods run only on nodes of its default class, spotty\n"
    )
    assert printed(f"{GOOD} --namespace ablations", stack=stack)


def test_an_installed_operator_that_kueue_ignores_needs_an_integration(tmp_path: Path) -> None:
    stack = changed(tmp_path, ("{kueue: {}, jobset: {}}", "{kueue: {integrations: [batch/job]}, jobset: {}}"))
    assert run(GOOD, stack=stack).stderr == (
        "--kind: 'JobSet' is not a kind of job for v6e 4x4 in central1; none exists; add "
        "jobset.x-k8s.io/jobset to addons.kueue.integrations\n"
    )


def test_the_advice_is_of_the_flavor_that_gives_most(tmp_path: Path) -> None:
    stack = changed(
        tmp_path,
        ("held: {slices: 1}", "held: {slices: 2}"),
        ("lendingLimit: 0", "lendingLimit: 1"),
        ("chips: 16}", "chips: 32}"),
        ("reservation: {name: r}}", "reservation: {name: r}, slices: 2}"),
        ("trainer: {slices: 1}, held", "trainer: {slices: 1, borrowingLimit: 0}, held"),
    )
    assert "Request at most 32 chips of v6e-4x4-reservation-r." in run(f"{GOOD} --slices 3", stack=stack).stderr


@pytest.mark.parametrize(
    ("command", "name"),
    [("-- python Train_2.py", "train-2"), ("-- ./run.sh train.py", "run"), ("-- /bin/Maxtext x", "maxtext")],
)
def test_a_job_has_the_name_of_its_program(command: str, name: str) -> None:
    assert printed(GOOD, command)["metadata"]["name"] == name


def test_multikueue_accepts_the_job_in_the_manager(tmp_path: Path) -> None:
    (right,) = [row["right"] for row in ROWS if row["rule"] == "multi-kueue-needs-kueue"]
    quota = {"pools": {"trainer": {"slices": 1}}}
    values = described(right, {"platform": {"teams": {"research": {"clusters": {"main": quota}}}}})
    values["clusters"]["main"]["addons"]["jobset"] = values["clusters"]["hub"]["addons"]["jobset"] = {}
    shape = values["clusters"]["main"]["pools"]["trainer"]
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    result = run(f"--team research --image i --slice {shape['generation']}-{shape['topology']}", stack=stack)
    assert (result.exit_code, result.stderr.partition(": ")[0].rpartition("-")[2]) == (0, "hub"), result.stderr


def spanning() -> dict[str, Any]:
    """A platform whose manager sends jobs to two equal clusters."""
    (right,) = [row["right"] for row in ROWS if row["rule"] == "multi-kueue-needs-kueue"]
    values = described(right)
    clusters = values["clusters"]
    values["queues"]["multiKueue"]["workers"] = ["main", "other"]
    clusters["other"] = copy.deepcopy(clusters["main"]) | {"network": OTHER}
    for cluster in clusters.values():
        cluster["addons"]["jobset"] = {}
    quota = {"pools": {"trainer": {"slices": 1}}}
    values["teams"] = {"research": {"clusters": {"main": quota, "other": quota}}}
    return dict(values)


def test_each_cluster_of_a_manager_can_mount_the_volume(tmp_path: Path) -> None:
    values = spanning()
    clusters = values["clusters"]
    clusters["main"]["storage"] = {"gcsFuse": True}
    values["storage"] = {"buckets": {"corpus": {"purpose": "data", "location": "us-central1", "readers": ["research"]}}}
    arguments = "--team research --image i --slice v6e-4x4 --mount corpus=/data"
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    text = "clusters.other, to which the manager can send the job, has no corpus\n"
    assert run(arguments, stack=stack).stderr.endswith(text)
    clusters["other"]["storage"] = {"gcsFuse": True}
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    assert printed(arguments, stack=stack)


@pytest.mark.parametrize("worker", ["main", "other"])
def test_the_ram_disks_of_each_cluster_of_a_manager_have_room(tmp_path: Path, worker: str) -> None:
    values = spanning()
    location = values["clusters"][worker]["location"]
    values["storage"] = {"buckets": {"saved": {"purpose": "checkpoints", "location": location}}}
    disks = {"bucket": "saved", "pools": {"trainer": {"ramDiskGb": 600}}}
    values["clusters"][worker] |= {"storage": {"gcsFuse": True}, "multiTierCheckpointing": disks}
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    arguments = "--team research --image i --slice v6e-4x4"
    assert "memory: 78Gi" in run(arguments, stack=stack).stdout
    disks["pools"] = {"trainer": {"ramDiskGb": 698}}
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    remedy = f"lower clusters.{worker}.multiTierCheckpointing.pools.trainer.ramDiskGb\n"
    assert run(arguments, stack=stack).stderr.endswith(remedy)


def test_several_slices_get_no_queued_capacity_of_another_cluster_of_the_manager(tmp_path: Path) -> None:
    values = spanning()
    values["clusters"]["main"]["pools"]["trainer"]["slices"] = 2
    queued = {"capacity": "flex-start", "flexStart": {"queued": True}, "autoscaling": {"maxSlices": 2}}
    values["clusters"]["other"] |= {"location": "us-east5-b"}
    values["clusters"]["other"]["pools"]["trainer"] |= {"zone": "us-east5-b", **queued}
    values["teams"]["research"]["clusters"]["main"] = {"pools": {"trainer": {"slices": 2}}}
    stack = tmp_path / "Pulumi.x.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": values}}))
    arguments = "--team research --image i --slice v6e-4x4 --slices"
    assert "tpuplane-flavor: v6e-4x4\n" in run(f"{arguments} 2", stack=stack).stdout
    assert "tpuplane-flavor" not in run(f"{arguments} 1", stack=stack).stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--slice v6e-4x4 --image i", "--team: is missing; allowed: research, product"),
        ("--team research --image i", f"--slice: is missing; allowed: {POOLS}"),
        ("--team research --slice v6e-4x4", "--image: is missing; name the container image of the program"),
        (f"{GOOD} --team rsearch", "--team: 'rsearch' is not a team; allowed: research, product; nearest: research"),
        *(
            (f"{GOOD} --slice {name}", f"--slice: '{name}' has GPUs, and this command prints only jobs on TPUs; {GPUS}")
            for name in ("nvidia-l4", "g2-standard-12")
        ),
        (f"{GOOD} --slice v6e-16x16", f"--slice: 'v6e-16x16' is not a slice of a pool; allowed: {POOLS}"),
        (
            f"{GOOD} --slice v6e-4x5",
            "--slice: '4x5' is not a v6e topology; allowed: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16; "
            "nearest: 4x4, 4x8",
        ),
        (f"{GOOD} --slice v6e", f"--slice: 'v6e' is not a slice of a pool; allowed: {POOLS}"),
        (f"{GOOD} --slice v6e-", f"--slice: 'v6e-' is not a slice of a pool; allowed: {POOLS}"),
        (f"{GOOD} --slice v6e-2x4-8t", f"--slice: 'v6e-2x4-8t' is not a slice of a pool; allowed: {POOLS}"),
        (
            f"{GOOD} --slice 'v6e 8x8'",
            "--slice: 'v6e 8x8' is not a slice for which research has quota; allowed: v6e 4x4, v6e 2x4",
        ),
        (
            f"{GOOD} --cluster west4",
            "--cluster: 'west4' is not a cluster with v6e 4x4 for research; allowed: central1, east5; nearest: east5",
        ),
        ("--team research --slice v6e-4x4 --image i", "--cluster: is missing; these can run the job: central1, east5"),
        (
            f"{GOOD} --capacity spot",
            "--capacity: 'spot' is not a capacity of v6e 4x4 for research; allowed: reservation, on-demand",
        ),
        (f"{GOOD} --priority urgent", "--priority: 'urgent' is not a priority; allowed: idle, low, normal, high"),
        (f"{GOOD} --kind ''", "--kind: '' is not a kind of job; allowed: JobSet, Job, RayJob, LeaderWorkerSet"),
        (f"{GOOD} --namespace ''", "--namespace: '' is not a namespace of the team; allowed: research, ablations"),
        (f"{GOOD} --priority ''", "--priority: '' is not a priority; allowed: idle, low, normal, high"),
        (f"{GOOD} --name ''", f"--name: '' is not a valid name of a JobSet; allowed: 1 to 26 {LETTERS}"),
        (f"{GOOD} --image 'a b'", f"--image: 'a b' is not a container image; allowed: {IMAGES}"),
        (f"{GOOD} --kind RayJob --image a:", f"--image: 'a:' is not a container image; allowed: {IMAGES}"),
        (f"{GOOD} --env A=1 --env A=2", "--env: 'A' is given twice; remove one"),
        (
            f"{GOOD} --service-account A_b",
            "--service-account: 'A_b' is not a valid name of a Kubernetes object; allowed: 1 to 253 lower-case "
            "letters, digits, '-' and '.', each part between dots starting and ending with a letter or digit",
        ),
        (f"{GOOD} --kind Pod", "--kind: 'Pod' is not a kind of job; allowed: JobSet, Job, RayJob, LeaderWorkerSet"),
        (
            f"{GOOD} --kind Job",
            "--kind: 'Job' is not a kind of job for v6e 4x4 in central1; allowed: JobSet, RayJob; "
            "a Job runs on one host",
        ),
        (
            f"{GOOD} --cluster east5 --kind RayJob",
            "--kind: 'RayJob' is not a kind of job for v6e 4x4 in east5; allowed: JobSet; or "
            "set addons.ray.mode to gke-addon or operator in the cluster",
        ),
        (
            f"{PRODUCT} --slice v5e-2x2",
            "--kind: 'JobSet' is not a kind of job for v5e 2x2 in a cluster; allowed: Job; or add jobset to "
            "addons in the cluster",
        ),
        (
            f"{GOOD} --namespace other",
            "--namespace: 'other' is not a namespace of the team; allowed: research, ablations",
        ),
        (f"{GOOD} --name A_b", f"--name: 'A_b' is not a valid name of a JobSet; allowed: 1 to 26 {LETTERS}"),
        (
            f"{PRODUCT} --slice v6e-2x2 --slices 2",
            "--slices: 2 slices of v6e 2x2 cannot be joined; allowed: 1, or a multi-host topology of a generation with "
            "multislice",
        ),
        (
            f"{PRODUCT} --slice v6e-4x4 --slices 3",
            "--slices: requests 48 chips of v6e-4x4, but its queue can get 32 chips. Request at most 32 chips "
            "of v6e-4x4. Add 1 slice of v6e 4x4 to the pool trainer.",
        ),
        (
            f"{GOOD} --cluster east5 --slices 2",
            "--slices: requests 32 chips of v6e-4x4, but its queue can get 16 chips. Request at most 16 chips "
            "of v6e-4x4. Add 1 slice of v6e 4x4 to the pool spare.",
        ),
        (
            f"{GOOD} --capacity on-demand --slices 2",
            "--slices: requests 32 chips of v6e-4x4, but its queue can get 16 chips. Request at most 16 chips of "
            "v6e-4x4. Raise the lending limits of the other teams for v6e-4x4. Add 1 slice of v6e 4x4 to the pool "
            "trainer.",
        ),
        (f"{GOOD} --kind RayJob --slices 9", "--slices: 9 is too large; allowed: at most 8 for a RayJob"),
        (
            f"{GOOD} --kind RayJob --mount corpus=/tmp/tpu_logs",
            "--mount: the pods have another volume in this folder; choose another",
        ),
        (
            f"{GOOD} --timeout 2w",
            "--timeout: '2w' is not allowed; allowed: a number with a unit, such as 90s, 30m, 2h or 7d",
        ),
        (f"{GOOD} --timeout 0s", "--timeout: 0 is too small; allowed: 1 to 2147483647"),
        (f"{GOOD} --ttl 5", "--ttl: '5' is not allowed; allowed: a number with a unit, such as 90s, 30m, 2h or 7d"),
        (
            f"{GOOD} --mount prompts=/data",
            "--mount: 'prompts' is not a bucket, file system or disk that research can mount here; allowed: corpus, "
            "checkpoints, files; or add the team to its readers or writers, and the driver to storage of the cluster",
        ),
        (
            f"{GOOD} --cluster east5 --mount corpus=/data",
            "--mount: 'corpus' is not a bucket, file system or disk that research can mount here; none exists; add "
            "the team to its readers or writers, and the driver to storage of the cluster",
        ),
        (f"{GOOD} --mount corpus", "--mount: 'corpus' is not allowed; allowed: NAME=/PATH"),
        (
            f"{GOOD} --mount corpus=data",
            "--mount: 'data' is not a folder; allowed: an absolute path without ':' and '..', such as /data",
        ),
        (
            f"{GOOD} --mount corpus=/data --mount checkpoints=/data",
            "--mount: /data has 2 volumes; give each its own folder",
        ),
        (f"{GOOD} --env A", "--env: 'A' is not allowed; allowed: NAME=VALUE"),
        (
            f"{GOOD} --env Ä=1",
            f"--env: 'Ä' (\"Ä\" is U+00C4) is not the name of an environment variable; allowed: {ASCII}",
        ),
        (f"{GOOD} --env =1", f"--env: '' is not the name of an environment variable; allowed: {ASCII}"),
        (f"{GOOD} --grace-period 999999999m", "--grace-period: 59999999940 is too large; allowed: 0 to 2147483647"),
    ],
)
def test_what_the_platform_cannot_run_is_one_line(arguments: str, line: str) -> None:
    result = run(arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"{line}\n")
    as_json = json.loads(run(f"{arguments} --json").stdout)
    (mistake,) = as_json["mistakes"]
    assert f"{mistake['path']}: {mistake['message']}" == line


def test_every_missing_option_is_reported_at_once() -> None:
    result = run("", "")
    assert [line.partition(": is missing")[0] for line in result.stderr.splitlines()] == [
        "-- COMMAND",
        "--image",
        "--slice",
        "--team",
    ]


def test_the_only_stack_file_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["job", *GOOD.split(), "--", "train"]
    none = CliRunner().invoke(app, call)
    assert (none.exit_code, none.stderr) == (
        2,
        "--stack: is required, unless stacks/ has exactly one stack file; stack files in stacks/: none\n",
    )
    for name in ("one", "two"):
        (tmp_path / "stacks").mkdir(exist_ok=True)
        (tmp_path / "stacks" / f"Pulumi.{name}.yaml").write_text(STACK.read_text())
        result = CliRunner().invoke(app, call)
        assert result.exit_code == (0 if name == "one" else 2)
    listed = "stacks/Pulumi.one.yaml, stacks/Pulumi.two.yaml"
    assert (
        result.stderr
        == f"--stack: is required, unless stacks/ has exactly one stack file; stack files in stacks/: {listed}\n"
    )
