"""The language host: where a policy pack runs, what an installation calls, what is shown of an error."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import language_pb2
from tpuplane_standins.language import program
from tpuplane_standins.language.host import PythonLanguageHost
from tpuplane_standins.language.processes import Children

pytestmark = pytest.mark.unit

HOST = PythonLanguageHost("", Children())


class Call:
    """A call of the engine, as far as the host uses it."""

    def add_callback(self, callback: Callable[[], None]) -> None:
        pass

    def abort(self, code: Any, details: str) -> None:
        raise AssertionError(details)


def info(folder: Path, **options: str) -> Any:
    given = struct_pb2.Struct()
    given.update(options)
    return language_pb2.ProgramInfo(root_directory=str(folder), program_directory=str(folder), options=given)


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("kind", "where"), [("analyzer", "pack"), ("resource", "project")])
def test_a_policy_pack_runs_in_its_own_folder(tmp_path: Path, kind: str, where: str) -> None:
    pack, project = tmp_path / "pack", tmp_path / "project"
    script(pack / ".venv" / "bin" / "python", "pwd")
    (pack / ".venv" / "pyvenv.cfg").touch()
    (pack / "__main__.py").touch()
    project.mkdir()
    request = language_pb2.RunPluginRequest(pwd=str(project), info=info(pack), kind=kind, env=["PATH=/usr/bin:/bin"])
    said = b"".join(answer.stdout for answer in HOST.RunPlugin(request, Call()))  # type: ignore[arg-type]
    assert said.decode().strip() == str(tmp_path / where)


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        (["pyproject.toml"], {}, ["sync --inexact"]),
        (["pyproject.toml", "requirements.txt"], {}, ["sync --inexact"]),
        (
            ["requirements.txt"],
            {},
            [
                "venv --allow-existing {folder}/.venv",
                "pip install --python {folder}/.venv -r {folder}/requirements.txt",
            ],
        ),
        (
            ["requirements.txt"],
            {"virtualenv": "venv"},
            ["venv --allow-existing {folder}/venv", "pip install --python {folder}/venv -r {folder}/requirements.txt"],
        ),
        ([], {}, ["No pyproject.toml and no requirements.txt: nothing to install"]),
    ],
)
def test_an_installation_follows_the_files_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str], options: dict[str, str], expected: list[str]
) -> None:
    monkeypatch.setenv("UV", str(script(tmp_path / "bin" / "uv", 'echo "$@"')))
    folder = tmp_path / "project"
    folder.mkdir()
    for name in files:
        (folder / name).touch()
    request = language_pb2.InstallDependenciesRequest(info=info(folder, **options))
    said = b"".join(answer.stdout for answer in HOST.InstallDependencies(request, Call()))  # type: ignore[arg-type]
    assert said.decode().splitlines() == [line.format(folder=folder) for line in expected]


def test_an_environment_in_the_project_is_not_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / ".venv" / "lib" / "site-packages"
    monkeypatch.setattr(sysconfig, "get_path", lambda kind: str(packages))
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(compile("def sdk(run):\n    run()", packages / "sdk.py", "exec"), scope)
    exec(compile("def fail():\n    raise ValueError('here')", tmp_path / "__main__.py", "exec"), scope)
    with pytest.raises(ValueError, match="here") as raised:
        scope["sdk"](scope["fail"])
    shown = program._user_traceback(raised.value)
    assert "__main__.py" in shown
    assert "sdk.py" not in shown
