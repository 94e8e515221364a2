"""`tpuplane import`: adopts existing clusters into a stack file and Pulumi's import file."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tpuplane.cli.clusters import cluster_errors
from tpuplane.cli.completion import any_file
from tpuplane.cli.completion import contexts as contexts_
from tpuplane.cli.exit_codes import INCOMPLETE, MISTAKE, UNREACHABLE, ended
from tpuplane.cli.new import exists, usage_error, write_files
from tpuplane.labels import OPERATORS


def import_(
    project: Annotated[str, typer.Option(help="Google Cloud project ID.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The stack file to write.")] = Path(
        "stacks/Pulumi.imported.yaml"
    ),
    cluster: Annotated[
        list[str] | None, typer.Option(help="A cluster by its name; repeatable. Default: all clusters.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the platform. Default: the cluster or project.")] = "",
    kubeconfig: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also read operators and queues of its contexts.", autocompletion=any_file),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            help="Read operators and queues of this context; repeatable. Default: the current one with --kubeconfig.",
            autocompletion=contexts_,
        ),
    ] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Adopt existing GKE clusters: write a stack file and Pulumi's import file. Changes nothing in Google Cloud.

    It first prints the objects that cannot be adopted, and the properties that differ from the resources of tpuplane.
    With a kubeconfig or a context, it also reads operators and queues. The import file is next to the stack file.

    Exit code 0: written; the preview after the import is empty. 1: nothing can be adopted. 2: a wrong option, or a file
    exists. 3: Google Cloud or Pulumi cannot be used. 5: written, but something is not adopted or changes.
    """
    from tpuplane.adopt import describe  # noqa: PLC0415 (a command imports only the modules that it needs)
    from tpuplane.adopt.google import read_project  # noqa: PLC0415
    from tpuplane.adopt.trial import TrialFailed, rehearse  # noqa: PLC0415
    from tpuplane.cli.import_text import import_as_json, import_as_text, stack_text  # noqa: PLC0415
    from tpuplane.preflight import Unreachable  # noqa: PLC0415
    from tpuplane.preflight.google import Undecided  # noqa: PLC0415
    from tpuplane.spec.core.errors import choice  # noqa: PLC0415

    stack = _checked_stack(project, name, file)
    import_file = file.with_name(f"import-{stack}.json")
    if taken := [str(path) for path in (file, import_file) if exists(path) and not force]:
        raise usage_error(f"{', '.join(taken)} exists; choose another name, or overwrite it with --force")
    try:
        facts = read_project(project)
        known = sorted({cluster["name"] for cluster in facts.clusters})
        if unknown := [name for name in cluster or () if name not in known]:
            raise usage_error(f"--cluster: {choice(unknown[0], f'a cluster of {project}', known)}")
        adopted = describe(facts, name or (cluster or [project])[0], cluster or ())
        if not adopted.places:
            if as_json_:
                left = [asdict(other) for other in adopted.left]
                typer.echo(json.dumps({"ok": False, "notAdopted": left}, indent=2))
            lines = (*map(str, adopted.left), f"{project}: no cluster can be adopted, so no file is written")
            raise ended("\n".join(lines), MISTAKE)
        notes: list[str] = []
        if kubeconfig or context:
            adopted, notes = _inside(adopted, facts.clusters, kubeconfig, context)
        result = rehearse(adopted)
    except Undecided as error:
        roles = "roles/container.clusterViewer and roles/compute.viewer"
        remedy = error.remedy or f"check the project, its APIs, and that the caller has {roles}"
        raise ended(f"error: {error}; {remedy}", UNREACHABLE) from None
    except (Unreachable, TrialFailed) as error:
        raise ended(f"error: {error}", UNREACHABLE) from None
    if as_json_:
        typer.echo(json.dumps(import_as_json(result), indent=2))
    else:
        typer.echo("\n".join(import_as_text(result)))
    written = json.dumps(result.file, indent=2) + "\n"
    write_files({file: stack_text(result.adopted, file, notes), import_file: written})
    if not as_json_:
        typer.echo(f"\nwrote {file} and {import_file}; next:")
        typer.echo(f"  pulumi stack init {stack}")
        typer.echo(f"  pulumi import --file {import_file} --protect=false --generate-code=false --yes --stack {stack}")
        typer.echo(f"  pulumi preview --stack {stack}\n  pulumi up --yes --stack {stack}")
    if result.adopted.left or result.next:
        raise typer.Exit(INCOMPLETE)


def _inside(adopted: Any, clusters: Any, kubeconfig: Path | None, context: list[str] | None) -> tuple[Any, list[str]]:
    """Add the operators and queues in these contexts to `left`; comments for the stack file describe the queues."""
    from tpuplane.adopt.inside import cluster_at, left_inside, teams, teams_text  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    notes: list[str] = []
    for name in context or (None,):
        with cluster_errors(), Cluster(kubeconfig, name).asking() as ask:
            inside, host = _read_inside(ask), ask.client.configuration.host
        if (key := cluster_at(adopted, clusters, host)) is None:
            raise usage_error(
                f"--context: {name or 'the current context'} is {host}, which is not an adopted cluster; "
                "name the context of an adopted one"
            )
        adopted = replace(adopted, left=(*adopted.left, *left_inside(key, inside)))
        if inside["queues"]:
            notes += teams_text(teams(adopted, key, inside))
    return adopted, notes


def _read_inside(ask: Any) -> dict[str, list[Any]]:
    """The operators and queues of a cluster. Raises `Rejected`."""
    selectors = (f"metadata.name={name}" for name in OPERATORS)
    named = (ask.items("/apis/apps/v1/deployments", dict, fieldSelector=selector)[0] for selector in selectors)
    sources, kinds = ask.sources(), ("queues", "local_queues", "flavors")
    kueue = {kind: ask.items(sources[kind][0], dict)[0] if kind in sources else [] for kind in kinds}
    return {"operators": [item for found in named for item in found], **kueue}


def _checked_stack(project: str, name: str, file: Path) -> str:
    """The name of the stack in the name of its file. Ends the command if an option is wrong."""
    from tpuplane.spec.core.texts import text_problem  # noqa: PLC0415

    for option, kind, value in (("--project", "project", project), ("--name", "name", name or "default")):
        if problem := text_problem(kind, value):
            raise usage_error(f"{option}: {problem}")
    if (stack := re.fullmatch(r"Pulumi\.([\w.-]+)\.yaml", file.name)) is None:
        raise usage_error(f"FILE: {file.name} is not the name of a stack file; allowed: Pulumi.STACK.yaml")
    return stack[1]
