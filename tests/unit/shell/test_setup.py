"""The environment of a twin for the engine and its language hosts."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths, commands
from tpuplane_twin.shell import executables
from tpuplane_twin.shell.engine import environment, install_engine, pulumi_home
from tpuplane_twin.shell.plugins import install_plugin

pytestmark = pytest.mark.unit


def executable(file: Path, body: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(("installed", "found"), [("cache", "cache"), ("users", "users"), ("cache users", "cache")])
def test_an_official_language_host_finds_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: str, found: str
) -> None:
    """`make` fills the cache where PATH has no uv, or one that is too old."""
    users, cache = tmp_path / "users", tmp_path / "cache" / "uv" / "bin"
    executable(users / "pulumi", "echo v3.272.0")
    executable(users / "pulumi-language-python")
    places = {"users": users, "cache": cache}
    for place in installed.split():
        executable(places[place] / "uv")
    monkeypatch.setenv("PATH", f"{users}:/usr/bin:/bin")
    monkeypatch.setenv("TPUPLANE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("local").make()
    install_engine(paths, tools.ensure(["pulumi"]))
    uv = shutil.which("uv", path=environment(paths)["PATH"])
    assert Path(str(uv)).resolve() == places[found] / "uv"


def with_official(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str) -> TwinPaths:
    """A twin with the user's Pulumi, which runs `prints` instead of a command."""
    users = tmp_path / "users"
    executable(users / "pulumi", f'test "$1" = version && echo v3.272.0 || {prints}')
    executable(users / "pulumi-language-python")
    monkeypatch.setenv("PATH", f"{users}:/usr/bin:/bin")
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("local").make()
    install_engine(paths, tools.ensure(["pulumi"]))
    return paths


def test_files_that_providers_leave_behind_are_in_the_twins_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    paths = with_official(tmp_path, monkeypatch, "mktemp")
    command = [paths.bin / "pulumi", "up"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Path(made.stdout.strip()).is_relative_to(paths.root)
    users = tmp_path / "users"
    monkeypatch.setenv("TMPDIR", str(users))
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert Path(made.stdout.strip()).parent == users


@pytest.mark.parametrize(
    ("arguments", "skipped"),
    [
        ("preview --stack prod", "true"),
        ("--cwd folder pre", "true"),
        ("up --yes", ""),
        ("--cwd preview up", ""),
        ("stack select preview", ""),
    ],
)
def test_only_a_preview_writes_no_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, skipped: str
) -> None:
    """An update that is killed must have each resource in its state that it has created."""
    monkeypatch.delenv("PULUMI_SKIP_CHECKPOINTS", raising=False)
    paths = with_official(tmp_path, monkeypatch, 'echo "$PULUMI_SKIP_CHECKPOINTS"')
    command = [paths.bin / "pulumi", *arguments.split()]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == skipped


@pytest.mark.parametrize(("users", "used"), [(None, "64"), ("3", "3")])
def test_operators_that_start_do_not_take_all_operations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: str | None, used: str
) -> None:
    monkeypatch.delenv("PULUMI_PARALLEL", raising=False)
    if users is not None:
        monkeypatch.setenv("PULUMI_PARALLEL", users)
    paths = with_official(tmp_path, monkeypatch, 'echo "$PULUMI_PARALLEL"')
    said = subprocess.run([paths.bin / "pulumi", "up"], capture_output=True, text=True, check=True).stdout
    assert said.strip() == used


@pytest.mark.parametrize("shell", ["of no twin", "of this twin", "of another twin"])
def test_the_users_pulumi_is_kept_whichever_shell_starts_the_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    users = tmp_path / "users"
    command = executable(users / "pulumi", "echo v3.272.0")
    executable(users / "pulumi-language-python")
    install_plugin(users, "resource", "gcp", version("pulumi-gcp"), ["/bin/echo", "official"])
    monkeypatch.setenv("PATH", f"{users}:/usr/bin:/bin")
    monkeypatch.setenv("PULUMI_HOME", str(users))
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    local, other = TwinPaths.of("local").make(), TwinPaths.of("other").make()
    binaries = dict.fromkeys(("pulumi", "kubectl", "pulumi-resource-kubernetes"), command)
    modules = dict.fromkeys(("kueue", "jobset"), tmp_path)
    for _ in range(3):
        found = tools.ensure(["pulumi"])
        assert found.binary("pulumi") == command
        for paths in (local, other):
            executables.install(paths, replace(found, binaries=binaries, modules=modules))
        if shell != "of no twin":
            for name, value in environment(local if shell == "of this twin" else other).items():
                monkeypatch.setenv(name, value)
    assert environment(local)["PATH"] == f"{commands()}:{local.bin}:{users}:/usr/bin:/bin"
    shutil.rmtree(other.root)
    assert subprocess.run([local.bin / "pulumi"], capture_output=True, text=True, check=True).stdout == "v3.272.0\n"
    plugin = pulumi_home(local) / "plugins" / f"resource-gcp-v{version('pulumi-gcp')}" / "pulumi-resource-gcp"
    assert subprocess.run([plugin], capture_output=True, text=True, check=True).stdout == "official\n"
