"""Workloads as components: the manifest is registered as it is, in the cluster that the options name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from tpuplane import Multislice, RayCluster, RayJob, RayService, SpecError
from tpuplane.spec.core.documentation import documented
from tpuplane.workloads import (
    MultisliceSpec,
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    multislice_manifest,
    ray_cluster_manifest,
    ray_job_manifest,
    ray_service_manifest,
)

from tests.support.components.deployment import deploy

pytestmark = pytest.mark.components

V6E = {"generation": "v6e", "topology": "4x4", "image": "rayproject/ray:2.52.0"}
CLUSTER: Any = {"namespace": "research", "workers": {"tpu": V6E}}
KINDS: dict[type[pulumi.ComponentResource], tuple[Any, Any, Any]] = {
    RayCluster: (RayClusterSpec, ray_cluster_manifest, CLUSTER),
    RayJob: (RayJobSpec, ray_job_manifest, {"cluster": CLUSTER, "entrypoint": "python train.py"}),
    RayService: (RayServiceSpec, ray_service_manifest, {"cluster": CLUSTER, "serve_config": "a: []"}),
    Multislice: (
        MultisliceSpec,
        multislice_manifest,
        {**V6E, "namespace": "research", "slices": 2, "command": ["python", "train.py"]},
    ),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_manifest_is_registered_as_it_is(kind: Any) -> None:
    spec, manifest, args = KINDS[kind]
    wanted = manifest("train", spec.model_validate(args))
    deployed = deploy(lambda: kind("train", args))
    made = deployed.one(f"kubernetes:{wanted['apiVersion']}:{wanted['kind']}")
    assert {key: made.inputs[key] for key in wanted} == wanted
    parent = deployed.parent(made)
    assert parent is not None
    assert parent.type == f"tpuplane:index:{kind.__name__}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_the_options_say_of_the_cluster_reaches_the_object(kind: Any) -> None:
    args = KINDS[kind][2]

    def program() -> None:
        provider = kubernetes.Provider("central", cluster_identifier="central")
        home = kubernetes.core.v1.Namespace("home", opts=pulumi.ResourceOptions(provider=provider))
        opts = pulumi.ResourceOptions(provider=provider, deleted_with=home, depends_on=[home])
        kind("train", args, opts)

    deployed = deploy(program)
    made, home = deployed.one(made_kind(kind)), deployed.one(":Namespace")
    assert made.request.deletedWith == home.urn
    assert home.urn in made.request.dependencies
    assert made.request.provider.startswith(deployed.one("providers:kubernetes").urn)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("args", [None, [1], "x", 5])
def test_arguments_that_are_not_a_mapping_are_one_line(kind: Any, args: Any) -> None:
    with pytest.raises(SpecError, match=f"^{kind.__name__} train: .* is not a mapping of names of arguments"):
        deploy(lambda: kind("train", args))


def made_kind(kind: type) -> str:
    """The kind of the object that a component makes, apart from the component's own type."""
    return (
        "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet" if kind is Multislice else f"kubernetes:ray.io/v1:{kind.__name__}"
    )


FULL = {"queue": "default", "priority_class": "high"}
RUN_ONCE: dict[type[pulumi.ComponentResource], Any] = {
    RayJob: {
        **KINDS[RayJob][2],
        "cluster": {**CLUSTER, **FULL},
        "runtime_env": "pip: [numpy]",
        "deadline_seconds": 60,
        "keep_seconds": 5,
    },
    Multislice: {**KINDS[Multislice][2], **FULL, "keep_seconds": 5},
}


@pytest.mark.parametrize("kind", RUN_ONCE, ids=lambda kind: kind.__name__)
def test_work_that_runs_once_is_replaced_by_every_change_but_of_how_long_it_stays(kind: Any) -> None:
    made = deploy(lambda: kind("train", RUN_ONCE[kind])).one(made_kind(kind))
    wanted = {f"spec.{name}" for name in made.inputs["spec"]} - {"spec.ttlSecondsAfterFinished"}
    assert {path for path in made.request.replaceOnChanges if path.startswith("spec.")} == wanted


