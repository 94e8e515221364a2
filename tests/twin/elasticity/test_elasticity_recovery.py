"""An API server that is killed. The operators start again after it, so no test follows that would wait for them."""

from __future__ import annotations

import psutil
import pytest
from tpuplane_twin.cluster.api import ClusterError

from tests.support.elasticity.elastic_twin import ElasticTwin, tpu_pod
from tests.support.eventually import eventually

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]


async def test_a_killed_api_server_is_waited_for(twin: ElasticTwin, namespace: str) -> None:
    await twin.add_pool("serving", "ct6e-standard-8t", 0, 2)
    (server,) = (process for process in twin.processes.status() if process.name.endswith("/kube-apiserver"))
    assert server.pid is not None
    psutil.Process(server.pid).kill()

    async def taken() -> bool:
        try:
            await twin.kubernetes.create(tpu_pod("serve", "2x4", 8, namespace=namespace))
        except ClusterError:
            return False
        return True

    await eventually(taken)
    (pod,) = await twin.running(namespace, 1)
    assert pod["spec"]["nodeName"] in await twin.nodes("serving")
    await twin.delete_pool("serving")
