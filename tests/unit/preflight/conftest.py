"""Google Cloud for the tests of the preflight checks."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from tests.support.preflight.google_cloud import Server, google_cloud
from tests.support.preflight.lab import ANSWERS


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Google with exactly what the description needs."""
    with google_cloud(copy.deepcopy(ANSWERS)) as server:
        server.setenv(monkeypatch)
        yield server
