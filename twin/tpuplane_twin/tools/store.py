"""The tool cache: builds appear atomically, and one process builds at a time."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tpuplane_twin.machine.files import try_lock
from tpuplane_twin.tools.catalogue import Platform, Source
from tpuplane_twin.tools.golang import parse_version

PUBLISHED = "version"
"""The file with the version of a release that has another version than its source."""
_UNFINISHED = ".building-"
_POLL = 0.5  # seconds


class Store:
    """The folder `tools` of the user's cache. A build with its final name is complete."""

    def __init__(self, cache: Path, system: Platform) -> None:
        self.cache = cache
        self.root = cache / "tools"
        self.system = system

    def folder(self, source: Source) -> Path:
        """The folder of `source`."""
        return self.root / source.key(self.system)

    def has(self, source: Source) -> bool:
        """Whether `source` is there with every program, and its release is not older than the Python package of it."""
        folder = self.folder(source)
        if not all(os.access(folder / "bin" / name, os.X_OK) for name in source.binaries):
            return False
        published = folder / PUBLISHED
        if source.release is None or not published.exists():
            return folder.is_dir()
        return parse_version(published.read_text()) >= parse_version(source.release.version(source))

    def log(self, source: Source) -> Path:
        """The log of the last build of `source`, emptied."""
        folder = self.root / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{source.name}-{source.version}.log"
        path.write_text("")
        return path

    @contextmanager
    def locked(self, waiting: Callable[[], bool]) -> Iterator[bool]:
        """Hold the lock of builds: yields True.

        While another process has it, `waiting` is called twice a second; when it is True, because the wanted tools are
        complete, False is yielded. The kernel releases the lock of a dead process, so unfinished builds that exist
        under the lock are deleted.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("w") as lock:
            while not try_lock(lock):
                if waiting():
                    yield False
                    return
                time.sleep(_POLL)
            for leftover in self.root.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            yield True

    @contextmanager
    def publishing(self, source: Source) -> Iterator[Path]:
        """An empty folder, renamed to its final name when the block succeeds, else deleted."""
        scratch = self.root / f"{_UNFINISHED}{source.name}"
        (scratch / "bin").mkdir(parents=True)
        try:
            yield scratch
            final = self.folder(source)
            shutil.rmtree(final, ignore_errors=True)
            scratch.rename(final)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def copy_writable(origin: Path, target: Path) -> None:
    """Copy a folder of Go's module cache, whose files are read-only, as files that can be removed again."""
    for folder, _, files in os.walk(origin):
        to = target / Path(folder).relative_to(origin)
        to.mkdir(parents=True, exist_ok=True)
        for name in files:
            shutil.copyfile(Path(folder) / name, to / name)
