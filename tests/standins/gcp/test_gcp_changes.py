"""Every field of the spec with another value: the diff, held against the provider's own answer.

The program runs under Pulumi's mocks, before and after the change. The provider answers for each resource with other
inputs, as in a preview. `tests/e2e/one_cluster` has the same with the real engine.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.request import Request, urlopen

import pytest
from tpuplane.adopt.facts import dig
from tpuplane.adopt.fields import fields
from tpuplane.data_files import read_data
from tpuplane.diff import diff
from tpuplane.plan import PlatformPlan, plan
from tpuplane.spec import PlatformSpec, parse_platform

from tests.support.components.deployment import Deployment, Registration, deploy_platform
from tests.support.diff.done import WORK, Done, of_diff, of_update, upgrades
from tests.support.diff.every_field import NAMES, SHARED, Changed, changes
from tests.support.diff.every_field import platform as described_platform
from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, SUBNETWORK, Deployed, Driver
from tests.support.providers.google_api import TOKEN, google_api
from tests.support.providers.platform_on_api import deploy_on, with_ids

pytestmark = pytest.mark.twin

ROWS = read_data("tpuplane.adopt", "fields")
COMPARED = (CLUSTER, SUBNETWORK, NODE_POOL)


class Part(NamedTuple):
    """The part of a platform that a change can reach: some clusters, with the repositories or without them."""

    clusters: frozenset[str]
    images: bool

    @classmethod
    def of(cls, before: PlatformPlan, after: PlatformPlan) -> Part:
        """Resources are made from their plan and nothing else, so those of an equal plan are equal."""
        old, new = ({cluster.key: cluster for cluster in each.clusters} for each in (before, after))
        if before.images != after.images:  # each cluster reads them
            return cls(frozenset(old | new), images=True)
        changed = {key for key in old | new if old.get(key) != new.get(key)}
        linked = {cluster.key for cluster in (*before.clusters, *after.clusters) if cluster.manager or cluster.worker}
        return cls(frozenset(changed | linked if changed & linked else changed), images=False)

    def deployed(self, planned: PlatformPlan) -> Deployment:
        """What the program registers for this part."""
        clusters = tuple(cluster for cluster in planned.clusters if cluster.key in self.clusters)
        part = replace(planned, clusters=clusters, images=planned.images if self.images else ())
        with patch("tpuplane.platform.platform.planned_platform", return_value=part):
            return deploy_platform({})


class Before(NamedTuple):
    """The platform as it is: planned and registered by the program, and made by the provider."""

    spec: PlatformSpec
    plan: PlatformPlan
    deployed: Callable[[Part], Deployment]
    driver: Driver
    made: dict[tuple[str, str], tuple[Deployed, tuple[str, ...]]]

    @property
    def deployment(self) -> Deployment:
        """The whole platform."""
        return self.deployed(Part(frozenset(cluster.key for cluster in self.plan.clusters), images=True))

    def done(self, after_plan: PlatformPlan) -> Done:
        """What a preview of another program would say."""
        done, part = Done(), Part.of(self.plan, after_plan)
        before, after = self.deployed(part), part.deployed(after_plan)
        for urn in before.registrations.keys() | after.registrations.keys():
            old, new = before.registrations.get(urn), after.registrations.get(urn)
            present = old or new
            assert present is not None
            compared = present.type in COMPARED
            done.anything |= (
                old is None or new is None or (not compared and present.custom and old.inputs != new.inputs)
            )
            done.anything |= old is not None and new is not None and given_up(old, new)
            done.work |= new is None and present.type.rpartition(":")[2] in WORK
            done.work |= old is not None and new is not None and ends_work(old.inputs, new.inputs)
            done.cluster |= new is None and present.type == CLUSTER
            if present.type == NODE_POOL and (old is None or new is None):
                done.note(present.inputs["name"], "created" if old is None else "deleted")
            elif old is not None and new is not None and compared and old.inputs != new.inputs:
                self.compare(done, old, new)
                if present.type == CLUSTER and upgrades(old.inputs, new.inputs):
                    for pool in (after.registrations[urn] for urn in before.registrations.keys() & after.registrations):
                        own = pool.type == NODE_POOL and pool.inputs["cluster"] == old.inputs["name"]
                        if own and pool.inputs["management"]["autoUpgrade"]:
                            done.note(pool.inputs["name"], "rolled")
        return done.summary()

    def compare(self, done: Done, old: Registration, new: Registration) -> None:
        """Note what the provider says of a resource that both programs have."""
        deployed, ignored = self.made[old.type, old.name]
        ids = {f"{name}-id": created.id for (_, name), (created, _) in self.made.items()}
        gone = dict.fromkeys(old.inputs.keys() - new.inputs.keys())
        found = self.driver.diff(deployed, *ignored, **gone, **with_ids(new.inputs, ids))
        done.anything |= bool(found.changes)
        asked = tuple(new.request.replaceOnChanges)
        replaced = bool(found.replaces) or any(path.startswith(asked) for path in found.changes if asked)
        if old.type != NODE_POOL:
            done.cluster |= replaced and "purpose" not in old.inputs  # a subnetwork for proxies has no nodes
        elif replaced and old.inputs["name"] != new.inputs["name"]:
            done.note(old.inputs["name"], "deleted")
            done.note(new.inputs["name"], "created")
        elif what := "replaced" if replaced else of_update(found.changes, old.inputs, new.inputs):
            done.note(old.inputs["name"], what)


def kept(resource: Registration) -> tuple[bool, list[str]]:
    """The options that the engine keeps of a resource."""
    return resource.request.protect, sorted(resource.request.ignoreChanges)


def given_up(old: Registration, new: Registration) -> bool:
    """Whether the engine protects the resource differently, or no longer ignores one of its properties."""
    (protected, ignored), (protects, ignores) = kept(old), kept(new)
    return protected != protects or not set(ignored) <= set(ignores)


def ends_work(old: Any, new: Any) -> bool:
    """Whether work ends although its resources stay: its objects move to another cluster, a namespace is renamed,
    the API server rejects the change of a compute class, a RAM disk is replaced, or GKE removes Ray."""
    of_kind = {"Namespace": "metadata.name", "CheckpointConfiguration": "spec"}
    paths = ["clusterIdentifier", "spec.autopilot", *filter(None, [of_kind.get(new.get("kind", ""))])]
    moved = any(dig(old, path) != dig(new, path) for path in paths)
    had_ray, has_ray = (dig(side, "addonsConfig.rayOperatorConfigs", [{}])[0].get("enabled") for side in (old, new))
    return moved or bool(had_ray and not has_ray)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Before]]:
    """Each platform, made once for all of its changes."""
    with ExitStack() as until_the_end:

        @functools.cache
        def make(platform: str) -> Before:
            api = until_the_end.enter_context(google_api(tmp_path_factory.mktemp("api")))
            driver = Driver.of(api.config, api.url)
            list(deploy_on(driver, SHARED, {}))
            described = described_platform(platform)
            made = {
                (created.resource.urn.type, created.resource.urn.name): tuple(created)
                for created in deploy_on(driver, described, {})
            }
            spec = parse_platform(described)
            planned = plan(spec)
            return Before(spec, planned, functools.cache(lambda part: part.deployed(planned)), driver, made)

        yield make


@pytest.mark.parametrize("platform", NAMES)
def test_a_platform_without_a_change_stays(platform: str, made: Callable[[str], Before]) -> None:
    before, done = made(platform), Done()
    for registration in before.deployment.registrations.values():
        if registration.type in COMPARED:
            before.compare(done, registration, registration)
    assert done == Done()


@pytest.mark.parametrize("platform", NAMES)
def test_a_part_of_a_platform_has_the_same_resources_alone(platform: str, made: Callable[[str], Before]) -> None:
    before = made(platform)
    whole = before.deployment.registrations
    for cluster in before.plan.clusters:
        others = replace(before.plan, clusters=tuple(each for each in before.plan.clusters if each != cluster))
        for urn, alone in (
            Part.of(before.plan, others)._replace(images=False).deployed(before.plan).registrations.items()
        ):
            assert (alone.inputs, kept(alone)) == (whole[urn].inputs, kept(whole[urn])), urn


@pytest.mark.parametrize("platform", NAMES)
def test_the_import_reads_what_the_program_wrote(platform: str, made: Callable[[str], Before]) -> None:
    """Every boolean and enum, and every text that the user gives, by the rows of `adopt/data/fields.yaml`."""
    before = made(platform)
    spec = before.spec
    described = spec.model_dump(mode="json", by_alias=True)["clusters"]
    written = {cluster.gke_name(spec.name, key): described[key] for key, cluster in spec.clusters.items()}
    for resource, _ in before.made.values():
        if resource.urn.type != CLUSTER:
            continue
        request = Request(f"{before.driver.url}/v1beta1/{resource.id}", headers={"Authorization": f"Bearer {TOKEN}"})
        with urlopen(request) as answer:
            found = json.load(answer)
        assert differing("cluster", written[found["name"]], found) == {}
        own = {**written[found["name"]]["pools"], **written[found["name"]]["gpuPools"]}
        for pool in found["nodePools"]:
            keys = {pool["name"], pool["name"].rpartition("-")[0]} & own.keys()
            assert [differing("pool", own[key], pool) for key in keys] in ([], [{}])


def differing(section: str, written: Any, found: Any) -> dict[str, tuple[Any, Any]]:
    """What the import reads in another way than it is written."""
    read = fields(section, found)
    rows = {row: tuple(dig(side, row) for side in (written, read)) for row in ROWS[section]}
    if written.get("capacity") == "flex-start":  # for which GKE has no repair
        del rows["autoRepair"]
    if not dig(written, "controlPlane.ipEndpoint", True):  # without it, there is no public one
        del rows["controlPlane.publicEndpoint"]
    return {row: sides for row, sides in rows.items() if isinstance(sides[0], bool | str) and sides[0] != sides[1]}


@pytest.mark.parametrize("change", changes(), ids=str)
def test_the_provider_does_what_the_diff_says(change: Changed, made: Callable[[str], Before]) -> None:
    before, after = made(change.platform), parse_platform(change.after)
    found = diff(before.spec, after)
    done, said = before.done(plan(after)), of_diff(found)
    if change.value == {} and change.place[-1] == "adopted":  # Pulumi protects it, if it protects its cluster
        done.anything = said.anything
    if change.platform == "company" and change.place[1:] == ("guest", "addons", "ray", "mode"):
        done.work = said.work  # its user removes GKE's add-on
    assert done.anything == said.anything, (
        f"{change}: the diff says that {'a' if said.anything else 'no'} resource changes ({found.changes[0].kind}). "
        "Give the value to the resource in components/tpuplane/gke or addons, or correct the class in the field's type"
    )
    assert done == said
