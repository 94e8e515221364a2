"""A protected cluster remains whatever is tried, and its pools with it; the message names the field to change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.pages import DESTROY, script_of

pytestmark = pytest.mark.e2e

FRONT = "urn:pulumi:local::tpuplane::tpuplane:index:Platform$tpuplane:index:Cluster$"
CLUSTER = f"{FRONT}gcp:container/cluster:Cluster::platform-central1"
POOL = f"{FRONT}tpuplane:index:TpuNodePool$gcp:container/nodePool:NodePool::platform-central1-evals-0"
REMEDY = "platform-central1 has deletionProtection: true; set it to false and run `pulumi up`"


@pytest.fixture(scope="module")
def protected(platform: PlatformUnderTest) -> Iterator[PlatformUnderTest]:
    """The platform, whose cluster is protected."""
    with platform.rewritten(lambda clusters: clusters["central1"].update(deletionProtection=True)):
        up(platform)
        yield platform
    platform.run("bash", "-e", "-c", script_of(DESTROY, "# the stack file has deletionProtection: false"))
    assert not platform.steps()


def up(platform: PlatformUnderTest) -> None:
    platform.pulumi("up", "--yes", "--skip-preview")


def nodes(platform: PlatformUnderTest) -> dict[str, set[str]]:
    found = platform.pools(CENTRAL1)
    return {pool: {node["metadata"]["uid"] for node in found[pool]} for pool in found}


def rejected(platform: PlatformUnderTest, *arguments: str) -> None:
    """Hold a command to its rejection, and the cluster to its nodes."""
    before = nodes(platform)
    result = platform.pulumi(*arguments, check=False)
    said = result.stdout + result.stderr
    assert result.returncode, said
    assert REMEDY in said
    assert nodes(platform) == before


@contextmanager
def remembered(platform: PlatformUnderTest) -> Iterator[None]:
    """Give the stack its former state back: without a preview the engine forgets what would be deleted with a cluster
    before it comes to that."""
    file = str(platform.folder / "state.json")
    platform.pulumi("stack", "export", "--file", file)
    try:
        yield
    finally:
        platform.pulumi("stack", "import", "--file", file)


def test_no_order_deletes_anything_of_a_protected_cluster(protected: PlatformUnderTest) -> None:
    rejected(protected, "destroy", "--yes")
    # As the engine itself advises who meets its protection.
    protected.pulumi("state", "unprotect", CLUSTER, "--yes")
    rejected(protected, "destroy", "--yes", "--skip-preview")
    rejected(protected, "destroy", "--yes", "--skip-preview", "--run-program", "--target", POOL)
    up(protected)


@pytest.mark.long
def test_no_other_order_deletes_anything_of_it_either(protected: PlatformUnderTest) -> None:
    protected.pulumi("state", "unprotect", CLUSTER, "--yes")
    rejected(protected, "destroy", "--yes")
    rejected(protected, "destroy", "--yes", "--run-program")
    rejected(protected, "destroy", "--yes", "--skip-preview", "--target", POOL)
    whole = ("--target", CLUSTER, "--target-dependents")
    rejected(protected, "destroy", "--yes", "--skip-preview", *whole)
    with remembered(protected):
        rejected(protected, "destroy", "--yes", "--skip-preview", "--run-program", *whole)
    up(protected)
    assert not protected.steps()


@pytest.mark.long
def test_a_protected_cluster_that_leaves_the_stack_file_keeps_its_pools(protected: PlatformUnderTest) -> None:
    def without(described: dict[str, Any]) -> None:
        # A platform has a cluster: of one that exists it makes nothing.
        described["clusters"] = {"there": {"location": "us-central1", "existing": {"name": "lab-central1"}}}
        del described["teams"]

    with remembered(protected):
        protected.pulumi("state", "unprotect", CLUSTER, "--yes")
        with protected.described(without):
            rejected(protected, "preview")
            rejected(protected, "up", "--yes", "--skip-preview")
    assert not protected.steps()


def test_pools_of_a_protected_cluster_come_and_go(protected: PlatformUnderTest) -> None:
    def fewer(clusters: dict[str, Any]) -> None:
        clusters["central1"]["pools"]["evals"] |= {"topology": "2x2"}

    former = set(nodes(protected))
    with protected.rewritten(fewer):
        up(protected)
        assert set(nodes(protected)) == former - {"evals-0"} | {"evals"}
    up(protected)
    assert set(nodes(protected)) == former
