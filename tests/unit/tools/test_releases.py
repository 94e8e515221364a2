"""Programs of the projects' releases, from a mirror with the layout of their hosts: whole, damaged, incomplete."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import re
import socket
import tarfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.tools import ToolError, catalogue, releases
from tpuplane_twin.tools.catalogue import Platform
from tpuplane_twin.tools.progress import Status
from tpuplane_twin.tools.store import Store

from tests.support.https_server import serving

pytestmark = pytest.mark.unit

GOARCH = Platform.here().goarch
PIN = {source.name: source.version.removeprefix("v") for source in catalogue().sources}
SDK = version("pulumi-kubernetes")
GITHUB = "github.com/{}/releases/download/v{}"
ETCD = f"{GITHUB.format('etcd-io/etcd', PIN['etcd'])}/etcd-v{PIN['etcd']}-linux-{GOARCH}.tar.gz"
PULUMI = GITHUB.format("pulumi/pulumi", PIN["pulumi"])
PROVIDER = GITHUB.format("pulumi/pulumi-kubernetes", SDK)
YAML = GITHUB.format("pulumi/pulumi-yaml", PIN["pulumi-language-yaml"])
ACTIONLINT = GITHUB.format("rhysd/actionlint", PIN["actionlint"])
HELM = f"get.helm.sh/helm-v{PIN['helm']}-linux-{GOARCH}.tar.gz"

RELEASED = tuple(source for source in catalogue().sources if source.release)
NAMES = [name for source in RELEASED for name in source.tools]
REMEDY = "run the command again, or set TPUPLANE_RELEASES=none"


def program(text: str) -> bytes:
    return f"#!/bin/sh\necho '{text}'\n".encode()


def archive(member: str, content: bytes) -> bytes:
    """A tar.gz with the program, after another file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as files:
        for name, data in (("LICENSE", b"Apache License"), (member, content)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            files.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


class Mirror:
    """The files of all hosts below one folder. `put` writes a file and its checksum as the project publishes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, content: bytes, *, sums: str = "") -> None:
        """With `sums`, the checksum is a line of that list in the same folder, else alone in NAME.sha256."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        if sums:
            lines = (f"{'0' * 64}  other-{file.name}", f"{digest}  {file.name}", f"{'1' * 64}  {file.name}.sig")
            (file.parent / sums).write_text("".join(f"{line}\n" for line in lines))
        else:
            file.with_name(f"{file.name}.sha256").write_text(digest)

    def put_etcd(self, content: bytes) -> None:
        self.put(ETCD, content, sums="SHA256SUMS")


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    mirror = Mirror(tmp_path / "mirror")
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        folder = f"dl.k8s.io/release/v{PIN['kubernetes']}/bin/linux/{GOARCH}"
        mirror.put(f"{folder}/{name}", program(f"Kubernetes v{PIN['kubernetes']}"))
    mirror.put(f"{folder}/kubectl", program(f"Client Version: v{PIN['kubernetes']}\nKustomize Version: v5.8.1"))
    etcd = program(f"etcd Version: {PIN['etcd']}\nGit SHA: 4c1a1a3")
    mirror.put_etcd(archive(f"etcd-v{PIN['etcd']}-linux-{GOARCH}/etcd", etcd))
    x64 = {"amd64": "x64"}.get(GOARCH, GOARCH)
    pulumi = archive("pulumi/pulumi", program(f"v{PIN['pulumi']}"))
    sums = f"pulumi-{PIN['pulumi']}-checksums.txt"
    mirror.put(f"{PULUMI}/pulumi-v{PIN['pulumi']}-linux-{x64}.tar.gz", pulumi, sums=sums)
    provider = archive("pulumi-resource-kubernetes", program("the provider"))
    sums = f"pulumi-kubernetes_{SDK}_checksums.txt"
    mirror.put(f"{PROVIDER}/pulumi-resource-kubernetes-v{SDK}-linux-{GOARCH}.tar.gz", provider, sums=sums)
    pin = PIN["pulumi-language-yaml"]
    host, sums = archive("pulumi-language-yaml", program("the host")), f"pulumi-yaml-{pin}-checksums.txt"
    mirror.put(f"{YAML}/pulumi-language-yaml-v{pin}-linux-{GOARCH}.tar.gz", host, sums=sums)
    mirror.put(HELM, archive(f"linux-{GOARCH}/helm", program(f"v{PIN['helm']}+g5b8c0a4")))
    lint = archive("actionlint", program(f"{PIN['actionlint']}\ninstalled by downloading from release page"))
    name = f"actionlint_{PIN['actionlint']}"
    mirror.put(f"{ACTIONLINT}/{name}_linux_{GOARCH}.tar.gz", lint, sums=f"{name}_checksums.txt")
    monkeypatch.setenv("TPUPLANE_RELEASES", str(mirror.folder))
    return mirror


def lasting(seen: list[Status]) -> list[str]:
    return [status.text for status in seen if status.lasting]


def test_all_are_released_programs(mirror: Mirror, script: object, tmp_path: Path) -> None:
    seen: list[Status] = []
    found = tools.ensure(NAMES, seen.append, cache=tmp_path / "cache")
    assert "Kubernetes v" in found.binary("kube-scheduler").read_text()
    assert "the provider" in found.binary("pulumi-resource-kubernetes").read_text()
    assert found.binary("helm").stat().st_mode & 0o777 == 0o755
    assert found.binaries.keys() == set(NAMES)
    assert seen == []  # files of a folder are not downloaded, and none is compiled
    mirror.folder.rename(tmp_path / "gone")
    assert tools.ensure(NAMES, cache=tmp_path / "cache").binaries == found.binaries


def test_a_mirror_over_https(mirror: Mirror, go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mirror.folder / HELM).unlink()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(mirror.folder))
    seen: list[Status] = []
    with serving(handler, tmp_path, monkeypatch) as address:
        monkeypatch.setenv("TPUPLANE_RELEASES", f"{address}/")
        found = tools.ensure(["etcd", "helm"], seen.append, cache=tmp_path / "cache")
    assert PIN["etcd"] in found.binary("etcd").read_text()
    assert found.binary("helm").read_text() == "built\n"
    assert seen[0] == Status("downloading etcd from localhost", "etcd", 1.0)
    missing = f"{address}/{HELM} is not available (HTTP Error 404: File not found)"
    assert lasting(seen) == [f"helm v{PIN['helm']} is compiled: {missing}"]


