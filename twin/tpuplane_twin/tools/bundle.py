"""A bundle: all built tools in one zip file. Another machine unpacks it and compiles nothing.

Its first member lists the platform and the SHA-256 digest of each file. The same tools make the same bundle.
"""

import errno
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from tpuplane_twin.tools.catalogue import Source, ToolError, catalogue
from tpuplane_twin.tools.download import BLOCK, FAILURES, cause_of, download, without_secrets
from tpuplane_twin.tools.progress import ProgressCallback, Status
from tpuplane_twin.tools.store import Store

VARIABLE = "TPUPLANE_TOOLS"
"""Names a bundle: a file or an https address, with #sha256=DIGEST to verify it as a whole."""
_LIST = "tpuplane-tools.json"
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1  # the bit of a member's flags
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
_NAME_MAX = 255  # bytes of a file's name on Linux


def _inside(name: str) -> str:
    """The name of a file in a bundle: TOOL/PATH. Raises `ValueError` if it can leave the folder of its tool."""
    path = PurePosixPath(name)
    # A name in another spelling, such as TOOL//etc/x, is an absolute path behind the tool's folder.
    if name != str(path) or path.is_absolute() or ".." in path.parts or "\\" in name:
        raise ValueError("leaves its folder")
    if not name.isprintable() or any(len(part.encode()) > _NAME_MAX for part in path.parts):
        raise ValueError("is not a name of a file")
    return name


def _apart(files: dict[str, str]) -> dict[str, str]:
    """The files, none of which is the folder of another."""
    if files.keys() & {str(folder) for name in files for folder in PurePosixPath(name).parents}:
        raise ValueError("has a file that is also a folder")
    return files


class _Listed(BaseModel):
    """What a bundle says of itself: digests by file."""

    platform: str
    files: Annotated[dict[Annotated[str, AfterValidator(_inside)], str], AfterValidator(_apart)]


def write(file: Path, store: Store) -> str:
    """Write all tools of the cache to a bundle, and return the bundle's SHA-256 digest."""
    folders = sorted(store.folder(source) for source in catalogue().usual)
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {path.relative_to(store.root).as_posix(): path for path in paths}
    listed = {"platform": str(store.system), "files": {name: _digest(path) for name, path in files.items()}}
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(scratch, "w") as bundle:
            bundle.writestr(zipfile.ZipInfo(_LIST), json.dumps(listed, indent=1), zipfile.ZIP_DEFLATED)
            for name, path in files.items():
                member = zipfile.ZipInfo(name)  # without the time of the file
                member.compress_type, member.file_size = zipfile.ZIP_DEFLATED, path.stat().st_size
                member.external_attr = (0o755 if os.access(path, os.X_OK) else 0o644) << 16
                with path.open("rb") as content, bundle.open(member, "w") as packed:
                    shutil.copyfileobj(content, packed, BLOCK)
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
    return _digest(file)


def unpack(place: str, missing: Sequence[Source], store: Store, progress: ProgressCallback) -> None:
    """Unpack the missing tools from the bundle at `place`. Raises `ToolError`; no tool is then unpacked in part."""
    address, digest = _parts(place)
    shown = f"{VARIABLE}: {without_secrets(address)}"
    with _opened(address, shown, store, progress) as stream:
        if digest and hashlib.file_digest(stream, "sha256").hexdigest() != digest:
            raise ToolError(
                f"{shown} does not have the SHA-256 digest {digest}; copy or download it again, or correct the digest"
            )
        try:
            with zipfile.ZipFile(stream) as bundle:
                _unpack(bundle, missing, store, progress, shown)
        except _DAMAGES as error:
            # zipfile seeks to the offset that a damaged bundle names.
            if isinstance(error, OSError) and error.errno != errno.EINVAL:
                raise
            raise ToolError(f"{shown} is not a complete bundle ({error}); download it again") from error


