"""Pods of a job that run."""

from __future__ import annotations

from typing import Any

from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.eventually import wait_until


def running(
    platform: PlatformUnderTest, context: str, selector: str, count: int, namespace: str = "default"
) -> list[dict[str, Any]]:
    """The pods of a selector, once `count` of them run."""

    def all_run(pods: list[dict[str, Any]]) -> bool:
        return sum(pod["status"].get("phase") == "Running" for pod in pods) == count == len(pods)

    return wait_until(lambda: platform.items(context, "pods", "-l", selector, "-n", namespace), all_run)
