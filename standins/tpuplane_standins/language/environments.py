"""The Python environment of a program or plugin, and its packages."""

import importlib.metadata
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from pulumi.runtime.proto import plugin_pb2

_TOOLCHAINS = ("pip", "uv")
_FOLDER = ".venv"


class NoEnvironment(RuntimeError):
    """The Python environment of a program is missing or not supported. The message has the remedy."""


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """A virtual environment, or (with `root` None) the Python that is first on PATH."""

    python: Path
    root: Path | None

    def activated(self, environment: Mapping[str, str]) -> dict[str, str]:
        """`environment` as a shell has it after the environment's `activate`."""
        result = {name: value for name, value in environment.items() if name != "PYTHONHOME"}
        if self.root is not None:
            result["VIRTUAL_ENV"] = str(self.root)
            result["PATH"] = os.pathsep.join([str(self.root / "bin"), environment.get("PATH", os.defpath)])
        return result

    @property
    def version(self) -> str:
        """The Python release, or empty if it is unknown."""
        if self.root is None:
            return ""
        match = re.search(r"^version(?:_info)? *= *(\S+)", (self.root / "pyvenv.cfg").read_text(), re.MULTILINE)
        return match[1] if match else ""

    def distributions(self) -> Iterator[importlib.metadata.Distribution]:
        """What is installed in the virtual environment."""
        if self.root is not None:
            folders = [str(path) for path in self.root.glob("lib/python3*/site-packages")]
            yield from importlib.metadata.distributions(path=folders)

    def plugin_packages(self) -> Iterator[plugin_pb2.PackageDependency]:
        """The providers of the installed Pulumi SDK packages."""
        for distribution in self.distributions():
            described = _described(distribution)
            name = distribution.name.replace("_", "-")
            if described is None and not name.startswith("pulumi-"):
                continue
            described = described or {}
            if not described.get("resource", described == {}):
                continue
            found = plugin_pb2.PackageDependency(
                name=described.get("name") or name.removeprefix("pulumi-"),
                kind="resource",
                version="v" + (described.get("version") or distribution.version).removeprefix("v"),
                server=described.get("server", ""),
            )
            if given := described.get("parameterization"):
                json_format.ParseDict(given, found.parameterization, ignore_unknown_fields=True)
            yield found


def find_environment(
    folder: Path, root: Path, options: Mapping[str, Any], variables: Mapping[str, str], *, plugin: bool = False
) -> PythonEnvironment:
    """The environment of the program or plugin in `folder`, whose Pulumi.yaml is in `root`.

    In this order: the `virtualenv` option (relative to `root`), `UV_PROJECT_ENVIRONMENT` (toolchain uv), the
    nearest `.venv` from `folder` upward. With the toolchain pip a program falls back to the Python on PATH.
    Raises `NoEnvironment`.
    """
    toolchain = options.get("toolchain", "pip")
    if toolchain not in _TOOLCHAINS:
        raise NoEnvironment(
            f"runtime.options.toolchain: {toolchain!r} is not supported by this language host; allowed: "
            f"{', '.join(_TOOLCHAINS)}. An official Pulumi on PATH supports the others"
        )
    if configured := options.get("virtualenv"):
        return _checked(root / str(configured), f"runtime.options.virtualenv: {configured!r}", root)
    if toolchain == "uv" and (configured := variables.get("UV_PROJECT_ENVIRONMENT")):
        return _checked(_project(folder) / configured, f"UV_PROJECT_ENVIRONMENT: {configured!r}", folder)
    for parent in (folder, *folder.parents):
        if (parent / _FOLDER / "pyvenv.cfg").is_file():
            return _checked(parent / _FOLDER, "", parent)
        if (parent / "uv.lock").is_file():
            raise NoEnvironment(
                f"the dependencies of {parent} are not installed: it has a uv.lock and no {_FOLDER}. Run `uv sync` "
                "there"
            )
    if toolchain == "pip" and not plugin and (python := shutil.which("python3", path=variables.get("PATH"))):
        return PythonEnvironment(Path(python), None)
    raise NoEnvironment(f"no Python environment for {folder}; run `pulumi install` there, or `uv sync`")


def _project(folder: Path) -> Path:
    """The root of the uv project or workspace that `folder` is part of: what uv resolves paths against."""
    for marker in ("uv.lock", "pyproject.toml"):
        for parent in (folder, *folder.parents):
            if (parent / marker).is_file():
                return parent
    return folder


def _checked(root: Path, what: str, where: Path) -> PythonEnvironment:
    python = root / "bin" / "python"
    if not (root / "pyvenv.cfg").is_file() or not os.access(python, os.X_OK):
        raise NoEnvironment(
            f"{what or root} is not a Python environment ({root}). Run `pulumi install` or `uv sync` in {where} "
            "to create it"
        )
    return PythonEnvironment(python, root)


def _described(distribution: importlib.metadata.Distribution) -> dict[str, Any] | None:
    module = distribution.name.replace("-", "_")
    path = Path(str(distribution.locate_file(f"{module}/pulumi-plugin.json")))
    if not path.is_file():
        return None
    content: dict[str, Any] = json.loads(path.read_text())
    return content
