"""TPU slices, node pools and platforms on GKE.

Each name of `__init__.pyi` is imported on first use. So the command line, the policies and the twin can use the
catalogue, the spec and the plan, which are pure, without the import of Pulumi and its providers.
"""

from typing import Any

import lazy_loader

from tpuplane.collection import kept

_first_use, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a name. Garbage collection skips what the providers' modules keep: half a million objects."""
    with kept():
        return _first_use(name)