def test_what_a_mirror_lacks_is_compiled(mirror: Mirror, go: Path, tmp_path: Path) -> None:
    (mirror.folder / ETCD).with_name("SHA256SUMS").unlink()
    seen: list[Status] = []
    found = tools.ensure(["etcd", "kwok", "helm"], seen.append, cache=tmp_path / "cache")
    assert found.binary("etcd").read_text() == found.binary("kwok").read_text() == "built\n"
    assert PIN["helm"] in found.binary("helm").read_text()
    sums = (mirror.folder / ETCD).with_name("SHA256SUMS")
    assert lasting(seen) == [
        f"kwok v{PIN['kwok']} is compiled: not published with checksums for linux/{GOARCH}",
        f"etcd v{PIN['etcd']} is compiled: {sums} is not available (No such file or directory)",
    ]
    # What is not compiled does not count for the estimate.
    assert "compiling kwok v0.8.0 (1 of 2), 1 of about 2 packages" in [status.text for status in seen]


def test_a_host_that_cannot_be_reached_is_tried_once(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("TPUPLANE_RELEASES", f"https://localhost:{port}")
    seen: list[Status] = []
    tools.ensure(["etcd", "helm"], seen.append, cache=tmp_path / "cache")
    both = f"etcd v{PIN['etcd']}, helm v{PIN['helm']} are compiled"
    assert lasting(seen) == [f"{both}: localhost cannot be reached (Connection refused)"]


def test_for_another_platform_all_is_compiled(mirror: Mirror, tmp_path: Path) -> None:
    (etcd,) = catalogue().sources_of(["etcd"])
    seen: list[Status] = []
    store = Store(tmp_path / "cache", Platform("darwin", "arm64"))
    assert releases.install((etcd,), store, seen.append) == (etcd,)
    assert lasting(seen) == [f"etcd v{PIN['etcd']} is compiled: not published with checksums for darwin/arm64"]


def damaged(mirror: Mirror) -> None:
    file = mirror.folder / ETCD
    file.write_bytes(file.read_bytes()[:-1])


def without_its_checksum(mirror: Mirror) -> None:
    sums = (mirror.folder / ETCD).with_name("SHA256SUMS")
    sums.write_text(sums.read_text().replace(f"  etcd-v{PIN['etcd']}-linux", "  etcd-linux"))


def with_another_kind_of_checksum(mirror: Mirror) -> None:
    sums = (mirror.folder / ETCD).with_name("SHA256SUMS")
    sums.write_text(re.sub(r"(?m)^[0-9a-f]{64}", "a" * 40, sums.read_text()))


def empty_checksum(mirror: Mirror) -> None:
    (mirror.folder / ETCD).with_name("SHA256SUMS").write_text("\n")


def without_the_program(mirror: Mirror) -> None:
    mirror.put_etcd(archive(f"etcd-v{PIN['etcd']}-linux-{GOARCH}/etcdctl", program(PIN["etcd"])))


def no_archive(mirror: Mirror) -> None:
    mirror.put_etcd(program(PIN["etcd"]))


def another_version(mirror: Mirror) -> None:
    mirror.put_etcd(archive(f"etcd-v{PIN['etcd']}-linux-{GOARCH}/etcd", program(f"etcd Version: {PIN['etcd']}1\nGit")))


def no_version(mirror: Mirror) -> None:
    mirror.put_etcd(archive(f"etcd-v{PIN['etcd']}-linux-{GOARCH}/etcd", b"#!/bin/sh\nexit 1\n"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged, "{etcd} is damaged: {sums} has another SHA-256 digest"),
        (without_its_checksum, "{sums} has no SHA-256 digest of etcd-v{pin}-linux-{goarch}.tar.gz"),
        (with_another_kind_of_checksum, "{sums} has no SHA-256 digest of etcd-v{pin}-linux-{goarch}.tar.gz"),
        (empty_checksum, "{sums} has no SHA-256 digest of etcd-v{pin}-linux-{goarch}.tar.gz"),
        (without_the_program, "{etcd} has no program etcd-v{pin}-linux-{goarch}/etcd"),
        (no_archive, "{etcd} has no program etcd-v{pin}-linux-{goarch}/etcd"),
        (another_version, "{etcd}: etcd reports etcd Version: {pin}1 instead of {pin}"),
        (no_version, "{etcd}: etcd reports no version instead of {pin}"),
    ],
)
def test_what_is_wrong_is_never_used_and_never_compiled(
    mirror: Mirror, go: Path, tmp_path: Path, change: Callable[[Mirror], None], message: str
) -> None:
    change(mirror)
    etcd = mirror.folder / ETCD
    names = {"etcd": etcd, "sums": etcd.with_name("SHA256SUMS"), "pin": PIN["etcd"], "goarch": GOARCH}
    with pytest.raises(ToolError) as raised:
        tools.ensure(["etcd"], cache=tmp_path / "cache")
    assert str(raised.value) == f"{message.format(**names)}; {REMEDY}"
    assert not (tmp_path / "calls.log").exists()
    assert not list((tmp_path / "cache" / "tools").glob("*etcd*"))


