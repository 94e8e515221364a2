"""Fixtures of the tests of Google's API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tpuplane_twin.gcp.store import Store

from tests.support.gcp.twin_api import Api, MemoryBackend, serving


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    """An empty project."""
    store = Store(tmp_path / "gcp" / "state.db")
    async with serving(store, MemoryBackend()) as running:
        yield running
    store.close()


@pytest.fixture
async def project(api: Api) -> Api:
    """A project with a network."""
    await api.add_network()
    return api


@pytest.fixture
async def cluster(project: Api) -> Api:
    """A project with a cluster `c1` without pools."""
    await project.add_cluster()
    return project
