"""The Python language host, with which the Pulumi engine runs programs, policy packs and component plugins.

`python -m tpuplane_standins.language.host [FLAGS] ENGINE_ADDRESS`, started by the engine as
`pulumi-language-python`. The official host is part of an installed Pulumi and is not in package registries; if it is
installed, it is used instead. Both speak `LanguageRuntime`, which the SDK's generated classes define.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from tpuplane_standins.language import program
from tpuplane_standins.language.environments import NoEnvironment, PythonEnvironment, find_environment
from tpuplane_standins.language.processes import Children, outputs
from tpuplane_standins.serving import plugin_server, serve

Info = language_pb2.ProgramInfo


class PythonLanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """`LanguageRuntime` for Python. Code generation is left to the official host."""

    def __init__(self, engine_address: str, children: Children) -> None:
        self._engine = engine_address
        self._children = children

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Learn the engine's address, where the engine did not start this process."""
        self._engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> Any:
        """The SDK's version, which this host belongs to."""
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The providers of the SDK packages in the program's environment."""
        environment = self._environment(request.info, context)
        return language_pb2.GetRequiredPackagesResponse(packages=environment.plugin_packages())

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Run a program. Its output and logs reach the engine while it runs."""
        folder = request.info.program_directory
        entry = Path(folder, request.info.entry_point)
        if not entry.exists() or (entry.is_dir() and not (entry / "__main__.py").exists()):
            return language_pb2.RunResponse(error=f"{folder} has no program: it needs a __main__.py")
        environment = self._environment(request.info, context)
        variables = environment.activated(os.environ) | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        options = _options(request.info)
        if (checker := options.get("typechecker")) and (
            error := self._typecheck(str(checker), folder, environment, variables, context)
        ):
            return language_pb2.RunResponse(error=error)
        argv: list[str | Path] = [environment.python, "-u", Path(program.__file__).absolute()]
        argv += [f"--monitor={request.monitor_address}", f"--engine={self._engine}"]
        argv += [f"--project={request.project}", f"--stack={request.stack}"]
        argv += [f"--organization={request.organization}", f"--parallel={request.parallel}"]
        argv += [f"--root-directory={request.info.root_directory}", f"--directory={request.pwd or folder}"]
        argv += ["--dry-run"] if request.dryRun else []
        code = self._wait(self._children.start([*argv, str(entry)], folder, variables), context)
        if code == program.EXIT_REPORTED:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=_ended("program", code) if code else "")

    def RunPlugin(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Run a policy pack or a component plugin, and forward its output (its port first).

        A policy pack runs in its own folder, as with the official host.
        """
        folder = request.info.program_directory
        environment = self._environment(request.info, context, plugin=True)
        variables = environment.activated(dict(pair.split("=", 1) for pair in request.env) or os.environ)
        command = _plugin_command(request.kind, folder, list(request.args), context)
        where = folder if request.kind == "analyzer" else request.pwd or folder
        process = self._children.start([environment.python, "-u", *command], where, variables, piped=True)
        context.add_callback(lambda: self._children.end(process))
        for stream, data in outputs(process):
            yield language_pb2.RunPluginResponse(**{stream: data})  # type: ignore[arg-type]
        yield language_pb2.RunPluginResponse(exitcode=self._children.wait(process))

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """What `pyproject.toml` or `requirements.txt` names; other packages of the environment stay."""
        folder = Path(request.info.program_directory)
        configured = _options(request.info).get("virtualenv")
        place = Path(request.info.root_directory, str(configured)) if configured else None
        commands = _install_commands(folder, place)
        if not commands:
            nothing = b"No pyproject.toml and no requirements.txt: nothing to install\n"
            yield language_pb2.InstallDependenciesResponse(stdout=nothing)
            return
        uv = os.environ.get("UV") or shutil.which("uv")
        if uv is None:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                "dependencies are installed with uv, which is not on PATH; see https://docs.astral.sh/uv/",
            )
        variables = dict(os.environ)
        if place:
            variables["UV_PROJECT_ENVIRONMENT"] = str(place)
        for command in commands:
            process = self._children.start([str(uv), *command], str(folder), variables, piped=True)
            context.add_callback(partial(self._children.end, process))
            for stream, data in outputs(process):
                yield language_pb2.InstallDependenciesResponse(**{stream: data})
            if code := self._children.wait(process):
                context.abort(grpc.StatusCode.INTERNAL, _ended(f"uv {command[0]}", code))

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The Python that runs the program."""
        environment = self._environment(request.info, context)
        return language_pb2.AboutResponse(executable=str(environment.python), version=environment.version)

    def GetProgramDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The installed packages; without `transitiveDependencies` only those that no other package requires."""
        installed = {_normal(found.name): found for found in self._environment(request.info, context).distributions()}
        required = {
            _normal(match[0])
            for found in installed.values()
            for requirement in found.requires or ()
            if (match := re.match(r"[\w.-]+", requirement))
        }
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[
                language_pb2.DependencyInfo(name=found.name, version=found.version)
                for name, found in sorted(installed.items())
                if request.transitiveDependencies or name not in required
            ]
        )

    def RuntimeOptionsPrompts(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Nothing to ask."""
        return language_pb2.RuntimeOptionsResponse()

    def Template(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Nothing to fill in."""
        return language_pb2.TemplateResponse()

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """End what runs."""
        self._children.close()
        return empty_pb2.Empty()

    def _environment(self, info: Info, context: grpc.ServicerContext, *, plugin: bool = False) -> PythonEnvironment:
        try:
            return find_environment(
                Path(info.program_directory), Path(info.root_directory), _options(info), os.environ, plugin=plugin
            )
        except NoEnvironment as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise

    def _typecheck(
        self,
        checker: str,
        folder: str,
        environment: PythonEnvironment,
        variables: dict[str, str],
        context: grpc.ServicerContext,
    ) -> str:
        if checker not in ("mypy", "pyright"):
            return f"runtime.options.typechecker: {checker!r} is not supported; allowed: mypy, pyright"
        code = self._wait(self._children.start([environment.python, "-m", checker, folder], folder, variables), context)
        return _ended(checker, code) if code else ""

    def _wait(self, process: subprocess.Popen[bytes], context: grpc.ServicerContext) -> int:
        context.add_callback(lambda: self._children.end(process))
        return self._children.wait(process)


def _install_commands(folder: Path, place: Path | None) -> list[list[str]]:
    """The commands of uv for the program in `folder`, whose environment is at `place` or next to it."""
    requirements = folder / "requirements.txt"
    if requirements.is_file() and not (folder / "pyproject.toml").is_file():
        environment = str(place or folder / ".venv")
        create = ["venv", "--allow-existing", environment]
        return [create, ["pip", "install", "--python", environment, "-r", str(requirements)]]
    if any((parent / "pyproject.toml").is_file() for parent in (folder, *folder.parents)):
        return [["sync", "--inexact"]]  # a workspace shares one environment
    return []


def _plugin_command(kind: str, folder: str, arguments: list[str], context: grpc.ServicerContext) -> list[str]:
    if kind == "analyzer":
        return ["-m", "pulumi.policy", *arguments, folder]
    if Path(folder, "__main__.py").is_file():
        return [folder, *arguments]
    project: dict[str, Any] = {}
    if (pyproject := Path(folder, "pyproject.toml")).is_file():
        project = tomllib.loads(pyproject.read_text())
    name = project.get("project", {}).get("name")
    if not name or "build-backend" not in project.get("build-system", {}):
        context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            f"{folder} is not a plugin: it needs a __main__.py, or a pyproject.toml with a name and a build backend",
        )
    return ["-m", "pulumi.run.plugin", str(name), *arguments]


def _options(info: Info) -> dict[str, Any]:
    options: dict[str, Any] = json_format.MessageToDict(info.options)
    return options


def _ended(what: str, code: int) -> str:
    if code < 0:
        return f"{what} was ended by signal {signal.Signals(-code).name}"
    return f"{what} exited with non-zero exit code: {code}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Serve on a free port of 127.0.0.1, print it, and end with the engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine_address", nargs="?", default="")
    # Ignores the engine's flags for logs and traces, such as -v=9.
    arguments, _ = parser.parse_known_args()
    children = Children()
    server = plugin_server(max_workers=64)
    host = PythonLanguageHost(arguments.engine_address, children)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    serve(server, children.close)


if __name__ == "__main__":
    main()
