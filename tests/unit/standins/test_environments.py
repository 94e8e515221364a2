from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tpuplane_standins.language.environments import NoEnvironment, PythonEnvironment, find_environment

pytestmark = pytest.mark.unit

UV = {"toolchain": "uv"}


def make_environment(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\nversion_info = 3.11.7\n")
    return folder


def find(folder: Path, options: dict[str, Any] = UV, *, plugin: bool = False, **variables: str) -> Path | None:
    return find_environment(folder, folder, options, variables, plugin=plugin).root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A uv workspace with an environment, and a member two folders down."""
    root = tmp_path / "with space"
    (root / "policies" / "pack").mkdir(parents=True)
    (root / "uv.lock").touch()
    (root / "policies" / "pyproject.toml").touch()
    make_environment(root / ".venv")
    return root


def test_the_nearest_environment_upward(project: Path) -> None:
    assert find(project / "policies" / "pack") == project / ".venv"
    nearer = make_environment(project / "policies" / ".venv")
    assert find(project / "policies" / "pack") == nearer


def test_a_project_of_its_own_does_not_borrow_its_parents(project: Path) -> None:
    (project / "policies" / "uv.lock").touch()
    with pytest.raises(NoEnvironment, match=r"dependencies of .*/policies are not installed.*Run `uv sync`"):
        find(project / "policies" / "pack")


def test_the_virtualenv_option_comes_first_and_is_relative_to_the_project(project: Path) -> None:
    other = make_environment(project / "other")
    options = {**UV, "virtualenv": "other"}
    variables = {"UV_PROJECT_ENVIRONMENT": str(project / ".venv")}
    assert find_environment(project / "policies", project, options, variables).root == other


def test_uv_project_environment_is_relative_to_the_workspace(project: Path) -> None:
    other = make_environment(project / "elsewhere")
    assert find(project / "policies", UV_PROJECT_ENVIRONMENT="elsewhere") == other
    assert find(project / "policies", UV_PROJECT_ENVIRONMENT=str(other)) == other
    # With another toolchain the variable means nothing.
    assert find(project / "policies", {}, UV_PROJECT_ENVIRONMENT="elsewhere") == project / ".venv"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**UV, "virtualenv": "nowhere"}, r"runtime.options.virtualenv: 'nowhere' is not a Python environment"),
        ({"toolchain": "poetry"}, r"runtime.options.toolchain: 'poetry' is not supported.*allowed: pip, uv"),
    ],
)
def test_an_unusable_environment_is_named(project: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(NoEnvironment, match=message):
        find(project, options)


def test_without_any_environment(tmp_path: Path) -> None:
    with pytest.raises(NoEnvironment, match=r"run `pulumi install`"):
        find(tmp_path)
    with pytest.raises(NoEnvironment, match=r"run `pulumi install`"):
        find(tmp_path, {}, plugin=True, PATH=str(Path(sys.executable).parent))
    # As with the official host, a program without a toolchain runs with the shell's Python.
    ambient = find_environment(tmp_path, tmp_path, {}, {"PATH": str(Path(sys.executable).parent)})
    assert ambient.root is None
    assert ambient.python.name == "python3"


def test_activation() -> None:
    environment = PythonEnvironment(Path("/v/bin/python"), Path("/v"))
    variables = {"PATH": "/usr/bin", "PYTHONHOME": "/wrong", "HOME": "/home/me"}
    assert environment.activated(variables) == {"PATH": "/v/bin:/usr/bin", "VIRTUAL_ENV": "/v", "HOME": "/home/me"}


def install(environment: Path, name: str, version: str, plugin: str | None = None) -> None:
    site = environment / "lib" / "python3.11" / "site-packages"
    module = name.replace("-", "_")
    (site / f"{module}-{version}.dist-info").mkdir(parents=True)
    (site / f"{module}-{version}.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (site / module).mkdir()
    if plugin is not None:
        (site / module / "pulumi-plugin.json").write_text(plugin)


def test_the_plugins_that_installed_packages_need(tmp_path: Path) -> None:
    root = make_environment(tmp_path / ".venv")
    install(root, "pulumi", "3.272.0")
    install(root, "pulumi-gcp", "10.2.0", '{"resource": true, "name": "gcp", "version": "10.2.0"}')
    install(root, "pulumi-policy", "1.21.0", '{"resource": false}')
    install(root, "pulumi-random", "4.1.0")
    install(
        root,
        "acme-things",
        "1.0.0",
        '{"resource": true, "name": "terraform-provider", "version": "0.5.0", "server": "https://example.org",'
        ' "parameterization": {"name": "things", "version": "1.0.0", "value": "e30="}}',
    )
    install(root, "requests", "2.0.0")
    packages = sorted(PythonEnvironment(root / "bin" / "python", root).plugin_packages(), key=lambda found: found.name)
    assert [(found.name, found.version, found.server) for found in packages] == [
        ("gcp", "v10.2.0", ""),
        ("random", "v4.1.0", ""),
        ("terraform-provider", "v0.5.0", "https://example.org"),
    ]
    parameterization = packages[2].parameterization
    assert (parameterization.name, parameterization.version, parameterization.value) == ("things", "1.0.0", b"{}")


def test_the_python_release(tmp_path: Path) -> None:
    root = make_environment(tmp_path / ".venv")
    assert PythonEnvironment(root / "bin" / "python", root).version == "3.11.7"
