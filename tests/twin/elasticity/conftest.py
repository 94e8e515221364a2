"""One twin without its supervisor process for all tests here: real API, real control plane, a clock to turn."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from functools import partial

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from tpuplane_twin import tools as twin_tools
from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.clock.times import Times
from tpuplane_twin.daemon.faults import Faults
from tpuplane_twin.elasticity.autoscaler import ClusterAutoscaler
from tpuplane_twin.elasticity.elasticity import Elasticity
from tpuplane_twin.elasticity.scaling import Actions
from tpuplane_twin.failures.incidents import Incidents
from tpuplane_twin.failures.routes import Failures
from tpuplane_twin.failures.targets import Targets, client_of
from tpuplane_twin.gcp.app import RECONCILER, create_app, create_pool, delete_pool, repair_pool
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager

from tests.support.cluster import operators
from tests.support.elasticity.elastic_twin import CLUSTER, TOKEN, ElasticTwin, ScarceFleet, add_cluster
from tests.support.eventually import eventually

_NAMES = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    *("kwok", *operators.TOOLS, "kuberay", "managed-prometheus", "cluster-autoscaler-apis", "kubernetes-addons"),
)
_NUMBERS = itertools.count(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def twin(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ElasticTwin]:
    """A cluster with GKE's Ray add-on and a fixed pool for the pods that need no TPU."""
    with twin_tools.show() as progress:
        tools = twin_tools.ensure(_NAMES, progress)
    paths = TwinPaths("elastic", tmp_path_factory.mktemp("elasticity")).make()
    processes, ports, clock = ProcessManager(), PortBook(paths.ports), Clock()
    clock.move(0)
    store = Store(paths.gcp / "state.db")
    fleet = ScarceFleet(paths, processes, ports, tools, TOKEN, lambda _: None)
    app = create_app(store, fleet, TOKEN, Times(speed=600))
    pools = app[RECONCILER]
    create, delete, repair = (partial(change, app) for change in (create_pool, delete_pool, repair_pool))
    actions = Actions(pools.resize, create, delete, pools.replace, repair)
    autoscaler = partial(ClusterAutoscaler, actions=actions, scale_down_after=60, repair_after=lambda: 10.0, now=clock)
    elasticity = Elasticity(store, fleet.client, autoscaler)
    Faults(store, app, elasticity.backoff).serve()
    client = partial(client_of, store, fleet.client)
    incidents = Incidents(store, client, pools, Times(speed=600))
    Failures(incidents, Targets(store, client)).serve(app)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    watching = asyncio.create_task(elasticity.run())
    try:
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
            found = ElasticTwin(f"http://{host}:{port}", session, elasticity, clock, tools, processes, fleet)
            await add_cluster(found)
            await operators.install(found.kubernetes, tools, paths.root)
            yield found
            await found.google("DELETE", f"/v1beta1/{CLUSTER}")
    finally:
        watching.cancel()
        await asyncio.wait([watching])
        await incidents.stop()
        await runner.cleanup()
        await fleet.close()
        await processes.stop_all()
        store.close()
    assert not processes.status()


@pytest_asyncio.fixture(loop_scope="session")
async def namespace(twin: ElasticTwin) -> AsyncIterator[str]:
    """A namespace of this test's own, deleted with all that is in it and with what a failed test left."""
    before = await twin.pools()
    name = f"elastic-{next(_NUMBERS)}"
    await twin.kubernetes.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    await eventually(lambda: operators.takes_work(twin.kubernetes, name))
    yield name
    await twin.end_shortages()
    await twin.kubernetes.delete("Namespace", name)
    for pool in await twin.pools() - before:
        await twin.delete_pool(pool)
