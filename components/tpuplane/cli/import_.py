"""`tpuplane import`: adopts existing clusters into a stack file and Pulumi's import file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tpuplane.cli.exit_codes import INCOMPLETE, MISTAKE, UNREACHABLE
from tpuplane.cli.new import usage_error


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The stack file to write.")] = Path(
        "stacks/Pulumi.imported.yaml"
    ),
    project: Annotated[str, typer.Option("--project", help="Google Cloud project ID.")] = "",
    cluster: Annotated[
        list[str] | None, typer.Option("--cluster", help="A cluster by its name; repeatable. Default: all clusters.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the platform. Default: the cluster or project.")] = "",
    import_file: Annotated[
        Path, typer.Option("--import-file", metavar="JSON", help="Pulumi's import file to write.")
    ] = Path("import.json"),
    converge: Annotated[
        bool, typer.Option("--converge", help="Let the next pulumi up change what it can change in place.")
    ] = False,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Adopt existing GKE clusters: write a stack file and Pulumi's import file. Changes nothing in Google Cloud.

    Prints first what cannot be adopted, and each property that differs from what tpuplane would create.

    Exit code 0: written; the preview after the import is empty. 1: nothing can be adopted. 2: a wrong option, or a file
    exists. 3: Google or Pulumi cannot be asked. 5: written, but something is not adopted or changes.
    """
    from tpuplane.adopt import Adopted, describe  # noqa: PLC0415 (only what a command needs is imported)
    from tpuplane.adopt.google import read_project  # noqa: PLC0415
    from tpuplane.adopt.trial import TrialFailed, rehearse  # noqa: PLC0415
    from tpuplane.cli.import_text import import_as_json, import_as_text, stack_text  # noqa: PLC0415
    from tpuplane.preflight import Unreachable  # noqa: PLC0415
    from tpuplane.preflight.google import Undecided  # noqa: PLC0415

    _check_options(project, name, (file, import_file), force=force)
    try:
        facts = read_project(project)
        _check_clusters(cluster or (), {it["name"] for it in facts.clusters}, project)
        adopted = describe(facts, name or (cluster or [""])[0] or project, cluster or ())
        if not isinstance(adopted, Adopted):
            for left in adopted:
                typer.echo(left, err=True)
            typer.echo(f"{project}: no cluster can be adopted, and no file is written", err=True)
            raise typer.Exit(MISTAKE)
        result = rehearse(adopted, converge=converge)
    except (Unreachable, Undecided, TrialFailed) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(UNREACHABLE) from None
    if as_json_:
        typer.echo(json.dumps(import_as_json(result), indent=2))
    else:
        typer.echo("\n".join(import_as_text(result)))
    _write({file: stack_text(result.adopted, file), import_file: json.dumps(result.file, indent=2) + "\n"})
    if not as_json_:
        stack = file.name.removeprefix("Pulumi.").removesuffix(".yaml")
        typer.echo(f"\nwrote {file} and {import_file}; next:")
        typer.echo(f"  pulumi stack init {stack}")
        typer.echo(f"  pulumi import --file {import_file} --protect=false --generate-code=false --yes --stack {stack}")
        typer.echo(f"  pulumi preview --stack {stack}")
    if result.adopted.left or result.next:
        raise typer.Exit(INCOMPLETE)


def _check_options(project: str, name: str, files: tuple[Path, ...], *, force: bool) -> None:
    from tpuplane.spec.core.fields import text_problem  # noqa: PLC0415

    if not project:
        raise usage_error("--project: required: the Google Cloud project ID")
    for option, kind, value in (("--project", "project", project), ("--name", "name", name)):
        if value and (problem := text_problem(kind, value)):
            raise usage_error(f"{option}: {problem}")
    if (taken := [str(it) for it in files if it.exists()]) and not force:
        raise usage_error(f"{', '.join(taken)} exists; choose another name, or overwrite it with --force")


def _check_clusters(wanted: Any, known: set[str], project: str) -> None:
    from tpuplane.spec.core.errors import choice  # noqa: PLC0415

    for it in wanted:
        if it not in known:
            raise usage_error(f"--cluster: {choice(it, f'a cluster of {project}', sorted(known))}")


def _write(files: dict[Path, str]) -> None:
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise usage_error(f"{path} cannot be written: {error.strerror}") from None
