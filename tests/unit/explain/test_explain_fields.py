"""Every path of the description is explained: its value, who chose it, and what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from tpuplane.explain import UnknownPath, explain
from tpuplane.explain.fields import Field, root
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.fields import unwrap

from tests.support.full_platform import FULL

pytestmark = pytest.mark.unit

PLAN = plan(FULL)


def places(field: Field) -> Iterator[Field]:
    for child in field.children:
        yield child
        yield from places(child)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        if not isinstance(part, str):
            yield from models(part)


def every_model(annotation: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield annotation
    for field in annotation.model_fields.values():
        for part in models(field.annotation):
            yield from every_model(part)


def value_of(path: str) -> tuple[str, str]:
    (value,) = explain(FULL, PLAN, path).values
    return value.value, value.reason


@pytest.mark.parametrize("model", sorted(set(every_model(PlatformSpec)), key=lambda model_: model_.__name__))
def test_every_field_says_what_it_is(model: type[BaseModel]) -> None:
    assert [name for name, field in documented(model).items() if not (field.description or "").strip()] == []


def test_every_path_of_the_description_is_explained() -> None:
    """Also those that the file does not set, and parts of parts that are not there."""
    paths = [field.path for field in places(root(FULL))]
    assert len(paths) > 500
    for path in paths:
        values = explain(FULL, PLAN, path).values
        assert values, path
        for value in values:
            assert value.value, path
            assert value.reason.removeprefix("You chose it.").removeprefix("Not set.").strip(), path


def test_no_field_is_out_of_reach() -> None:
    """Fields of each model of the description are among the paths of the platform above."""
    whole = root(FULL)
    reached = {
        reached_type for place in (whole, *places(whole)) if place.children for reached_type in [unwrap(place.of)[0]]
    }
    assert {model.__name__ for model in set(every_model(PlatformSpec)) - reached} == set()


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (
            "teams.research.quota",
            "8 cores of cpu, 1 GPU of g2-standard-12, 16 chips",
            "The team's quota of each flavor",
        ),
        ("teams.research.weight", "2.0", "You chose it. Share of the borrowable quota"),
        ("teams.research.clusters.main.cpu.memoryGb", "64", "Not set. Memory in GB"),
        ("teams.product.queue", "product/jobs", "One in each namespace of the team, with the name that you chose"),
        ("teams.product.members", "none", "Only administrators of the project"),
        ("queues.fairSharing", "true", "You chose it. Share borrowable quota by the teams' weights"),
        ("queues.priorities.idle.value", "-100", "Not set. Work with a higher value is admitted first"),
        ("classes.serving.ways", "1. node pools trainer, 2. ", "You chose them."),
        ("classes.sweeps.ways", "1. spot v6e 4x4, 2. ", "The preset cost-optimized"),
        ("classes.serving.priorities[1].tpu.count", "4", "You chose it."),
        ("addons.kueue.release", "kueue 0.", "The release of kueue"),
        ("addons.kueue.replicas", "2", "You chose it. Number of replicas; one of them is the leader."),
        ("addons.kueue.after", "jobset", "Installed when the webhooks of these answer"),
        ("controlPlane.publicEndpoint", "false", "The control plane has no public address"),
        ("control_plane.dns_endpoint", "false", "Not set. Also serve the control plane at a DNS name"),
        ("clusters.main.network.nodesCidr", "10.0.0.0/20", "One address for each node"),
        ("monitoring.components", "SYSTEM_COMPONENTS, STORAGE", "Not set. Components with collected metrics"),
        ("autoProvisioning.limits.tpu", "none", "Not set. "),
        ("gpuPools.models.autoscaling.maxNodes", "none", "Not set. "),
        ("observability.alerts.sliceDown.afterMinutes", "", "Not set. "),
    ],
)
def test_a_value_is_explained_at_the_path_of_the_user(path: str, value: str, reason: str) -> None:
    found, why = value_of(path)
    assert found.startswith(value)
    assert why.startswith(reason)


def test_a_part_is_explained_field_by_field() -> None:
    values = explain(FULL, PLAN, "controlPlane").values
    assert [value.name for value in values] == [
        "dnsEndpoint",
        "ipEndpoint",
        "publicEndpoint",
        "masterCidr",
        "authorizedNetworks",
    ]


def test_a_team_is_explained_with_its_queues() -> None:
    names = [value.name for value in explain(FULL, PLAN, "teams.research").values]
    assert names[:4] == ["quota", "flavors", "localQueues", "access"]
    assert "clusters.main.pools.trainer.borrowingLimit" in names
    assert len(names) == len(set(names))


def test_values_of_several_objects_have_the_keys_of_the_objects() -> None:
    values = explain(FULL, PLAN, "clusters.main.pools").values
    assert {value.name.partition(".")[0] for value in values} == set(FULL.clusters["main"].pools)
    assert "trainer.slice" in [value.name for value in values]
    assert "main.location" in [value.name for value in explain(FULL, PLAN, "clusters").values]


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("teams.research.members[0]", "teams.research.members"),
        ("maintenance.window.days[1]", "maintenance.window.days"),
    ],
)
def test_an_item_of_a_list_of_values_is_explained_with_its_list(path: str, whole: str) -> None:
    assert explain(FULL, PLAN, path) == explain(FULL, PLAN, whole)


def test_a_choice_has_its_place_in_the_file_and_a_default_has_none() -> None:
    def written(path: str) -> Any:
        (value,) = explain(FULL, PLAN, path).values
        return value.written

    assert written("classes.serving.priorities[0].nodepools") == ("classes", "serving", "priorities", 0, "nodepools")
    assert written("queues.strategy") is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("teams.reserch", "teams has no 'reserch'; allowed: research, product; nearest: teams.research$"),
        ("queues.prioritys", "queues has no 'prioritys'; allowed: .*nearest: queues.priorities$"),
        ("controlPlane.dns", "clusters.main.controlPlane has no 'dns'; allowed: dnsEndpoint"),
        ("teams.research.members[7]", r"has no 'members\[7\]'"),
        ("classes.serving.priorities[7].spot", r"classes.serving.priorities has no '7'; allowed: 0, 1"),
    ],
)
def test_a_place_that_is_not_there_names_those_that_are(path: str, message: str) -> None:
    with pytest.raises(UnknownPath, match=message):
        explain(FULL, PLAN, path)
