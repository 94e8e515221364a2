"""Providers for Pulumi that stand in for the official ones where those are not installed.

Every `pulumi` command starts its providers, and importing the `pulumi` package takes half a second, of which a
provider uses the generated protocol classes alone. Their parent packages are therefore put in place unexecuted.
"""

import sys
from importlib.machinery import PathFinder
from types import ModuleType


def import_protocol_alone() -> None:
    """Make `pulumi.runtime.proto` importable without running `pulumi/__init__.py`.

    For a process that needs nothing else of the SDK; does nothing where the SDK is loaded already.
    """
    path: list[str] | None = None
    for name in ("pulumi", "pulumi.runtime"):
        if name in sys.modules:
            return
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.submodule_search_locations is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        path = list(spec.submodule_search_locations)
        package = ModuleType(name)
        package.__path__ = path
        sys.modules[name] = package
