"""What holds for every test."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import configuration, settings


def pytest_configure(config: pytest.Config) -> None:
    # Hypothesis keeps its examples beside the code unless told otherwise.
    folder = tempfile.TemporaryDirectory(prefix="hypothesis-")
    configuration.set_hypothesis_home_dir(folder.name)
    config.add_cleanup(folder.cleanup)
    # No deadline (machines differ), no example database left on disk.
    settings.register_profile("tpuplane", deadline=None, database=None)
    settings.load_profile("tpuplane")
