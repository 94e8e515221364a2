"""Every field of the spec with another value: the diff, held against the provider's own answer.

The program runs under Pulumi's mocks, before and after the change. The provider answers for each resource, as in a
preview. `tests/e2e/one_cluster` has the same with the real engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tpuplane.diff import diff
from tpuplane.spec import parse_platform
from tpuplane_standins.providers.gcp.provider import GcpProvider

from tests.support.components.deployment import Deployment, Registration, deploy_platform
from tests.support.diff.done import WORK, Done, of_diff, of_update, upgrades
from tests.support.diff.every_field import PLATFORMS, SHARED, Changed, batches, together
from tests.support.providers.gcp_driver import CLUSTER, NODE_POOL, SUBNETWORK, Deployed, Driver
from tests.support.providers.google_api import google_api
from tests.support.providers.platform_on_api import deploy_on, with_ids

pytestmark = pytest.mark.twin


class Before(NamedTuple):
    """The platform as it is: registered by the program, and made by the provider."""

    deployment: Deployment
    driver: Driver
    made: dict[tuple[str, str], tuple[Deployed, tuple[str, ...]]]

    def done(self, after: Deployment) -> Done:
        """What a preview of another program would say."""
        done = Done()
        for urn in self.deployment.registrations.keys() | after.registrations.keys():
            old, new = self.deployment.registrations.get(urn), after.registrations.get(urn)
            it = old or new
            assert it is not None
            compared = it.type in (CLUSTER, SUBNETWORK, NODE_POOL)
            done.anything |= old is None or new is None or (not compared and it.custom and old.inputs != new.inputs)
            done.work |= new is None and it.type.rpartition(":")[2] in WORK
            done.cluster |= new is None and it.type == CLUSTER
            if it.type == NODE_POOL and (old is None or new is None):
                done.note(it.inputs["name"], "created" if old is None else "deleted")
            elif old is not None and new is not None and compared:
                self._compare(done, old, new)
                if it.type == CLUSTER and upgrades(old.inputs, new.inputs):
                    self._upgrade(done, old.inputs["name"], after)
        return done.summary()

    def _upgrade(self, done: Done, cluster: str, after: Deployment) -> None:
        """Note the node pools that GKE upgrades with their cluster."""
        kept = (it for urn, it in after.registrations.items() if urn in self.deployment.registrations)
        for it in (it for it in kept if it.type == NODE_POOL and it.inputs["cluster"] == cluster):
            if it.inputs["management"]["autoUpgrade"]:
                done.note(it.inputs["name"], "rolled")

    def _compare(self, done: Done, old: Registration, new: Registration) -> None:
        """Note what the provider says of a resource that both programs have."""
        deployed, ignored = self.made[old.type, old.name]
        ids = {f"{name}-id": it.id for (_, name), (it, _) in self.made.items()}
        gone = dict.fromkeys(old.inputs.keys() - new.inputs.keys())
        found = self.driver.diff(deployed, *ignored, **gone, **with_ids(new.inputs, ids))
        done.anything |= bool(found.changes)
        asked = tuple(new.request.replaceOnChanges)
        replaced = bool(found.replaces) or any(path.startswith(asked) for path in found.changes if asked)
        if old.type != NODE_POOL:
            done.cluster |= replaced
        elif what := "replaced" if replaced else of_update(found.changes, old.inputs, new.inputs):
            done.note(old.inputs["name"], what)


@pytest.fixture(scope="module")
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Before]:
    described = PLATFORMS[request.param]
    with google_api(tmp_path_factory.mktemp("api")) as api:
        provider = GcpProvider()
        provider.configure(api.config, {})
        driver = Driver(provider, api.url)
        list(deploy_on(driver, SHARED, {}))
        made = {(it.resource.urn.type, it.resource.urn.name): tuple(it) for it in deploy_on(driver, described, {})}
        yield Before(deploy_platform(described), driver, made)


@pytest.mark.parametrize(
    ("before", "batch"),
    [pytest.param(batch[0].platform, batch, id=str(batch[0])) for batch in batches()],
    indirect=["before"],
)
def test_the_provider_does_what_the_diff_says(batch: tuple[Changed, ...], before: Before) -> None:
    after = together(batch)
    said = of_diff(diff(parse_platform(batch[0].before), parse_platform(after)))
    assert before.done(deploy_platform(after)) == said, "\n".join(map(str, batch))
