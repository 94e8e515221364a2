"""Events as an API server has them."""

from __future__ import annotations

from typing import Any


def event(about: str, reason: str, message: str, *, second: int = 0, kind: str = "Pod") -> dict[str, Any]:
    return {
        "metadata": {"name": f"{about}.{reason}", "namespace": "research", "resourceVersion": str(second)},
        "involvedObject": {"kind": kind, "namespace": "research", "name": about, "uid": about},
        "reason": reason,
        "message": message,
        "lastTimestamp": f"2026-11-22T15:00:0{second}Z",
    }