def _parts(place: str) -> tuple[str, str]:
    """The address of a bundle, and its digest or "". Raises `ToolError` for one that would not be verified."""
    if match := re.fullmatch("(.+)#sha256=([0-9a-f]{64})", place, re.IGNORECASE):
        return match[1], match[2].lower()
    address, mark, _ = place.partition("#")
    # The name of a file can have the mark.
    if mark and ("://" in place or "#sha256=" in place.lower()):
        raise ToolError(
            f"{VARIABLE}: {without_secrets(address)} has a # without a digest after it; "
            "allowed: #sha256= and 64 hexadecimal digits; correct or remove it"
        )
    return place, ""


def _unpack(
    bundle: zipfile.ZipFile, missing: Sequence[Source], store: Store, progress: ProgressCallback, shown: str
) -> None:
    members = {member.filename: member for member in bundle.infolist()}
    try:
        _check_members(members.values())
        listed = _Listed.model_validate_json(bundle.read(_LIST))
    except (KeyError, ValueError) as error:
        raise ToolError(f"{shown} is not a bundle; create one with tpuplane-twin build --bundle FILE") from error
    if listed.platform != str(store.system):
        raise ToolError(
            f"{shown} is for {listed.platform}, and this machine needs one for {store.system}; "
            "create one on such a machine with tpuplane-twin build --bundle FILE"
        )
    files = listed.files
    names = [[name for name in files if name.startswith(f"{store.folder(source).name}/")] for source in missing]
    if lacks := [f"{source.name} {source.version}" for source, own in zip(missing, names, strict=True) if not own]:
        raise ToolError(
            f"{shown} lacks {', '.join(lacks)}; create a bundle with this version "
            f"(tpuplane-twin build --bundle FILE), or unset {VARIABLE} to download or compile the tools"
        )
    if absent := sorted(files.keys() - members.keys()):
        raise ToolError(f"{shown} is not a complete bundle (no {absent[0]}); download it again")
    modes = {name: members[name].external_attr >> 16 for name in files}
    if odd := [name for name, mode in modes.items() if stat.S_IFMT(mode) not in (0, stat.S_IFREG)]:
        raise ToolError(f"{shown} has {odd[0]}, which is not a regular file; download the bundle again")
    for index, (source, own) in enumerate(zip(missing, names, strict=True)):
        share = index / len(missing)
        tool = f"{source.name} {source.version}"
        progress(Status(f"unpacking {tool} ({index + 1} of {len(missing)})", tool, share))
        with store.publishing(source) as folder:
            for name in own:
                target = folder / name.partition("/")[2]
                target.parent.mkdir(parents=True, exist_ok=True)
                with bundle.open(name) as content, target.open("wb") as stream:
                    shutil.copyfileobj(content, stream, BLOCK)
                target.chmod(0o755 if modes[name] & stat.S_IXUSR else 0o644)
                if _digest(target) != files[name]:
                    raise ToolError(f"{shown}: {name} is damaged; download the bundle again")


def _check_members(members: Iterable[zipfile.ZipInfo]) -> None:
    """Raise `ValueError` if a member is not as `write` writes it: zipfile reports it as an error of the program."""
    if any(member.flag_bits & _ENCRYPTED or member.compress_type not in _COMPRESSIONS for member in members):
        raise ValueError("is encrypted, or has another compression")


def _opened(address: str, shown: str, store: Store, progress: ProgressCallback) -> io.BufferedIOBase:
    """The file, or a downloaded copy of an https address, which is deleted when it is closed."""

    def report(fraction: float | None) -> None:
        progress(Status("downloading the bundle", fraction=fraction))

    try:
        return download(address, store.root, report) if "://" in address else Path(address).expanduser().open("rb")
    except FAILURES as error:
        raise ToolError(
            f"{shown} cannot be read: {cause_of(error)}; name a file or an https address "
            f"(tpuplane-twin build --bundle FILE writes one), or unset {VARIABLE} to download or compile the tools"
        ) from error


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
