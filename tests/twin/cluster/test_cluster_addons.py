"""An add-on that could not be started."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.cluster.cluster_objects import CLUSTER, KEY, Cluster

pytestmark = [pytest.mark.twin, pytest.mark.asyncio(loop_scope="session")]

WITHOUT = {key: value for key, value in CLUSTER.items() if key != "addonsConfig"}


@pytest_asyncio.fixture(loop_scope="session")
async def log(bare: Cluster) -> AsyncIterator[Path]:
    """The log of KubeRay's operator, which is a folder: the operator cannot be started."""
    log = bare.folder / "logs" / "kuberay.log"
    log.unlink(missing_ok=True)
    log.mkdir()
    yield log
    mend(log)
    await bare.plane.apply_cluster(WITHOUT)


async def test_it_is_started_by_the_next_attempt(bare: Cluster, log: Path) -> None:
    for _ in range(2):
        with pytest.raises(IsADirectoryError):
            await bare.plane.apply_cluster(CLUSTER)
        assert not addon_runs(bare)
    mend(log)
    await bare.plane.apply_cluster(CLUSTER)
    assert addon_runs(bare)


def addon_runs(cluster: Cluster) -> bool:
    return any(status.name == f"{KEY}/kuberay" for status in cluster.processes.status())


def mend(log: Path) -> None:
    if log.is_dir():
        log.rmdir()
