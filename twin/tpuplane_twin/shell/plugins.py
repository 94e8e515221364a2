"""Pulumi plugins of a twin, installed in the engine's plugin folder, and the stand-ins for official ones.

For a plugin on PATH the engine prints a warning at every command ("using … from $PATH"). A plugin in the folder of the
twin's PULUMI_HOME has no warning, and its version is checked.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.tools import ToolError

Kind = Literal["language", "resource"]

_STAND_INS = "tpuplane_twin.plugins"


def install_plugin(home: Path, kind: Kind, name: str, version: str, argv: Sequence[str | Path]) -> Path:
    """Make `argv` the plugin of that kind, name and version (as in 10.2.0) in the PULUMI_HOME `home`.

    Other versions that were installed there before are removed: the engine would take the newest that fits.
    Returns the plugin's executable.
    """
    remove_plugin(home, kind, name, keep=version)
    folder = _folder(home, kind, name, version)
    folder.mkdir(parents=True, exist_ok=True)
    executable = folder / f"pulumi-{kind}-{name}"
    command = " ".join(shlex.quote(str(part)) for part in argv)
    write_atomic(executable, f'#!/bin/sh\nexec {command} "$@"\n', mode=0o755)
    return executable


def remove_plugin(home: Path, kind: Kind, name: str, *, keep: str | None = None) -> None:
    """Remove what `install_plugin` made, except version `keep`."""
    # A folder ends with "/". The engine keeps files next to it: when it last ran the plugin, and its locks.
    for folder in (home / "plugins").glob(f"{kind}-{name}-v*/"):
        if keep is None or folder != _folder(home, kind, name, keep):
            shutil.rmtree(folder)


def find_installed(kind: Kind, name: str, version: str, path: str, homes: Sequence[Path]) -> Path | None:
    """The official plugin on `path` (as in PATH), or of that exact version in one of `homes`; None without one."""
    file = f"pulumi-{kind}-{name}"
    if found := shutil.which(file, path=path):
        return Path(found)
    candidates = (_folder(home, kind, name, version) / file for home in homes)
    return next((candidate for candidate in candidates if os.access(candidate, os.X_OK)), None)


def stand_in(kind: Kind, name: str) -> list[str]:
    """The command of the stand-in for an official plugin: an entry point KIND-NAME of an installed package.

    It names a module, which Python runs as a program. Raises `ToolError`.
    """
    for found in entry_points(group=_STAND_INS, name=f"{kind}-{name}"):
        return [sys.executable, "-m", found.value]
    official = (
        f"`pulumi plugin install resource {name}`" if kind == "resource" else "https://www.pulumi.com/docs/install/"
    )
    raise ToolError(
        f"no plugin pulumi-{kind}-{name} is installed; install the official one ({official}), or the stand-ins: "
        "the Python package tpuplane-twin[standins]"
    )


def _folder(home: Path, kind: Kind, name: str, version: str) -> Path:
    return home / "plugins" / f"{kind}-{name}-v{version}"
