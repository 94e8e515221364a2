"""Programs as their projects publish them, checked against the published checksums.

What is not published for this platform, or cannot be reached, is left to the compiler. What is wrong is an error.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

from tpuplane_twin.tools.catalogue import Release, Source, ToolError, version_of
from tpuplane_twin.tools.download import BLOCK, FAILURES, cause_of, download, without_secrets
from tpuplane_twin.tools.progress import ProgressCallback, Status
from tpuplane_twin.tools.store import PUBLISHED, Store

VARIABLE = "TPUPLANE_RELEASES"
"""Names a mirror: a folder or an https address with the files of each project's host in HOST/PATH; or `none`."""
_NONE = "none"
_CONNECT = 5  # seconds for a connection
_ABSENT = (HTTPError, FileNotFoundError)


class _Unavailable(Exception):
    """Why a source is compiled."""


def install(missing: Sequence[Source], store: Store, progress: ProgressCallback) -> tuple[Source, ...]:
    """Download what is published, and return what is to be compiled, after a line for each reason.

    Raises `ToolError`; no tool is then installed in part.
    """
    if os.environ.get(VARIABLE) == _NONE:
        return tuple(missing)
    hosts = _Hosts(store, progress)
    rest = []
    compiled: dict[str, list[str]] = {}
    for source in missing:
        try:
            _install(source, store, hosts)
        except _Unavailable as reason:
            rest.append(source)
            if source.binaries and source.own is None:
                compiled.setdefault(str(reason), []).append(f"{source.name} {source.version}")
    for why, names in compiled.items():
        verb = "is" if len(names) == 1 else "are"
        progress(Status(f"{', '.join(names)} {verb} compiled: {why}", lasting=True))
    return tuple(rest)


def _install(source: Source, store: Store, hosts: "_Hosts") -> None:
    release, system = source.release, store.system
    if release is None or str(system) not in release.platforms:
        raise _Unavailable(f"not published with checksums for {system}")
    version = release.version(source)
    architecture = release.architectures.get(system.goarch, system.goarch)
    with store.publishing(source) as folder:
        for program in source.binaries:
            names = {"version": version, "program": program, "goos": system.goos, "goarch": architecture}
            target = folder / "bin" / program
            place = _fetch(release, names, target, hosts)
            arguments = release.reports.get(program)
            if arguments is not None:
                _check_version(target, arguments, version, place)
        if release.package:
            (folder / PUBLISHED).write_text(version)


def _fetch(release: Release, names: Mapping[str, str], target: Path, hosts: "_Hosts") -> str:
    """Write the program to `target`, and return where its file is."""
    place, checksums = hosts.place(release.file.format(**names)), hosts.place(release.checksums.format(**names))
    with hosts.opened(checksums, target.name) as listed:
        expected = _expected(listed.read().decode(errors="replace"), checksums, place.rpartition("/")[2])
    with hosts.opened(place, target.name) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != expected:
            raise ToolError(
                f"{place} is damaged: {checksums} has another SHA-256 digest; "
                "run the command again, or set TPUPLANE_RELEASES=none"
            )
        stream.seek(0)
        _unpack(stream, release.member.format(**names), target, place)
    return place


def _expected(listed: str, checksums: str, name: str) -> str:
    """The digest of the file `name`, which is alone in its file, or has a line with the name."""
    found = listed.split()
    if len(found) > 1:
        lines = [line.split() for line in listed.splitlines()]
        found = [words[0] for words in lines if words[1:] in ([name], [f"*{name}"])]
    if len(found) != 1 or not re.fullmatch("[0-9a-f]{64}", found[0]):
        raise ToolError(
            f"{checksums} has no SHA-256 digest of {name}; run the command again, or set TPUPLANE_RELEASES=none"
        )
    return found[0]


def _unpack(stream: io.BufferedIOBase, member: str, target: Path, place: str) -> None:
    """Write the program. It is a member of an archive, or the stream itself."""
    try:
        if member:
            with tarfile.open(fileobj=stream, mode="r:gz") as archive, target.open("wb") as program:
                content = archive.extractfile(member)
                if content is None:
                    raise KeyError(member)
                shutil.copyfileobj(content, program, BLOCK)
        else:
            with target.open("wb") as program:
                shutil.copyfileobj(stream, program, BLOCK)
    except (KeyError, tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ToolError(
            f"{place} has no program {member}; run the command again, or set TPUPLANE_RELEASES=none"
        ) from error
    target.chmod(0o755)


def _check_version(program: Path, arguments: Sequence[str], version: str, place: str) -> None:
    quiet = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    reported = version_of(program, *arguments, environment=quiet)
    if not re.search(rf"(?<![\w.-])v?{re.escape(version)}(?![\w.-])", reported):
        first = reported.partition("\n")[0] or "no version"
        raise ToolError(
            f"{place}: {program.name} reports {first} instead of {version}; "
            "run the command again, or set TPUPLANE_RELEASES=none"
        )


class _Hosts:
    """The hosts of the projects, or their mirror. After a failed connection, a host is not tried again."""

    def __init__(self, store: Store, progress: ProgressCallback) -> None:
        self._store = store
        self._progress = progress
        self._mirror = _mirror()
        self._failed: dict[str, _Unavailable] = {}

    def place(self, address: str) -> str:
        """Where the file of an address is: there, or in the mirror."""
        return f"{self._mirror}/{address.removeprefix('https://')}" if self._mirror else address

    def opened(self, place: str, program: str) -> io.BufferedIOBase:
        """The file at a place. Raises `_Unavailable`."""
        host = urlsplit(place).hostname or self._mirror
        if host in self._failed:
            raise self._failed[host]

        def report(fraction: float | None) -> None:
            self._progress(Status(f"downloading {program} from {host}", program, fraction))

        try:
            if "://" in place:
                return download(place, self._store.root, report, _CONNECT)
            return Path(place).open("rb")
        except _ABSENT as error:
            raise _Unavailable(f"{place} is not available ({cause_of(error)})") from error
        except FAILURES as error:
            self._failed[host] = _Unavailable(f"{host} cannot be reached ({cause_of(error)})")
            raise self._failed[host] from error


def _mirror() -> str:
    """The mirror, without a slash at its end; empty without one. Raises `ToolError`."""
    place = os.environ.get(VARIABLE, "").rstrip("/")
    if not place or re.fullmatch(r"https://[^/?#@]+(/[^?#]*)?", place):
        return place
    if "://" not in place and Path(place).expanduser().is_dir():
        return str(Path(place).expanduser())
    raise ToolError(
        f"{VARIABLE}: {without_secrets(place)} is neither a folder nor an https address; allowed: a folder or an "
        f"https address with files in HOST/PATH, or the word none, to compile the tools"
    )