STEP = re.compile(r'(?<=\[")[^"]+(?="\])|[^."\[\]]+')
"""A step of a property path, such as `spec.template` or `metadata.labels["a.b/c"]`."""
QUEUE_CHANGES = [
    ({"queue": "a"}, {"queue": "b"}, True),
    ({}, {"queue": "a"}, True),
    ({"queue": "a"}, {}, True),
    ({"priority_class": "low"}, {"priority_class": "high"}, False),
    ({"queue": "a", "priority_class": "low"}, {"queue": "a", "priority_class": "high"}, False),
    ({}, {"priority_class": "high"}, False),
    ({"queue": "a", "priority_class": "low"}, {"queue": "b", "priority_class": "high"}, True),
]


@pytest.mark.parametrize("kind", RUN_ONCE, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("before", "after", "replaced"), QUEUE_CHANGES)
def test_another_queue_replaces_work_and_another_priority_does_not(
    kind: Any, before: dict[str, str], after: dict[str, str], replaced: bool
) -> None:
    """As the engine decides it, of what the Kubernetes provider calls the change."""
    args = KINDS[kind][2]
    old, new = (
        deploy(lambda words=words: kind("train", with_words(args, words))).one(made_kind(kind))
        for words in (before, after)
    )
    changes = list(changed_paths(old.inputs, new.inputs))
    assert changes
    replacing = [STEP.findall(path) for path in new.request.replaceOnChanges]
    assert any(change[: len(path)] == path for path in replacing for change in changes) is replaced


def changed_paths(old: Any, new: Any, *above: str) -> Iterator[list[str]]:
    """The path of each changed value; that of an object if it is new or removed as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from changed_paths(old.get(key), new.get(key), *above, key)
    elif old != new:
        yield list(above)


def with_words(args: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """The work, with words of its queue, which a RayJob's cluster has."""
    return {**args, "cluster": {**args["cluster"], **words}} if "cluster" in args else {**args, **words}


@pytest.mark.parametrize("spec", [RayJobSpec, MultisliceSpec])
def test_each_field_of_work_that_runs_once_says_what_a_change_does(spec: Any) -> None:
    in_place = {"keep_seconds", "priority_class"}
    for name in spec.__annotations__:  # its own; what the pods are is said of them all together
        said = " ".join((documented(spec)[name].description or "").split())
        assert ("hanged in place" in said) == (name in in_place), name
        assert ("A change replaces" in said) == (name not in in_place), name


def test_a_ray_cluster_and_a_service_are_changed_in_place() -> None:
    for kind in (RayCluster, RayService):
        made = deploy(lambda kind=kind: kind("train", KINDS[kind][2])).one(made_kind(kind))
        assert not made.request.replaceOnChanges


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_wrong_slice_is_rejected_before_anything_is_registered(kind: Any) -> None:
    spec, _, args = KINDS[kind]
    wrong = {**V6E, "topology": "4x5"}
    cluster = {**CLUSTER, "workers": {"tpu": wrong}}
    broken = (
        {**args, "cluster": cluster} if "cluster" in args else {**args, **(cluster if "workers" in args else wrong)}
    )
    assert spec.model_validate(args)

    def program() -> None:
        with pytest.raises(SpecError, match="'4x5' is not a v6e topology"):
            kind("train", broken)

    assert not list(deploy(program).registrations)


LONGEST: dict[type[pulumi.ComponentResource], int] = {RayCluster: 53, RayJob: 47, RayService: 47, Multislice: 26}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_name_that_its_operator_rejects_is_rejected_before_anything_is_registered(kind: Any) -> None:
    args, most = KINDS[kind][2], LONGEST[kind]
    assert deploy(lambda: kind("a" * most, args)).one(made_kind(kind))

    def program() -> None:
        for name in ("a" * (most + 1), "1a", "A", "a-", "a.b", ""):
            with pytest.raises(
                SpecError,
                match=f"^{kind.__name__} .*: name: .* is not a valid name .*; allowed: 1 to {most} lower-case",
            ):
                kind(name, args)

    assert not list(deploy(program).registrations)
