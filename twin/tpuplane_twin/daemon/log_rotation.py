"""Limits the size of a twin's logs, to which processes only append."""

import asyncio
import contextlib
import logging
import time
from pathlib import Path

from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.pods.orders import UID_DIGITS
from tpuplane_twin.pods.pod import PODS

logger = logging.getLogger(__name__)

LARGEST = 64 << 20
"""Size in bytes above which a log is shortened."""

_KEPT = 16 << 20  # bytes at the end of a log that are kept
_GONE_SECONDS = 24 * 3600  # after the last line of a deleted pod's log, until the log is deleted
_EVERY_SECONDS = 600.0


async def upkeep(paths: TwinPaths) -> None:
    """Tidy the twin's logs until cancelled."""
    while True:
        try:
            await asyncio.to_thread(tidy, paths)
        except OSError as error:
            logger.warning("the logs could not be tidied: %s", error)
        await asyncio.sleep(_EVERY_SECONDS)


def tidy(paths: TwinPaths) -> None:
    """Shorten large logs to their end, and delete old logs of deleted pods."""
    for log in [*paths.logs.glob("*.log"), *paths.clusters.glob("*/logs/*.log")]:
        with contextlib.suppress(FileNotFoundError):  # its cluster is deleted
            if _is_left(log):
                log.unlink()
            elif log.stat().st_size > LARGEST:
                _shorten(log)


def _is_left(log: Path) -> bool:
    kind, *name = log.stem.split("_")
    if not kind.startswith("pod-") or len(name) < 2 or time.time() - log.stat().st_mtime < _GONE_SECONDS:
        return False
    pods = log.parents[1] / PODS
    return not any(pods.glob(f"{name[1]}*")) and len(name[1]) == UID_DIGITS


def _shorten(log: Path) -> None:
    # In place, because the process has the log open for appending.
    with log.open("r+b") as stream:
        stream.seek(-_KEPT, 2)
        _, _, end = stream.read().partition(b"\n")
        stream.truncate(0)
        stream.seek(0)
        stream.write(end)
