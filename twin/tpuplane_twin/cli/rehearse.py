"""`rehearse`: the twin, `pulumi up`, a TPU sample and its placement in one command."""

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import yaml
from rich.markup import escape

from tpuplane_twin.cli import recovery
from tpuplane_twin.cli.bringup import bring_up
from tpuplane_twin.cli.clusters import with_clusters
from tpuplane_twin.cli.console import console, stderr
from tpuplane_twin.cli.sample import run as run_sample
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell.command import run
from tpuplane_twin.shell.environment import shell_environment
from tpuplane_twin.tools import ensure


def rehearse(paths: TwinPaths, stack: str, project: Path, *, sample: bool, quiet: bool) -> dict[str, Any]:
    """Bring up `stack` of the Pulumi project in `project` on the twin and return the result.

    Raises `TwinError` with the engine's exit code when `pulumi up` fails; a second call continues.
    """
    out = stderr if quiet else console
    require_stack_file(stack, project)
    began = time.monotonic()
    bring_up(paths)
    client = TwinClient(paths)
    environment = os.environ | shell_environment(client)

    with out.status(f"stack {stack}: checks for an interrupted run"):
        run(["pulumi", "stack", "select", stack, "--create"], project, environment)
        for line in recovery.recover(stack, project, environment, client):
            out.print(escape(line), soft_wrap=True)
    if recovery.waits_for_deletion(stack, project, environment):
        # A cluster of the twin that does not answer does not exist, and neither do its objects.
        environment["PULUMI_K8S_DELETE_UNREACHABLE"] = "true"
    broken = recovery.broken_pools(stack, project, environment, client)
    # Nothing is decided on a preview here, and it would double the time.
    replaced = (part for urn in broken for part in ("--replace", urn))
    command = ["up", "--yes", "--skip-preview", "--stack", stack, *replaced]
    out.print(f"[bold]pulumi {' '.join(command)}[/bold]", soft_wrap=True)
    _pulumi([*command, "--suppress-outputs"], project, environment, quiet=quiet)

    status = client.status()
    resources = recovery.resources_of(stack, project, environment)
    contexts = [cluster["context"] for cluster in status["clusters"] if _is_used(cluster, resources)]
    placement = None
    if sample:
        ray = {cluster["context"] for cluster in status["clusters"] if cluster["rayOperator"]}
        placement = _run_sample([context for context in contexts if context in ray], environment, quiet=quiet)
    return {
        "seconds": round(time.monotonic() - began, 1),
        "status": with_clusters(client.status(), paths.kubeconfig),
        "contexts": contexts,
        "sample": placement,
    }


def require_stack_file(stack: str, project: Path) -> Path | None:
    """The file of a stack; None if the project has configuration too. Raises `TwinError` if there is no such stack."""
    # Pulumi would create a stack of any name with an empty file, and fail without configuration.
    try:
        settings = yaml.safe_load((project / "Pulumi.yaml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TwinError(
            f"no Pulumi.yaml in {project}; run this in the project's folder or name it with --project"
        ) from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TwinError(f"{project / 'Pulumi.yaml'} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(settings, dict):
        raise TwinError(
            f"{project / 'Pulumi.yaml'} is not a Pulumi project: it must be a mapping with name and runtime"
        )
    folder = project / str(settings.get("stackConfigDir") or "")
    file = folder / f"Pulumi.{stack.rpartition('/')[2]}.yaml"
    if settings.get("config"):  # it may be all that there is
        return None
    if not file.is_file():
        stacks = sorted(
            each.name.removeprefix("Pulumi.").removesuffix(".yaml") for each in folder.glob("Pulumi.*.yaml")
        )
        there = f"existing stacks: {', '.join(stacks)}" if stacks else "that folder has no stack file"
        raise TwinError(f"the stack {stack!r} has no file {file}; {there}")
    return file


def _pulumi(arguments: list[str], project: Path, environment: dict[str, str], *, quiet: bool) -> None:
    process = subprocess.Popen(
        ["pulumi", *arguments], cwd=project, env=environment, stdout=stderr.file if quiet else None
    )
    interrupted = False
    while process.returncode is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            # The engine got the same Ctrl-C and finishes running operations; a second one ends it at once.
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    if process.returncode:
        raise TwinError(
            f"`pulumi {' '.join(arguments)}` ended with exit code {process.returncode}; its message is above. "
            "Resources that it created are kept: fix the cause and run the same command again"
        )


def _is_used(cluster: dict[str, Any], resources: list[dict[str, Any]]) -> bool:
    """Whether the stack has Google resources in the cluster."""
    return any(f"{resource.get('id')}/".startswith(f"{recovery.cluster_id(cluster)}/") for resource in resources)


def _run_sample(contexts: list[str], environment: dict[str, str], *, quiet: bool) -> dict[str, Any] | None:
    out = stderr if quiet else console
    folder = ensure().module("kuberay") / "config" / "samples"
    with out.status("a Ray TPU sample") as line:
        placement = run_sample(folder, contexts, environment, lambda text: line.update(escape(text)))
    if placement is None:
        lacks = "none of KubeRay's TPU samples fits its slices" if contexts else "no cluster has GKE's Ray operator"
        out.print(f"no sample runs on this stack: {lacks}")
    return placement
