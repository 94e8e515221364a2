"""The environment of a twin for the engine and its language hosts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.engine.setup import environment, install_engine
from tpuplane_twin.machine.paths import TwinPaths

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
