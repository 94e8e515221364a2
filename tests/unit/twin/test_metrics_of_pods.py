"""What the metrics API says that a process uses."""

from __future__ import annotations

import os

import psutil
import pytest
from tpuplane_twin.pods.metrics import Usage, _Meter

pytestmark = pytest.mark.unit


def test_a_process_is_measured_with_its_children_and_one_that_is_gone_is_left_out() -> None:
    ended = psutil.Popen(["true"])
    ended.wait()
    found = _Meter().read({("me", "one"): os.getpid(), ("gone", "one"): ended.pid})
    assert list(found) == [("me", "one")]
    usage = found["me", "one"]
    assert usage.memory >= psutil.Process().memory_info().rss // 1024 // 2
    assert usage.cpu > 0
    assert usage.seconds > 0


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3.0) + Usage(10, 20, 1.0) == Usage(11, 22, 3.0)
    assert Usage(1_500_000, 2048).shown == {"cpu": "1500000n", "memory": "2048Ki"}
