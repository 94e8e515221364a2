from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from tpuplane_twin import tools
from tpuplane_twin.tools import ToolError
from tpuplane_twin.tools.catalogue import Platform, catalogue
from tpuplane_twin.tools.official import find_official
from tpuplane_twin.tools.progress import Status
from tpuplane_twin.tools.store import Store

from tests.support.executables import Script

pytestmark = pytest.mark.unit


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def finished(cache: Path) -> list[str]:
    return sorted(
        path.name.split("-v")[0] for path in (cache / "tools").iterdir() if path.name not in (".lock", "logs")
    )


def test_missing_tools_are_built_with_progress(go: Path, tmp_path: Path) -> None:
    seen: list[Status] = []
    found = tools.ensure(["etcd", "kueue"], seen.append, cache=tmp_path / "cache")

    assert found.binary("etcd").read_text() == "built\n"
    copy = found.module("kueue") / "config" / "crd" / "kind.yaml"
    assert copy.read_text() == "kind: CustomResourceDefinition\n"
    copy.write_text("a file of the module cache is read-only; its copy can be removed")
    texts = [status.text for status in seen]
    assert texts[0] == "preparing the Go toolchain"
    assert "compiling kueue v0.18.3 (1 of 2), 1 of about 2 packages" in texts
    # etcd's packages were compiled for Kueue: none is expected again.
    assert {text for text in texts if "etcd" in text} == {
        "downloading etcd v3.6.8 (2 of 2)",
        "linking etcd v3.6.8 (2 of 2)",
    }
    fractions = [status.fraction for status in seen[1:]]
    assert fractions == sorted(fractions)


def test_no_process_is_started_when_all_is_there(go: Path, tmp_path: Path) -> None:
    tools.ensure(["etcd", "kueue"], cache=tmp_path / "cache")
    calls = (tmp_path / "calls.log").read_text()
    go.unlink()
    seen: list[Status] = []
    again = tools.ensure(["kueue", "etcd"], seen.append, cache=tmp_path / "cache")
    assert again.binary("kueue").exists()
    assert seen == []
    assert (tmp_path / "calls.log").read_text() == calls


def test_a_lost_program_is_built_again(go: Path, tmp_path: Path) -> None:
    found = tools.ensure(["etcd"], cache=tmp_path / "cache")
    found.binary("etcd").unlink()
    assert tools.ensure(["etcd"], cache=tmp_path / "cache").binary("etcd").exists()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("main.go:1: mkdir /x: no space left on device", "Free some disk space"),
        ("x: Get https://proxy.example/x: dial tcp: lookup proxy.example: no such host", "cannot be reached"),
        ("example.com/b: /go/compile: signal: killed", "ran out of memory"),
        (
            "verifying x@v1: checksum mismatch",
            "ask the administrator of the module proxy (GOPROXY) why before you continue",
        ),
        ("reading https://proxy.example/x.info: 404 Not Found", "use another proxy"),
        ("a.go:1:1: something new", "the log says more"),
    ],
)
def test_a_failed_build_has_one_message(go: Path, tmp_path: Path, said: str, remedy: str) -> None:
    (tmp_path / "fails").write_text(f"{said}\n")
    cache = tmp_path / "cache"
    with pytest.raises(ToolError) as raised:
        tools.ensure(["etcd"], cache=cache)
    message = str(raised.value)
    log = cache / "tools" / "logs" / "etcd-v3.6.8.log"
    assert message.startswith("etcd v3.6.8 could not be built. Go's output:\n")
    assert said in message
    assert "example.com/a" not in message
    assert str(log) in message
    assert remedy in message
    assert "example.com/a" in log.read_text()
    assert finished(cache) == []

    (tmp_path / "fails").unlink()
    assert tools.ensure(["etcd"], cache=cache).binary("etcd").exists()


