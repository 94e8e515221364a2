"""`tpuplane init`: asks for the values of a first platform, and writes a repository for it."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from tpuplane.cli import questions

PLACEHOLDER = "my-project"
"""A project that only the twin accepts."""


def init(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the repository.")] = Path(),
    name: questions.Name = None,
    project: questions.Project = None,
    location: questions.Location = None,
    generation: questions.Generation = None,
    zone: questions.Zone = None,
    topology: questions.Topology = None,
    capacity: questions.Capacity = None,
    reservation: questions.Reservation = None,
    reserved_chips: questions.ReservedChips = None,
    slices: questions.Slices = None,
    environments: Annotated[
        str,
        typer.Option(
            help="Names of the environments, separated by commas. `make` uses the first if STACK is not set, and CI "
            "deploys the last."
        ),
    ] = "dev,prod",
    ci: Annotated[Literal["github", "gitlab", "none"], typer.Option(help="CI service.")] = "github",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a repository for a platform: program, stack files, policies, CI, Makefile. Asks for missing values.

    Exit code 0: written. 2: a wrong value, a missing answer, or files exist.
    """
    from tpuplane.cli.new import exists, interview, usage_error, write_files  # noqa: PLC0415 (a command imports only the modules that it needs)
    from tpuplane.init import Repository, starts  # noqa: PLC0415

    given = {
        **context.params,
        "capacity": "on-demand" if capacity is None else capacity,
        "slices": ("0-1" if capacity == "flex-start" else "1") if slices is None else slices,
    }
    try:
        repository = Repository(starts(environments), ci)
    except ValueError as error:
        raise usage_error(f"--environments: {error}") from None
    taken = [name for name in repository.names if exists(folder / name)]
    if taken and not force:
        raise usage_error(f"{folder} has {', '.join(taken)}; choose another folder, or overwrite them with --force")
    answers = interview(given, repository.environments, PLACEHOLDER)
    content = replace(repository, environments=answers).content
    write_files({folder / path: text for path, text in content.items()})
    typer.echo(f"wrote {len(repository.names)} files to {folder}: {', '.join(repository.names)}")
    if answers[0].project == PLACEHOLDER:
        typer.echo(f"{PLACEHOLDER} is a placeholder. The twin accepts it. For Google Cloud, set gcp:project in stacks/")
    if ci != "none":
        typer.echo(f"CI deploys {answers[-1].environment}, the last of --environments")
    typer.echo("next, with make and uv on PATH:")
    if folder != Path():
        typer.echo(f"  cd {shlex.quote(str(folder))}")
    typer.echo("  make up    # start the first environment on the twin; takes up to 15 minutes without TPUPLANE_TOOLS")
    typer.echo("  make test  # check the stack files, then run the policies on the twin")
    typer.echo("  git init && git add -A && git commit -m first  # make summary and make diff need a commit")
