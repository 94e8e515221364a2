"""The tools of `tools.yaml` and `gomod/`, and the cache keys of their builds."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Self

from tpuplane.data_files import read_yaml

HERE = Path(__file__).parent
# No debugger's tables: they would double the binaries and take a tenth of the time. Stack traces keep their names.
COMPILE_FLAGS = ("-trimpath", "-gcflags=all=-dwarf=false")
_LINK_FLAGS = "-s -w"
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class ToolError(RuntimeError):
    """A tool is not available. The message has its name, the cause, the log and the remedy."""


def run(command: Sequence[str | Path], failure: str, remedy: str = "", **options: Any) -> str:
    """The output of a command. Raises `ToolError` with the end of its error messages, after `failure`."""
    result: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options
    )
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines()[-8:]
        tail = "\n".join(f"  {line}" for line in lines)
        raise ToolError(f"{failure}. {Path(command[0]).name} reports:\n{tail}" + (f"\n{remedy}" if remedy else ""))
    return result.stdout


def version_of(command: str | Path, *arguments: str, environment: Mapping[str, str]) -> str:
    """The version that a command prints; empty if it fails."""
    try:
        return run([command, *arguments], "", env=dict(environment), timeout=30).strip()
    except (OSError, subprocess.SubprocessError, ToolError):
        return ""


@dataclass(frozen=True, slots=True)
class Release:
    """The programs of a source as its project publishes them. `tools.yaml` says what its templates contain."""

    file: str
    """The address of a program, or of an archive (tar.gz) with it."""
    checksums: str
    """The address of the file's SHA-256 digest, alone or in a list of digests and names."""
    platforms: Sequence[str]
    """GOOS/GOARCH."""
    member: str = ""
    """The path of the program in the archive."""
    reports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Arguments with which programs print their version."""
    architectures: Mapping[str, str] = field(default_factory=dict)
    """Names of the project, by Go's."""
    package: str = ""
    """The installed Python package that has the version of the release; without it, the source has."""

    def version(self, source: "Source") -> str:
        """The version of the release, without v."""
        return installed(self.package) if self.package else source.version.removeprefix("v")


@dataclass(frozen=True, slots=True)
class Source:
    """One go.mod: what one `go build` makes. `seconds` is the usual compile time, used for progress only."""

    name: str
    module: str
    version: str
    seconds: float
    why: str
    binaries: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    on_request: bool = False
    """Built only by its name. A twin uses it where it is built."""
    own: Path | None = None
    """The folder of its go.mod and go.sum, if it is not one of `gomod/`."""
    release: Release | None = None
    """Its programs, if they are published with checksums."""

    @property
    def go_mod_folder(self) -> Path:
        """The folder of its go.mod and go.sum."""
        return self.own or HERE / "gomod" / self.name

    @property
    def tools(self) -> tuple[str, ...]:
        """Its names for `ensure`: its programs, or its own name without any."""
        return tuple(self.binaries) or (self.name,)

    @property
    def packages(self) -> tuple[str, ...]:
        """The import paths of its programs."""
        return tuple(self.binaries.values())

    @property
    def ldflags(self) -> str:
        """The linker's flags."""
        major, minor, *_ = self.version.removeprefix("v").split(".")
        own = {"version": self.version, "major": major, "minor": minor}
        return " ".join([_LINK_FLAGS, *(f"-X {name}={value.format(**own)}" for name, value in self.variables.items())])

    def key(self, system: "Platform") -> str:
        """The cache folder's name: version, and a digest of all inputs of the build.

        The Go release is not part of it: programs stay valid when the user's Go changes, and reading its version
        would take longer than everything else.
        """
        shape = [dict(self.binaries), self.folders, COMPILE_FLAGS, self.ldflags, system.goos, system.goarch]
        digest = hashlib.sha256(json.dumps(shape).encode())
        # The folder of a user's operator also has its record and its chart.
        for file in sorted({*self.go_mod_folder.glob("go.*"), *self.go_mod_folder.glob("*.go")}):
            digest.update(file.read_bytes())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Platform:
    """This machine by Go's names."""

    goos: str
    goarch: str

    def __str__(self) -> str:
        return f"{self.goos}/{self.goarch}"

    @classmethod
    def here(cls) -> Self:
        """Raises `ToolError` on systems that the twin does not run on."""
        system, machine = platform.system().lower(), platform.machine().lower()
        if system not in ("linux", "darwin") or machine not in _ARCHITECTURES:
            raise ToolError(
                f"the twin does not run on {platform.system()} {platform.machine()}; it runs on Linux, "
                f"on {', '.join(sorted(set(_ARCHITECTURES)))}"
            )
        return cls(system, _ARCHITECTURES[machine])


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything in `tools.yaml`, in the order of the builds."""

    sources: tuple[Source, ...]
    disk_gib: float
    remedies: Sequence[Mapping[str, Any]]
    """What users can do about messages of Go: `signs` are parts of a message."""
    alike: tuple[tuple[Source, ...], ...]
    """Sources that agree on the versions of their libraries, except of those in `unlike`."""
    unlike: tuple[str, ...]
    shared: tuple[str, ...]
    """Libraries on whose versions all sources agree."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool's name, as `ensure` takes it."""
        return tuple(name for source in self.sources for name in source.tools)

    @property
    def usual(self) -> tuple[Source, ...]:
        """The sources without those that are built on request only."""
        return tuple(source for source in self.sources if not source.on_request)

    def sources_of(self, names: Iterable[str]) -> tuple[Source, ...]:
        """The sources that make `names`, in the order of the builds. Raises `ToolError` for an unknown name."""
        wanted = set(names)
        if unknown := sorted(wanted - set(self.names)):
            raise ToolError(f"unknown tools: {', '.join(unknown)}; allowed: {', '.join(self.names)}")
        return tuple(source for source in self.sources if wanted.intersection(source.tools))


@cache
def catalogue() -> Catalogue:
    """`tools.yaml`, read once."""
    data: dict[str, Any] = read_yaml(HERE / "tools.yaml")
    sources = tuple(_source(**entry) for entry in data["sources"])
    named = {source.name: source for source in sources}
    alike = tuple(tuple(named[name] for name in group) for group in data["alike"])
    return Catalogue(
        sources, float(data["disk_gib"]), data["remedies"], alike, tuple(data["unlike"]), tuple(data["shared"])
    )


def _source(*, folders: Sequence[str] = (), release: Mapping[str, Any] | None = None, **entry: Any) -> Source:
    return Source(folders=tuple(folders), release=Release(**release) if release else None, **entry)
