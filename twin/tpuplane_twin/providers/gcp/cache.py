"""Lists that many resources read: the node pools of a cluster, the instance group managers of a zone.

The official plugin keeps them for five minutes, so that refreshing a hundred pools costs one request and not a hundred.
Setting both VCR_PATH and VCR_MODE turns this off, there as here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

_LIFETIME_SECONDS: Final = 300.0


def lifetime() -> float:
    """How long an entry is good, in seconds."""
    return 0.0 if os.environ.get("VCR_PATH") and os.environ.get("VCR_MODE") else _LIFETIME_SECONDS


@dataclass(slots=True)
class ListCache:
    """Items by full name. A missing or old item makes the whole list be read again, by one thread at a time."""

    _items: dict[str, tuple[float, Any]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, name: str, read_list: Callable[[], Mapping[str, Any]]) -> Any:
        """The item, None if the list does not have it. `read_list` answers full name → item."""
        with self._lock:
            at, item = self._items.get(name, (float("-inf"), None))
            now = time.monotonic()
            if now - at > lifetime():
                self._items.pop(name, None)
                self._items.update({key: (now, value) for key, value in read_list().items()})
                item = self._items.get(name, (0.0, None))[1]
            return item

    def drop(self, name: str) -> None:
        """Forget an item that changed."""
        with self._lock:
            self._items.pop(name, None)
