"""What no slice can run, or no operator takes, is rejected before anything is made, in words of the description."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.tpu import Slice
from tpuplane.workloads import RayClusterSpec, RayJobSpec, RayServiceSpec, multislice_manifest

from tests.support.workload_specs import SHAPES, V6E, cluster, multislice

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topology": "4x5"}, "'4x5' is not a v6e topology"),
        ({"topology": "2x2"}, "2 slices of v6e 2x2 cannot be joined"),
        ({"cpu": 180}, "180 .*; allowed: less than the 180 of ct6e-standard-4t"),
        ({"capacity": "reservation"}, "reservation: required with capacity: reservation"),
        ({"capacity": "reservation", "reservation": ""}, "reservation\n.*at least 1 character"),
        ({"command": [""]}, "command: '' is not a command; allowed: a program and its arguments"),
        ({"env": {"A=B": "1"}}, "'A=B' is not the name of an environment variable; allowed: printable ASCII"),
        ({"env": {"": "1"}}, "'' is not the name of an environment variable"),
        ({"image": "a:"}, "'a:' is not a container image"),
        ({"namespace": "kube-system"}, "'kube-system' is not a namespace for workloads; .* not beginning with kube-"),
        ({"setMegascale": True, "env": {"TPU_WORKER_ID": "0"}}, "env.TPU_WORKER_ID: setMegascale"),
        ({"capacity": "spot", "computeClass": "cheap"}, "capacity: not allowed with computeClass"),
        *(
            (
                {"topology": "4x4", "subSliceOf": "8x8", "placement": placement},
                f"placement: '{placement}' cannot be combined with subSliceOf; allowed: topology",
            )
            for placement in ("dynamic", "exclusive")
        ),
        ({"placement": "dynamic"}, "placement: v6e has no dynamic slices; allowed: topology, exclusive"),
        (
            {"placement": "dynamic", "generation": "tpu7x", "topology": "1x1x1", "slices": 1},
            "topology: '1x1x1' is not a part of a cube; allowed: 4x4x4, 2x4x4, 2x2x4, 2x2x2, 2x2x1, or any AxBxC of",
        ),
    ],
)
def test_what_no_slice_can_run_is_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        multislice(**changes)


@pytest.mark.parametrize(
    "image",
    [
        "python:3.11",
        "gcr.io/a/b__c.d-e--f:V1_2.3",
        "localhost:5000/a",
        "[::1]:5000/a",
        "Registry.Example.com/a",
        f"a:1@sha256:{'a' * 64}",
        f"a@sha512:{'0' * 128}",
    ],
)
def test_images_have_the_names_that_runtimes_read(image: str) -> None:
    assert multislice(image=image).image == image


def test_work_without_a_team_can_be_in_the_namespace_default() -> None:
    assert multislice(namespace="default").namespace == "default"
    assert RayClusterSpec.model_validate(cluster(namespace="default"))


@pytest.mark.parametrize("value", [None, [1], "x", 5])
def test_a_description_that_is_not_a_mapping_is_one_mistake(value: object) -> None:
    with pytest.raises(ValidationError) as rejected:
        RayServiceSpec.model_validate(value)
    (mistake,) = mistakes_of(rejected.value, RayServiceSpec)
    assert mistake.path == ()
    assert mistake.message.endswith(" is not a mapping of fields; allowed: cluster, serveConfig")


def test_an_entrypoint_has_a_program() -> None:
    with pytest.raises(ValidationError, match="'  ' is not a command"):
        RayJobSpec.model_validate({"cluster": cluster(), "entrypoint": "  "})


@pytest.mark.parametrize("topology", ["2x2x1", "2x4x4", "4x4x4", "4x4x12"])
def test_parts_of_a_cube_and_whole_cubes_are_dynamic_slices(topology: str) -> None:
    assert multislice(placement="dynamic", generation="tpu7x", topology=topology, slices=1).placement == "dynamic"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: b\nc: [b", "not YAML: .* in line 2"),
        ("a: \0", "not YAML: a character that YAML does not allow"),
        ("- a", "not a YAML mapping"),
        ("a", "not a YAML mapping"),
        (" ", "not a YAML mapping"),
        ("", "not a YAML mapping"),
    ],
)
def test_what_ray_cannot_read_is_rejected(text: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        RayJobSpec.model_validate({"cluster": cluster(), "entrypoint": "python train.py", "runtimeEnv": text})
    with pytest.raises(ValidationError, match=said):
        RayServiceSpec.model_validate({"cluster": cluster(), "serveConfig": text})


def groups(number: int, *names: str) -> dict[str, Any]:
    """Worker groups: so many, and these."""
    return dict.fromkeys((*(f"g{index}" for index in range(number)), *names), V6E)


@pytest.mark.parametrize(
    ("workers", "of_cluster", "of_job"),
    [
        (groups(8), None, None),
        (
            groups(9),
            None,
            "cluster.workers: 9 groups, .* allowed in a queue: at most 8 in a RayJob; use fewer, or no queue",
        ),
        (groups(10), "workers: 10 groups, .* allowed in a queue: at most 9 in a RayCluster", "at most 9"),
        (groups(1, "head"), "workers.head: Kueue uses this name in every RayCluster", "workers.head: "),
        (groups(1, "submitter"), None, "cluster.workers.submitter: Kueue uses this name in every RayJob"),
    ],
)
def test_groups_for_which_a_workload_has_no_room_stay_out_of_queues(
    workers: dict[str, Any], of_cluster: str | None, of_job: str | None
) -> None:
    for queue in ("default", None):
        described = cluster(workers=workers, queue=queue)
        for spec, args, said in (
            (RayClusterSpec, described, of_cluster),
            (RayJobSpec, {"cluster": described, "entrypoint": "python train.py"}, of_job),
        ):
            if said is None or queue is None:
                assert spec.model_validate(args)
            else:
                with pytest.raises(ValidationError, match=said):
                    spec.model_validate(args)


def test_numbers_are_what_the_operators_fields_hold() -> None:
    widest = max((Slice.of(*shape) for shape in SHAPES), key=lambda shape: shape.hosts)
    widest_shape = {"generation": widest.generation.name, "topology": widest.topology}
    many = 2**31
    most = multislice_manifest(
        "p", multislice(**widest_shape, slices=100_000, maxRestarts=many - 1, keepSeconds=many - 1)
    )
    (jobs,) = most["spec"]["replicatedJobs"]
    assert jobs["replicas"] * jobs["template"]["spec"]["parallelism"] < many
    for changes in ({"slices": 100_001}, {"maxRestarts": many}, {"keepSeconds": many}):
        with pytest.raises(ValidationError, match="less than or equal to"):
            multislice(**changes)
    job = {"cluster": cluster(), "entrypoint": "python train.py"}
    for wrong in (
        *({name: many} for name in ("retries", "deadlineSeconds", "keepSeconds")),
        {"cluster": cluster(autoscaling=True, idleTimeoutSeconds=many)},
        *(
            {"cluster": cluster(workers={"tpu": {**V6E, name: 100_001}})}
            for name in ("slices", "minSlices", "maxSlices")
        ),
    ):
        with pytest.raises(ValidationError, match="less than or equal to"):
            RayJobSpec.model_validate({**job, **wrong})


def test_gpu_groups_count_with_the_others() -> None:
    l4 = {"accelerator": "nvidia-l4", "image": "i"}
    with pytest.raises(ValidationError, match="workers: 10 groups"):
        RayClusterSpec.model_validate(cluster(workers=groups(9), gpuWorkers={"l4": l4}, queue="default"))
    with pytest.raises(ValidationError, match=r"gpuWorkers\.head: "):
        RayClusterSpec.model_validate(cluster(gpuWorkers={"head": l4}, queue="default"))


@pytest.mark.parametrize("name", ["kube-root-ca.crt", "1st", "q" * 41, "q" * 63])
def test_objects_of_others_have_names_by_kubernetes_own_rule(name: str) -> None:
    headers = {"grafanaHost": "http://grafana", "prometheusHeaders": {"secret": name}}
    words = {"queue": name, "priorityClass": name, "configMaps": {"/a": name}, "head": {"dashboard": headers}}
    assert RayClusterSpec.model_validate(cluster(**words, workers={"tpu": {**V6E, "computeClass": name}}))
    assert multislice(queue=name, priorityClass=name)


@pytest.mark.parametrize("name", ["", "Q", "a_b", "-a", "a-", "a..b", ".a", "a\n", "q" * 254])
def test_a_name_that_no_object_has_is_rejected(name: str) -> None:
    headers = {"grafanaHost": "http://grafana", "prometheusHeaders": {"secret": name}}
    for words in (
        {"queue": name},
        {"priorityClass": name},
        {"configMaps": {"/a": name}},
        {"head": {"dashboard": headers}},
        {"workers": {"tpu": {**V6E, "computeClass": name}}},
    ):
        with pytest.raises(ValidationError, match="is not a valid name of a Kubernetes object; allowed: 1 to "):
            RayClusterSpec.model_validate(cluster(**words))


def test_what_a_label_mentions_fits_a_label_and_what_pods_mention_may_be_longer() -> None:
    assert RayClusterSpec.model_validate(cluster(configMaps={"/a": "q" * 253}))
    for words in ({"queue": "q" * 64}, {"priorityClass": "q" * 64}, {"computeClass": "q" * 64}):
        with pytest.raises(ValidationError, match="allowed: 1 to 63 lower-case"):
            multislice(**words)