def test_builds_before_a_failure_are_kept(go: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def fail_at_etcd(status: Status) -> None:
        if status.tool.startswith("etcd"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tools.ensure(["etcd", "kueue"], fail_at_etcd, cache=cache)
    assert finished(cache) == ["kueue"]


def test_a_killed_build_is_not_taken_for_done_and_its_remains_go(go: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (source,) = catalogue().sources_of(["etcd"])
    store = Store(cache, Platform.here())
    remains = store.root / ".building-etcd"
    (remains / "bin").mkdir(parents=True)
    (remains / "bin" / "etcd").write_text("half")
    assert not store.has(source)
    assert tools.ensure(["etcd"], cache=cache).binary("etcd").read_text() == "built\n"
    assert not remains.exists()


def test_the_second_of_two_calls_waits_and_builds_nothing(go: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    store = Store(cache, Platform.here())
    waiting = threading.Event()
    texts: set[str] = set()

    def note(status: Status) -> None:
        texts.add(status.text)
        waiting.set()

    (source,) = catalogue().sources_of(["etcd"])
    with store.locked(lambda: pytest.fail("nobody else is here")):
        second = threading.Thread(target=tools.ensure, args=(["etcd"], note), kwargs={"cache": cache})
        second.start()
        assert waiting.wait(30)
        with store.publishing(source) as folder:
            shutil.copy(go, folder / "bin" / "etcd")
        # The first goes on with other tools; the second has what it came for.
        second.join(30)
        assert not second.is_alive()
    assert texts == {"waiting for another build of the same tools to end"}
    assert not (tmp_path / "calls.log").exists()


def test_the_second_of_two_builds_when_the_first_gave_up(go: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    waiting = threading.Event()
    second = threading.Thread(
        target=tools.ensure, args=(["etcd"], lambda status: waiting.set()), kwargs={"cache": cache}
    )
    with Store(cache, Platform.here()).locked(lambda: pytest.fail("nobody else is here")):
        second.start()
        assert waiting.wait(30)
    second.join(30)
    assert finished(cache) == ["etcd"]


def test_a_full_disk_is_found_before_the_first_compile(
    go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12, 10**6))
    with pytest.raises(ToolError, match=r"takes about \d\.\d GiB, and the disk of .* has 0\.0 GiB free.*GOCACHE"):
        tools.ensure(["etcd", "pulumi", "jobset"], cache=tmp_path / "cache")
    assert "build" not in (tmp_path / "calls.log").read_text()


def test_a_tool_that_was_not_requested_is_named(go: Path, tmp_path: Path) -> None:
    found = tools.ensure(["etcd"], cache=tmp_path / "cache")
    with pytest.raises(ToolError, match="the program of 'kwok' is not installed here; installed: etcd"):
        found.binary("kwok")


class TestOfficialPulumi:
    def test_is_used_when_it_brings_its_language_host(self, go: Path, script: Script, tmp_path: Path) -> None:
        pulumi = script("pulumi", "echo v3.272.0")
        script("pulumi-language-python", "")
        found = tools.ensure(["pulumi", "etcd"], cache=tmp_path / "cache")
        assert found.binary("pulumi") == pulumi
        assert found.official_pulumi == pulumi
        assert finished(tmp_path / "cache") == ["etcd"]

    @pytest.mark.parametrize("brought", [True, False])
    def test_its_host_for_yaml_is_used_where_it_brings_one(
        self, go: Path, script: Script, tmp_path: Path, brought: bool
    ) -> None:
        script("pulumi", "echo v3.272.0")
        for name in ["pulumi-language-python", *(["pulumi-language-yaml"] if brought else [])]:
            script(name, "")
        found = tools.ensure(["pulumi", "pulumi-language-yaml"], cache=tmp_path / "cache")
        assert ("pulumi-language-yaml" in found.binaries) != brought
        assert (tmp_path / "cache").exists() != brought

    @pytest.mark.parametrize("case", ["too old", "no language host", "broken"])
    def test_is_left_alone_otherwise(self, go: Path, script: Script, tmp_path: Path, case: str) -> None:
        script("pulumi", {"too old": "echo v3.229.9", "broken": "exit 1"}.get(case, "echo v3.272.0"))
        if case != "no language host":
            script("pulumi-language-python", "")
        found = tools.ensure(["pulumi"], cache=tmp_path / "cache")
        assert found.official_pulumi is None
        assert found.binary("pulumi").is_relative_to(tmp_path / "cache")

    def test_a_twins_own_pulumi_on_path_is_not_taken_for_one(self, script: Script, tmp_path: Path) -> None:
        ours = tmp_path / "cache" / "tools" / "pulumi" / "bin"
        ours.mkdir(parents=True)
        shutil.copy(script("pulumi", "echo v3.274.1"), ours / "pulumi")
        script("pulumi-language-python", "")
        (tmp_path / "path" / "pulumi").unlink()
        (tmp_path / "path" / "pulumi").symlink_to(ours / "pulumi")
        assert find_official(str(tmp_path / "path"), tmp_path / "cache") is None
