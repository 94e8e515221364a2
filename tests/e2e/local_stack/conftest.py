"""One platform, brought up once by the commands that a user types, for all tests of this tier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.e2e.platform_under_test import PlatformUnderTest


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PlatformUnderTest, dict[str, Any]]]:
    """The platform of the local stack and what `rehearse --json` said."""
    platform = PlatformUnderTest(tmp_path_factory.mktemp("e2e"))
    with platform.taken_down():
        yield platform, platform.rehearse()


@pytest.fixture(scope="session")
def platform(rehearsal: tuple[PlatformUnderTest, dict[str, Any]]) -> PlatformUnderTest:
    return rehearsal[0]


@pytest.fixture(scope="session")
def plan(platform: PlatformUnderTest) -> Path:
    """The whole plan of what exists, in which nothing changes."""
    path = platform.folder / "plan.json"
    path.write_text(platform.pulumi("preview", "--json", "--show-sames").stdout)
    return path
