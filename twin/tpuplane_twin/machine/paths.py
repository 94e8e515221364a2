"""The folders of a twin: one folder of state per twin, one cache of built tools per user."""

import hashlib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import platformdirs

TWIN, HOME = "TPUPLANE_TWIN", "TPUPLANE_TWIN_HOME"
"""The variables that name the twin that commands act on, and the folder of all twins."""
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?")


class TwinNameError(ValueError):
    """The twin's name is invalid, or its folder is not a twin's."""


class NoHome(RuntimeError):
    """The user has no home folder. The message names the variable that replaces it."""


def cache_root() -> Path:
    """The user's cache of built tools: `$TPUPLANE_CACHE`, else the system's cache folder for `tpuplane`."""
    configured = os.environ.get("TPUPLANE_CACHE")
    return Path(configured).expanduser() if configured else _users("TPUPLANE_CACHE", platformdirs.user_cache_dir)


def twins_root() -> Path:
    """The folder of all this user's twins: `$TPUPLANE_TWIN_HOME`, else the system's state folder."""
    configured = os.environ.get(HOME)
    return Path(configured).expanduser() if configured else _users(HOME, platformdirs.user_state_dir) / "twins"


def _users(variable: str, folder: Callable[[str], str]) -> Path:
    try:
        return Path(folder("tpuplane"))
    except RuntimeError as error:  # a user of a container
        raise NoHome(f"this user has no home folder; set HOME, or set {variable} to a writable folder") from error


def commands() -> Path:
    """A folder with the commands of this installation, for the shells of all twins: `down` deletes no part of it."""
    return cache_root() / "commands" / hashlib.sha256(sys.prefix.encode()).hexdigest()[:16]


def users_path() -> str:
    """PATH without the executables of twins, which a shell of a twin has in front."""
    folders = (Path(each) for each in os.environ.get("PATH", os.defpath).split(os.pathsep))
    own = commands().parent
    return os.pathsep.join(
        str(folder)
        for folder in folders
        if folder.parent != own and not TwinPaths(folder.parent.name, folder.parent).is_twin()
    )


def all_twins() -> list[str]:
    """The names of this user's twins, up or not, without other folders."""
    root = twins_root()
    names = (folder.name for folder in root.iterdir()) if root.exists() else ()
    return sorted(name for name in names if _NAME.fullmatch(name) and TwinPaths.of(name).is_twin())


def name_option(name: str) -> str:
    """The option with which a command acts on the twin `name`: " --name NAME", or empty for the current twin."""
    return "" if name == os.environ.get(TWIN, "local") else f" --name {name}"


class _Below:
    """A path below the folder of a twin."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, twin: "TwinPaths", owner: type[object]) -> Path:
        return twin.root.joinpath(*self._parts)


@dataclass(frozen=True, slots=True)
class TwinPaths:
    """The state folder of one twin. Mode 0700: it holds the twin's credentials."""

    name: str
    root: Path

    marker = _Below(".tpuplane-twin")
    """Marks the folder as a twin's: the first file that is written into it, and the last that is deleted."""
    gcp = _Below("gcp")
    """State of Google's API."""
    clusters = _Below("clusters")
    """One folder for each control plane."""
    bin = _Below("bin")
    """Executables, first on PATH in a shell of this twin."""
    charts = _Below("charts")
    """Helm charts of add-ons, of the releases that the twin runs."""
    pulumi = _Below("pulumi")
    """Pulumi's home and backend."""
    backend = _Below("pulumi", "backend")
    """The `file://` backend: state and locks of the stacks."""
    logs = _Below("logs")
    """One log for each process."""
    token_file = _Below("token")
    """The bearer token of this twin, mode 0600."""
    trusted = _Below("twin-trusted.pem")
    """Certificates that programs in a shell of this twin trust: this machine's, and the twin's authority."""
    kubeconfig = _Below("kubeconfig")
    """One context for each cluster, without tokens: the exec plugin in `bin` has them."""
    gcloud = _Below("gcloud")
    """gcloud's configuration in a shell of this twin; gcloud creates it."""
    record = _Below("twin.json")
    """The running supervisor: its process, the creation time of that, and its address."""
    timeline = _Below("timeline.json")
    """The result of the last rehearsal of a scenario or a trace, with its picture."""
    ports = _Below("ports.json")
    """The twin's port book."""

    @classmethod
    def of(cls, name: str = "local") -> Self:
        """The paths of the twin called `name`: 1 to 32 lower-case letters, digits, hyphens, a letter first.

        Raises `TwinNameError` for any other name.
        """
        if not _NAME.fullmatch(name):
            raise TwinNameError(
                f"{name!r} is not a twin's name; allowed: 1 to 32 lower-case letters, digits and hyphens, "
                "starting with a letter and not ending with a hyphen; for example: local, team-a"
            )
        return cls(name, (twins_root() / name).absolute())

    def make(self) -> Self:
        """Create the folders. Raises `OSError` if that fails, `TwinNameError` if the folder is not a twin's."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.check()
        self.root.chmod(0o700)
        self.marker.touch()
        for folder in (self.gcp, self.clusters, self.bin, self.charts, self.pulumi, self.logs):
            folder.mkdir(exist_ok=True)
        return self

    def is_twin(self) -> bool:
        """Whether the folder has a twin's state."""
        return os.access(self.marker, os.F_OK)

    def check(self) -> None:
        """Raise `TwinNameError` if the folder has files and is not a twin's."""
        if self.root.exists() and not self.is_twin() and any(self.root.iterdir()):
            raise TwinNameError(
                f"{self.root} is not a twin's folder: it has no file {self.marker.name}. It stays as it is. "
                "Give the twin another --name, or set TPUPLANE_TWIN_HOME to a folder for twins alone"
            )
