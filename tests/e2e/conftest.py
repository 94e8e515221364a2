"""One platform, brought up once by the commands that a user types, for all tests of this tier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.e2e.platform_under_test import PlatformUnderTest


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PlatformUnderTest, dict[str, Any]]]:
    """The platform and what `rehearse --json` said. At the end nothing of it may be left."""
    platform = PlatformUnderTest(tmp_path_factory.mktemp("e2e"))
    try:
        yield platform, platform.rehearse()
    finally:
        platform.twin("down")
    assert not (platform.folder / "twins" / platform.name).exists()
    left = [process for process in psutil.process_iter(["cmdline"]) if _of(process, str(platform.folder))]
    _, left = psutil.wait_procs(left, timeout=60)
    assert not left, left


@pytest.fixture(scope="session")
def platform(rehearsal: tuple[PlatformUnderTest, dict[str, Any]]) -> PlatformUnderTest:
    return rehearsal[0]


def _of(process: psutil.Process, folder: str) -> bool:
    return any(folder in argument for argument in process.info["cmdline"] or [])
