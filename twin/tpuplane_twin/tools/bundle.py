"""A bundle: all built tools in one file. Another machine unpacks it and compiles nothing.

Its first member lists the platform and the SHA-256 digest of each file. The same tools make the same bundle.
"""

import errno
import gzip
import hashlib
import io
import itertools
import json
import os
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import urlsplit

from tpuplane_twin.tools.catalogue import Source, ToolError, catalogue
from tpuplane_twin.tools.progress import ProgressCallback, Status
from tpuplane_twin.tools.store import Store

VARIABLE = "TPUPLANE_TOOLS"
"""Names a bundle: a file or an https address, with #sha256=DIGEST to verify it as a whole."""
_LIST = "bundle.json"
_BLOCK = 1 << 20
_DAMAGED = (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError, json.JSONDecodeError)


def write(file: Path, store: Store) -> str:
    """Write all tools of the cache to a bundle, and return the bundle's SHA-256 digest."""
    folders = sorted(store.folder(source) for source in catalogue().sources)
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    names = [path.relative_to(store.root).as_posix() for path in files]
    listed = {"platform": _platform(store), "files": dict(zip(names, map(_digest, files), strict=True))}
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with (
            scratch.open("wb") as raw,
            gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|") as bundle,
        ):
            text = json.dumps(listed, indent=1).encode()
            bundle.addfile(_member(_LIST, len(text), 0o644), io.BytesIO(text))
            for name, path in zip(names, files, strict=True):
                with path.open("rb") as stream:
                    bundle.addfile(_member(name, path.stat().st_size, path.stat().st_mode & 0o755), stream)
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
    return _digest(file)


def unpack(place: str, missing: Sequence[Source], store: Store, progress: ProgressCallback) -> None:
    """Unpack the missing tools from the bundle at `place`. Raises `ToolError`; no tool is then unpacked in part."""
    address, _, digest = place.partition("#sha256=")
    shown = f"{VARIABLE}: {_without_secrets(address)}"
    with _opened(address, shown, store, progress) as stream:
        if digest and _sha256(stream) != digest:
            raise ToolError(f"{shown} has another SHA-256 digest than {digest}; download it again")
        stream.seek(0)
        try:
            with tarfile.open(fileobj=stream, mode="r|gz") as bundle:
                _unpack(bundle, missing, store, progress, shown)
        except _DAMAGED as error:
            raise ToolError(f"{shown} is not a complete bundle ({error}); download it again") from error


def _unpack(
    bundle: tarfile.TarFile, missing: Sequence[Source], store: Store, progress: ProgressCallback, shown: str
) -> None:
    members = iter(bundle)
    listed = _listed(bundle, next(members, None), shown)
    if listed["platform"] != _platform(store):
        raise ToolError(f"{shown} is for {listed['platform']}, and this machine is {_platform(store)}; use its bundle")
    digests: Mapping[str, str] = listed["files"]
    sources = {store.folder(source).name: source for source in missing}
    if lacks := sorted(sources.keys() - {name.partition("/")[0] for name in digests}):
        raise ToolError(
            f"{shown} lacks {', '.join(f'{sources[it].name} {sources[it].version}' for it in lacks)}; create a bundle "
            f"with this version (tpuplane-twin build --bundle FILE), or unset {VARIABLE} to compile the tools"
        )
    for key, group in itertools.groupby(members, key=lambda member: member.name.partition("/")[0]):
        if not sources:
            break
        if key in sources:
            source = sources.pop(key)
            number = len(missing) - len(sources)
            share = (number - 1) / len(missing)
            progress(Status("unpacking", f"{source.name} {source.version}", number, len(missing), share))
            wanted = {name: it for name, it in digests.items() if name.startswith(f"{key}/")}
            with store.publishing(source) as folder:
                _copy(bundle, group, wanted, folder, shown)
    if sources:
        raise ToolError(f"{shown} is not a complete bundle (no {', '.join(sources)}); download it again")


def _copy(
    bundle: tarfile.TarFile, members: Iterable[tarfile.TarInfo], wanted: dict[str, str], folder: Path, shown: str
) -> None:
    """Copy the files of one source. Each must be in the list with its digest, and each of the list must be there."""
    for member in members:
        parts = PurePosixPath(member.name).parts[1:]
        content = bundle.extractfile(member)
        expected = wanted.pop(member.name, None)
        if content is None or expected is None or ".." in parts:
            raise ToolError(f"{shown}: {member.name} is not a file of its list; download the bundle again")
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as stream:
            while block := content.read(_BLOCK):
                stream.write(block)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)
        if _digest(target) != expected:
            raise ToolError(f"{shown}: {member.name} is damaged; download the bundle again")
    if wanted:
        raise ToolError(f"{shown} is not a complete bundle (no {next(iter(wanted))}); download it again")


def _listed(bundle: tarfile.TarFile, first: tarfile.TarInfo | None, shown: str) -> dict[str, Any]:
    content = bundle.extractfile(first) if first is not None and first.name == _LIST else None
    found = json.load(content) if content is not None else None
    if not isinstance(found, dict) or not isinstance(found.get("files"), dict):
        raise ToolError(f"{shown} is not a bundle; create one with tpuplane-twin build --bundle FILE")
    return {"platform": None, **found}


def _opened(address: str, shown: str, store: Store, progress: ProgressCallback) -> IO[bytes]:
    """The file, or a downloaded copy of an https address, which is deleted when it is closed."""
    if "://" in address and urlsplit(address).scheme != "https":
        raise ToolError(f"{shown} is neither a file nor an https address")
    try:
        return _download(address, store, progress) if "://" in address else Path(address).expanduser().open("rb")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ToolError(f"{shown} cannot be read: {error.strerror or error}") from error


def _download(address: str, store: Store, progress: ProgressCallback) -> IO[bytes]:
    copy = tempfile.TemporaryFile(dir=store.root)  # noqa: SIM115 (the caller closes it)
    try:
        with urllib.request.urlopen(address) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(_BLOCK):
                copy.write(block)
                progress(Status("downloading", "the bundle", 1, 1, copy.tell() / size if size else 0.0))
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy


def _platform(store: Store) -> str:
    return f"{store.system.goos}/{store.system.goarch}"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return _sha256(stream)


def _sha256(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _member(name: str, size: int, mode: int) -> tarfile.TarInfo:
    """A member without times and owners."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, mode
    return member


def _without_secrets(address: str) -> str:
    """The address without user and query, which may hold a credential."""
    parts = urlsplit(address)
    return f"https://{parts.hostname}{parts.path}" if parts.scheme == "https" else address
