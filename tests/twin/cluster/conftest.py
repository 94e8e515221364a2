"""One control plane for all tests here: real processes, in a temporary folder."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin_ray import environment as ray
from tpuplane_twin_ray.image import RayImage

from tests.support.cluster import operators
from tests.support.cluster.cluster_objects import CLUSTER, RAY, Cluster, MakePools, empty, slice_pool
from tests.support.cluster.compute_classes import definitions  # noqa: F401 (a fixture)
from tests.support.cluster.control_planes import running
from tests.support.cluster.real_ray import DESCRIPTION, NAMESPACE, PATIENCE
from tests.support.eventually import eventually

_NAMES = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    *operators.TOOLS,
    "kuberay",
    "managed-prometheus",
    "cluster-autoscaler-apis",
    "kubernetes-addons",
)
_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def tools() -> twin_tools.Tools:
    with twin_tools.show() as progress:
        return twin_tools.ensure(_NAMES, progress)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def cluster(tools: twin_tools.Tools, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """A running cluster with GKE's Ray add-on, Kueue, JobSet, and a pool for the pods that need no TPU."""
    async with running(tools, tmp_path_factory.mktemp("cluster"), CLUSTER) as found:
        async with found.api() as api:
            await operators.install(api, tools, found.folder)
        yield found


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def bare(tools: twin_tools.Tools, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """A running cluster with no operator in it, as GKE makes one, and the same pool."""
    without = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}
    async with running(tools, tmp_path_factory.mktemp("bare"), without) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def api(cluster: Cluster) -> AsyncIterator[Api]:
    async with cluster.api() as api:
        yield api


@pytest_asyncio.fixture(loop_scope="session")
async def make_pools(cluster: Cluster) -> AsyncIterator[MakePools]:
    """Applies node pools, which go away again after the test."""
    made: set[str] = set()

    async def make(*pools: Object) -> None:
        for item in pools:
            made.add(item["name"])
            await cluster.plane.pools.apply(item, CLUSTER)

    yield make
    for name in made:
        await cluster.plane.pools.delete(name)


@pytest_asyncio.fixture(loop_scope="session")
async def namespace(api: Api) -> AsyncIterator[str]:
    """A namespace of this test's own, deleted with all that is in it."""
    name = f"test-{next(_NUMBERS)}"
    await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    await eventually(lambda: operators.takes_work(api, name))
    yield name
    await api.delete("Namespace", name)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def with_ray(tools: twin_tools.Tools, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """A cluster with Ray in its pods, and one v6e slice of four hosts."""
    images = [RayImage(folder=ray.build())]
    async with running(tools, tmp_path_factory.mktemp("with-ray"), DESCRIPTION, images) as found:
        await found.plane.pools.apply(slice_pool("v6e", "ct6e-standard-4t", "4x4", 4), DESCRIPTION)
        async with found.api() as api:
            await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def research(with_ray: Cluster) -> AsyncIterator[Api]:
    """A client of that cluster, and everything of Ray gone after the test."""
    async with with_ray.api() as api:
        yield api
        for plural in ("rayjobs", "rayservices", "rayclusters"):
            await api.request("DELETE", f"{RAY}/{NAMESPACE}/{plural}")
        await empty(api, NAMESPACE, within=PATIENCE)
