"""Printing logs, all of them or one process's."""

import json
import time
from pathlib import Path

import typer

from tpuplane_twin.cli.console import console
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.machine.paths import TwinPaths, name_option

_INTERVAL = 0.5  # seconds between two reads with `follow`


def show(paths: TwinPaths, process: str | None, *, follow: bool, lines: int, as_json: bool) -> None:
    """Print the last `lines` of each log whose name contains `process`; with `follow`, continue until Ctrl-C.

    With `as_json`, each line is an object with `log` and `line`.

    Raises `TwinError` when no log has such a name.
    """
    files = _files(paths, process)
    if not files:
        known = ", ".join(sorted(_title(paths, file) for file in _files(paths, None)))
        raise TwinError(
            f"the twin {paths.name!r} has no log {process!r}; it has: {known}"
            if known
            else f"the twin {paths.name!r} has no logs; start it with `tpuplane-twin up{name_option(paths.name)}`"
        )
    offsets: dict[Path, int] = {}
    while True:
        for file in _files(paths, process):
            # A log that was shortened meanwhile is smaller.
            offset = min(offsets.get(file, 0), file.stat().st_size)
            with file.open("rb") as stream:
                stream.seek(offset)
                data = stream.read()
            for line in data.decode(errors="replace").splitlines()[0 if file in offsets else -lines :]:
                _print(_title(paths, file), line, as_json=as_json)
            offsets[file] = offset + len(data)
        if not follow:
            return
        time.sleep(_INTERVAL)


def _files(paths: TwinPaths, process: str | None) -> list[Path]:
    return [file for file in sorted(paths.root.glob("**/*.log")) if process is None or process in _title(paths, file)]


def _title(paths: TwinPaths, file: Path) -> str:
    parts = [part for part in file.relative_to(paths.root).with_suffix("").parts if part not in ("logs", "clusters")]
    return "/".join(parts)


def _print(title: str, line: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"log": title, "line": line}))
        return
    console.print(f"[dim]{title}[/dim] ", end="")
    console.print(line, markup=False, soft_wrap=True)
