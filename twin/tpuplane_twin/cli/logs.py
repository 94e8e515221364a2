"""Printing logs, all of them or one process's."""

from __future__ import annotations

import time
from pathlib import Path

from tpuplane_twin.cli.console import console
from tpuplane_twin.client import TwinError
from tpuplane_twin.paths import TwinPaths


def show(paths: TwinPaths, process: str | None, *, follow: bool, lines: int) -> None:
    """Print the last `lines` of each log whose name contains `process`; go on until Ctrl-C with `follow`.

    Raises `TwinError` when no log has such a name.
    """
    files = _files(paths, process)
    if not files:
        known = ", ".join(sorted(_title(paths, file) for file in _files(paths, None)))
        raise TwinError(
            f"no log of twin {paths.name!r} is called {process!r}; there are: {known}"
            if known
            else f"the twin {paths.name!r} has no logs; start it with `tpuplane-twin up`"
        )
    offsets = {file: _tail(paths, file, lines) for file in files}
    while follow:
        time.sleep(0.5)
        for file in _files(paths, process):
            offsets[file] = _since(paths, file, offsets.get(file, 0))


def _files(paths: TwinPaths, process: str | None) -> list[Path]:
    return [file for file in sorted(paths.root.glob("**/*.log")) if process is None or process in _title(paths, file)]


def _title(paths: TwinPaths, file: Path) -> str:
    parts = [part for part in file.relative_to(paths.root).with_suffix("").parts if part not in ("logs", "clusters")]
    return "/".join(parts)


def _tail(paths: TwinPaths, file: Path, lines: int) -> int:
    data = file.read_bytes()
    for line in data.decode(errors="replace").splitlines()[-lines:]:
        console.print(f"[dim]{_title(paths, file)}[/dim] ", end="")
        console.print(line, markup=False, soft_wrap=True)
    return len(data)


def _since(paths: TwinPaths, file: Path, offset: int) -> int:
    with file.open("rb") as stream:
        stream.seek(offset)
        data = stream.read()
    for line in data.decode(errors="replace").splitlines():
        console.print(f"[dim]{_title(paths, file)}[/dim] ", end="")
        console.print(line, markup=False, soft_wrap=True)
    return offset + len(data)
