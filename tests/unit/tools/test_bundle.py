"""The built tools in one file: unpacked in another cache without a compiler, and rejected when it is wrong."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin import tools
from tpuplane_twin.cli import app
from tpuplane_twin.tools import ToolError
from tpuplane_twin.tools.catalogue import Platform, catalogue
from tpuplane_twin.tools.progress import Status
from tpuplane_twin.tools.store import Store
from typer.testing import CliRunner

pytestmark = pytest.mark.unit


def files(cache: Path) -> dict[str, tuple[bytes, int]]:
    """Content and mode of each file of the tools."""
    found = (cache / "tools").glob("*-*/**/*")
    return {
        str(path.relative_to(cache)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in found
        if path.is_file()
    }


def test_another_cache_has_the_same_files(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, digest = packed
    assert digest == hashlib.sha256(file.read_bytes()).hexdigest()
    monkeypatch.setenv("TPUPLANE_TOOLS", f"{file}#sha256={digest.upper()}")
    seen: list[Status] = []
    found = tools.ensure(progress=seen.append, cache=tmp_path / "other")
    assert found.binary("kube-apiserver").read_text() == "built\n"
    assert files(tmp_path / "other") == files(tmp_path / "built") != {}
    total = len(catalogue().usual)
    assert [status.text for status in seen] == [
        f"unpacking {status.tool} ({number} of {total})" for number, status in enumerate(seen, 1)
    ]
    assert tools.write_bundle(tmp_path / "again.zip", cache=tmp_path / "other") == digest


def test_only_missing_tools_are_unpacked(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", str(packed[0]))
    tools.ensure(["etcd"], cache=tmp_path / "other")
    assert {name.split("/")[1].split("-v")[0] for name in files(tmp_path / "other")} == {"etcd"}


def test_no_bundle_is_read_when_all_is_cached(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", "/nowhere.zip")
    assert tools.ensure(["etcd"], cache=tmp_path / "built").binary("etcd").exists()


def changed(change: Callable[[dict[str, bytes]], None]) -> Callable[[Path], None]:
    """A bundle with other files: its first one is the list."""

    def repack(file: Path) -> None:
        with zipfile.ZipFile(file) as bundle:
            content = {name: bundle.read(name) for name in bundle.namelist()}
        change(content)
        with zipfile.ZipFile(file, "w") as bundle:
            for name, data in content.items():
                bundle.writestr(name, data)

    return repack


@changed
def damaged(content: dict[str, bytes]) -> None:
    content |= {name: data.replace(b"built", b"other") for name, data in content.items()}


@changed
def without_a_file(content: dict[str, bytes]) -> None:
    content.pop(next(name for name in content if "/bin/etcd" in name))


@changed
def without_its_list(content: dict[str, bytes]) -> None:
    content.pop(next(iter(content)))


def listed(**changes: Any) -> Callable[[Path], None]:
    @changed
    def change(content: dict[str, bytes]) -> None:
        name = next(iter(content))
        content[name] = json.dumps({**json.loads(content[name]), **changes}).encode()

    return change


def named(after: str) -> Callable[[Path], None]:
    """A bundle whose etcd has another name; `{}` is the folder of the tool."""

    @changed
    def change(content: dict[str, bytes]) -> None:
        own, *names = content
        described = json.loads(content[own])
        before = next(name for name in names if "/bin/etcd" in name)
        name = after.format(before.partition("/")[0])
        content[name] = content.pop(before)
        described["files"][name] = described["files"].pop(before)
        content[own] = json.dumps(described).encode()

    return change


def moded(mode: int) -> Callable[[Path], None]:
    """A bundle in which each file has this mode."""

    def repack(file: Path) -> None:
        with zipfile.ZipFile(file) as bundle:
            members = [(entry, bundle.read(entry)) for entry in bundle.infolist()]
        with zipfile.ZipFile(file, "w") as bundle:
            for member, data in members:
                member.external_attr = mode << 16
                bundle.writestr(member, data)

    return repack


@changed
def file_that_is_a_folder(content: dict[str, bytes]) -> None:
    own, *names = content
    described = json.loads(content[own])
    folder = next(name for name in names if "/bin/etcd" in name).rpartition("/")[0]
    content[folder] = b""
    described["files"][folder] = hashlib.sha256(b"").hexdigest()
    content[own] = json.dumps(described).encode()


def headers(offset: int, value: int, *, skip: int = 0) -> Callable[[Path], None]:
    """A bundle with another value at this place of the headers of its members, which local headers have 2 earlier."""

    def patch(file: Path) -> None:
        data = bytearray(file.read_bytes())
        for signature, at in ((b"PK\1\2", offset), (b"PK\3\4", offset - 2)):
            for member in list(re.finditer(re.escape(signature), data))[skip:]:
                data[member.start() + at] = value
        file.write_bytes(data)

    return patch


def before_its_begin(file: Path) -> None:
    """Its list of members is larger than the file."""
    data = bytearray(file.read_bytes())
    data[data.rindex(b"PK\5\6") + 15] = 1
    file.write_bytes(data)


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    at = data.index(b"/bin/etcd") + len("/bin/etcd") + 2
    data[at] ^= 0xFF
    file.write_bytes(data)


def no_bundle(file: Path) -> None:
    file.write_bytes(b"x" * 2000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged, "is damaged; download the bundle again"),
        (truncated, "is not a complete bundle"),
        (flipped, "is not a complete bundle"),
        (before_its_begin, "is not a complete bundle"),
        (headers(6, 99), "is not a complete bundle"),
        (without_a_file, "is not a complete bundle (no etcd-"),
        (without_its_list, "is not a bundle"),
        (listed(platform="plan9/mips"), "is for plan9/mips, and this machine needs one for "),
        (listed(files={}), "lacks etcd v3.6.8; create a bundle with this version"),
        (listed(files=["etcd"]), "is not a bundle"),
        (named("{}/../../etcd"), "is not a bundle"),
        (named("{}//dev/null/etcd"), "is not a bundle"),
        (named("/{}/etcd"), "is not a bundle"),
        (named("{}/./etcd"), "is not a bundle"),
        (named("{}/bin/"), "is not a bundle"),
        (named("{}\\..\\etcd"), "is not a bundle"),
        (named("{}/bin/etcd\n"), "is not a bundle"),
        (named("{}/" + "x" * 256), "is not a bundle"),
        (file_that_is_a_folder, "is not a bundle"),
        (headers(8, 1), "is not a bundle"),
        (headers(8, 1, skip=1), "is not a bundle"),
        (headers(10, 97), "is not a bundle"),
        (headers(10, zipfile.ZIP_LZMA, skip=1), "is not a bundle"),
        (moded(0o120777), "which is not a regular file; download the bundle again"),
        (no_bundle, "is not a complete bundle"),
        (Path.unlink, "cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_bundle_is_rejected(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, message: str
) -> None:
    change(packed[0])
    monkeypatch.setenv("TPUPLANE_TOOLS", str(packed[0]))
    with pytest.raises(ToolError) as raised:
        tools.ensure(["etcd"], cache=tmp_path / "other")
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"TPUPLANE_TOOLS: {packed[0]}")
    store = Store(tmp_path / "other", Platform.here())
    assert not any(store.has(source) for source in catalogue().sources)


@pytest.mark.parametrize(("mode", "kept"), [(0o106755, 0o755), (0o104711, 0o755), (0o100666, 0o644), (0, 0o644)])
def test_a_file_is_a_program_or_not(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, kept: int
) -> None:
    """Neither set-uid nor the rights of others to write are taken from a bundle."""
    moded(mode)(packed[0])
    monkeypatch.setenv("TPUPLANE_TOOLS", str(packed[0]))
    with suppress(ToolError):  # a tool without a program is reported
        tools.ensure(["etcd"], cache=tmp_path / "other")
    modes = {path.stat().st_mode & 0o7777 for path in (tmp_path / "other/tools").glob("etcd-*/**/*") if path.is_file()}
    assert modes == {kept}


NO_DIGEST = "has a # without a digest after it; allowed: #sha256= and 64 hexadecimal digits"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (f"{{}}#sha256={'0' * 64}", "does not have the SHA-256 digest 0000"),
        (f"{{}}#SHA256={'A' * 64}", "does not have the SHA-256 digest aaaa"),
        ("{}#sha256=", NO_DIGEST),
        (f"{{}}#sha256={'0' * 63}", NO_DIGEST),
        ("{}#md5=0", "cannot be read: No such file"),
        ("https://localhost:1/tools.zip#sha256=", NO_DIGEST),
        ("https://localhost:1/tools.zip#md5=0", NO_DIGEST),
    ],
)
def test_another_digest_is_rejected(
    packed: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, message: str
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", place.format(packed[0]))
    with pytest.raises(ToolError, match=message):
        tools.ensure(["etcd"], cache=tmp_path / "other")


@pytest.mark.parametrize("file", ["none/tools.zip", "."])
def test_a_bundle_that_cannot_be_written_is_reported_before_the_build(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_CACHE", str(tmp_path / "cache"))
    result = CliRunner().invoke(app, ["build", "--bundle", str(tmp_path / file)])
    assert (result.exit_code, "cannot be written; name a file" in " ".join(result.output.split())) == (1, True)
    assert not (tmp_path / "cache").exists()
