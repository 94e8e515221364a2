"""The time that the policy pack adds to the preview of production, with the real engine and no cloud."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell import executables
from tpuplane_twin.shell.engine import environment
from tpuplane_twin.shell.environment import google_environment

from benchmarks.measure import Benchmark

_REPOSITORY = Path(__file__).parents[1]
_STACK = "prod"
_EMPTY = """
from pulumi_policy import PolicyPack, ResourceValidationPolicy

PolicyPack("empty", [ResourceValidationPolicy("nothing", "Nothing", lambda args, report: None)])
"""


@cache
def _project() -> tuple[Path, dict[str, str]]:
    """The program with its stacks in a new folder, and the environment of an engine with both providers.

    A preview sends no request to Google, so no server is needed at the address of the API.
    """
    folder = Path(tempfile.mkdtemp(prefix="tpuplane-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["TPUPLANE_TWIN_HOME"] = str(folder / "twins")
    paths = TwinPaths.of("bench").make()
    executables.install(paths, tools.ensure())
    project = folder / "project"
    project.mkdir()
    shutil.copy(_REPOSITORY / "Pulumi.yaml", project)
    for part in ("infra", "stacks"):
        shutil.copytree(_REPOSITORY / part, project / part)
    empty = folder / "empty"
    (empty / "config").mkdir(parents=True)
    (empty / "config" / f"{_STACK}.json").write_text("{}", encoding="utf-8")
    shutil.copy(_REPOSITORY / "policies" / "PulumiPolicy.yaml", empty)
    (empty / "__main__.py").write_text(_EMPTY, encoding="utf-8")
    variables = {**os.environ, **environment(paths), **google_environment("http://127.0.0.1:9", "none")}
    variables |= {"UV_PROJECT_ENVIRONMENT": sys.prefix, "KUBECONFIG": str(folder / "none")}
    variables["TPUPLANE_CHART_MIRROR"] = str(paths.charts)
    _pulumi(project, variables, "stack", "init", _STACK)
    return project, variables


def _pulumi(project: Path, variables: dict[str, str], *arguments: str) -> None:
    command = ["pulumi", *arguments, "--non-interactive"]
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")


def _preview(pack: Path) -> Callable[[], object]:
    project, variables = _project()
    config = pack / "config" / f"{_STACK}.json"
    options = ("--stack", _STACK, "--policy-pack", str(pack), "--policy-pack-config", str(config))
    return lambda: _pulumi(project, variables, "preview", *options)


BENCHMARKS = (
    Benchmark(
        "gate",
        "the time that the policy pack adds to `pulumi preview` of production, compared with an empty pack",
        bound=2.0,
        prepare=lambda: _preview(_REPOSITORY / "policies"),
        against=lambda: _preview(_project()[0].parent / "empty"),
        runs=5,
        opt_in=True,
    ),
)
