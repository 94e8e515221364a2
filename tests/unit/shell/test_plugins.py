from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tpuplane_twin.shell.plugins import find_installed, install_plugin, remove_plugin, stand_in
from tpuplane_twin.tools import ToolError

pytestmark = pytest.mark.unit


def test_a_command_at_any_path_gets_the_engines_arguments(tmp_path: Path) -> None:
    argv = ["/bin/echo", "a b", "it's $HOME", "*"]
    plugin = install_plugin(tmp_path / "my home", "resource", "gcp", "10.2.0", argv)
    assert plugin.relative_to(tmp_path) == Path("my home/plugins/resource-gcp-v10.2.0/pulumi-resource-gcp")
    said = subprocess.run([plugin, "127.0.0.1:1", "x y"], capture_output=True, text=True, check=True).stdout
    assert said == "a b it's $HOME * 127.0.0.1:1 x y\n"


def test_an_older_one_is_replaced_and_others_are_left(tmp_path: Path) -> None:
    install_plugin(tmp_path, "resource", "gcp", "9.0.0", ["/bin/true"])
    install_plugin(tmp_path, "resource", "gcp-native", "0.31.0", ["/bin/true"])
    install_plugin(tmp_path, "resource", "gcp", "10.2.0", ["/bin/true"])
    install_plugin(tmp_path, "resource", "gcp", "10.2.0", ["/bin/true"])
    assert sorted(path.name for path in (tmp_path / "plugins").iterdir()) == [
        "resource-gcp-native-v0.31.0",
        "resource-gcp-v10.2.0",
    ]
    remove_plugin(tmp_path, "resource", "gcp")
    assert [path.name for path in (tmp_path / "plugins").iterdir()] == ["resource-gcp-native-v0.31.0"]


def test_files_that_the_engine_keeps_next_to_plugins_are_left(tmp_path: Path) -> None:
    for version in ("9.0.0", "10.2.0"):
        install_plugin(tmp_path, "resource", "gcp", version, ["/bin/true"])
        (tmp_path / "plugins" / f"resource-gcp-v{version}.lastused").touch()
    install_plugin(tmp_path, "resource", "gcp", "10.2.0", ["/bin/true"])
    assert sorted(path.name for path in (tmp_path / "plugins").iterdir()) == [
        "resource-gcp-v10.2.0",
        "resource-gcp-v10.2.0.lastused",
        "resource-gcp-v9.0.0.lastused",
    ]


def test_an_official_plugin_is_found_on_path_or_in_a_home(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "bin"
    folder.mkdir()
    assert find_installed("resource", "gcp", "10.2.0", str(folder), [home]) is None
    installed = install_plugin(home, "resource", "gcp", "10.2.0", ["/bin/true"])
    assert find_installed("resource", "gcp", "10.2.0", str(folder), [home]) == installed
    assert find_installed("resource", "gcp", "10.3.0", str(folder), [home]) is None
    (folder / "pulumi-resource-gcp").symlink_to("/bin/true")
    assert find_installed("resource", "gcp", "10.3.0", str(folder), [home]) == folder / "pulumi-resource-gcp"


def test_the_stand_in_of_an_installed_package_runs_as_a_program(tmp_path: Path) -> None:
    plugin = install_plugin(tmp_path, "resource", "gcp", "10.2.0", stand_in("resource", "gcp"))
    assert plugin.read_text().endswith(' -m tpuplane_standins.providers.gcp "$@"\n')


def test_a_plugin_without_a_stand_in_is_named_with_the_remedy() -> None:
    with pytest.raises(ToolError, match=r"no plugin pulumi-resource-aws is installed.*tpuplane-twin\[standins\]"):
        stand_in("resource", "aws")
