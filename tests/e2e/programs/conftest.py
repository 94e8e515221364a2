"""The wheels of the four packages, as a release has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.pulumi_program import run


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make wheels` fills."""
    folder = tmp_path_factory.mktemp("wheels")
    run(("make", "--silent", "wheels", f"DIST={folder}"), REPOSITORY, dict(os.environ))
    return folder


@pytest.fixture(scope="session")
def constraints() -> str:
    """This repository's locked dependencies, so that tests install what is there already."""
    locked = (BIN / "uv", "export", "--frozen", "--all-packages", "--no-emit-workspace", "--no-hashes", "--quiet")
    return run(locked, REPOSITORY, dict(os.environ)).stdout
