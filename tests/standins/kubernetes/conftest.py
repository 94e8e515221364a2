"""One API server for all tests of the provider; one configured provider process per test module."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes.client import ApiClient
from kubernetes.config import new_client_from_config_dict

from tests.support.providers.kubernetes_control_plane import ControlPlane, running
from tests.support.providers.kubernetes_driver import Driver, started

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder: Path = tmp_path_factory.mktemp("kubernetes")
    with running(folder) as plane:
        yield plane


@pytest.fixture
def fresh() -> Iterator[Driver]:
    """A provider that is not configured yet."""
    with started() as driver:
        yield driver


@pytest.fixture(scope="module")
def provider(control_plane: ControlPlane) -> Iterator[Driver]:
    with started() as driver:
        driver.configure(kubeconfig=control_plane.kubeconfig())
        yield driver


@pytest.fixture
def namespace(provider: Driver) -> str:
    """A namespace of this test's own."""
    name = f"test-{next(_NUMBERS)}"
    provider.make("kubernetes:core/v1:Namespace", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[ApiClient]:
    """Another client: `kubectl`, a controller, another program."""
    with new_client_from_config_dict(yaml.safe_load(control_plane.kubeconfig())) as client:
        yield client