def test_a_release_that_is_older_than_the_sdk_is_renewed(mirror: Mirror, script: object, tmp_path: Path) -> None:
    """The engine warns about a provider that is older than the SDK of the program."""
    name = "pulumi-resource-kubernetes"
    found = tools.ensure([name], cache=tmp_path / "cache").binary(name)
    recorded = found.parents[1] / "version"
    assert recorded.read_text() == SDK
    before = found.stat().st_ino
    recorded.write_text("99.0.0")
    assert tools.ensure([name], cache=tmp_path / "cache").binary(name).stat().st_ino == before
    recorded.write_text("4.0.0")
    tools.ensure([name], cache=tmp_path / "cache")
    assert (recorded.read_text(), found.stat().st_ino == before) == (SDK, False)


def test_a_bundle_has_its_place_before_the_releases(
    packed: tuple[Path, str], mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TPUPLANE_TOOLS", str(packed[0]))
    assert tools.ensure(["etcd"], cache=tmp_path / "other").binary("etcd").read_text() == "built\n"
    monkeypatch.delenv("TPUPLANE_TOOLS")
    assert PIN["etcd"] in tools.ensure(["etcd"], cache=tmp_path / "another").binary("etcd").read_text()


def test_none_compiles_all_without_a_line(go: Path, tmp_path: Path) -> None:
    seen: list[Status] = []
    assert tools.ensure(["etcd"], seen.append, cache=tmp_path / "cache").binary("etcd").read_text() == "built\n"
    assert lasting(seen) == []


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("/nowhere", "/nowhere"),
        ("http://mirror.example.com", "http://mirror.example.com"),
        ("https://me:secret@mirror.example.com", "https://mirror.example.com"),
        ("https://mirror.example.com/?token=secret", "https://mirror.example.com/"),
    ],
)
def test_another_value_is_rejected(place: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_RELEASES", place)
    with pytest.raises(ToolError) as raised:
        tools.ensure(["etcd"], cache=tmp_path / "cache")
    assert str(raised.value) == (
        f"TPUPLANE_RELEASES: {shown} is neither a folder nor an https address; allowed: a folder or an https address "
        "with files in HOST/PATH, or the word none, to compile the tools"
    )
