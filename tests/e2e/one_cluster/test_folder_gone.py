"""A twin whose folder is deleted by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psutil
import pytest

from tests.support import BIN
from tests.support.e2e.platform_under_test import PlatformUnderTest

pytestmark = pytest.mark.e2e


def test_a_supervisor_ends_with_its_folder(tmp_path: Path) -> None:
    platform = PlatformUnderTest(tmp_path)
    up = json.loads(platform.run(BIN / "tpuplane-twin", "up", "--json").stdout)
    supervisor = psutil.Process(up["pid"])
    shutil.rmtree(platform.folder / "twins")
    assert supervisor.wait(timeout=60) in (0, None)
    assert platform.twin("status", check=False).returncode == 1
