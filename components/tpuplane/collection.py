"""Garbage collection while modules are imported, or the objects of a cluster are read."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept() -> Iterator[None]:
    """Collect no garbage within, and never examine the objects of that moment: nearly all are kept."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
