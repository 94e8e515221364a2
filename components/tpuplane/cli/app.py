"""The commands. They do not import Pulumi, so they start quickly."""

import json
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from tpuplane.cli import questions
from tpuplane.cli.clusters import status, ui, why
from tpuplane.cli.completion import stack_files
from tpuplane.cli.diff import diff_
from tpuplane.cli.drain import drain
from tpuplane.cli.exit_codes import MISTAKE, UNREACHABLE, USAGE, ended
from tpuplane.cli.import_ import import_
from tpuplane.cli.init import init
from tpuplane.cli.job import job
from tpuplane.cli.loaded import loaded, mistakes_end_it
from tpuplane.cli.render import as_json, show
from tpuplane.plan import PlatformPlan, plan
from tpuplane.program import Program, version_option
from tpuplane.quantities import counted
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.stackfile import lines_of

app = Program(
    name="tpuplane",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


StackFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A stack file, such as stacks/Pulumi.local.yaml.", autocompletion=stack_files),
]


@app.callback()
def main(version: Annotated[bool, version_option("tpuplane")] = False) -> None:
    """Create TPU platforms on GKE from one stack file."""


@app.command(epilog="Example: tpuplane check stacks/Pulumi.prod.yaml --online")
def check(
    file: StackFile,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the plan, or the mistakes, as JSON.")] = False,
    online: Annotated[
        bool,
        typer.Option("--online", help="Also ask Google Cloud for APIs, permissions, quota, reservations and names."),
    ] = False,
    deployed: Annotated[
        str | None,
        typer.Option(
            metavar="STACK", help="Also compare with the state of this stack: address ranges, and names that it owns."
        ),
    ] = None,
    role: Annotated[
        bool, typer.Option("--role", help="Only print the role of the deployer, for gcloud iam roles.")
    ] = False,
) -> None:
    """Check a stack file and show its platform. Without --online and --deployed, it reads only the file.

    Exit code 0: valid. 1: mistakes, or something is missing in Google Cloud; one on each line. 2: no such file. 3:
    Google Cloud or the stack cannot be read.
    """
    if role and (online or as_json_ or deployed is not None):
        raise typer.BadParameter("cannot be used with other options; remove them", param_hint="--role")
    spec = loaded(file, as_json_)
    platform = plan(spec)
    if role:
        from tpuplane.preflight import needs  # noqa: PLC0415

        typer.echo(json.dumps(needs(platform).role, indent=2))
        return
    state = {} if deployed is None else _compare_addresses(spec, file, deployed, as_json_)
    compared = _asked_google(spec, platform, file, deployed or "", state, as_json_) if online else None
    if as_json_:
        typer.echo(json.dumps(as_json(platform) | ({} if compared is None else {"online": compared}), indent=2))
    else:
        show(platform)
        if compared is not None:
            typer.echo("ok in Google Cloud: " + ", ".join(counted(n, kind[:-1]) for kind, n in compared.items()))


@app.command("plan", epilog="Example: tpuplane plan stacks/Pulumi.prod.yaml --markdown --against base.yaml")
def plan_(
    file: StackFile,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Use the price of another region, marked as such, if none is on record.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(metavar="SVG", help="Also write a picture of the platform.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the plan as Markdown, for a comment.")] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --markdown: the changes from this stack file.", autocompletion=stack_files
        ),
    ] = None,
) -> None:
    """Show the resources, IP addresses and chip costs of a stack file. Needs neither Pulumi nor Google Cloud.

    Exit code 0: planned. 1: mistakes, one on each line. 2: no such file.
    """
    from tpuplane.cost import cost  # noqa: PLC0415 (a command imports only the modules that it needs)

    if picture is not None and picture.suffix.lower() != ".svg":
        raise typer.BadParameter(f"{picture} is not an SVG; name a file that ends with .svg", param_hint="--picture")
    if as_json_ and markdown:
        raise typer.BadParameter("cannot be used with --markdown; remove one", param_hint="--json")
    if against is not None:
        if not markdown:
            raise typer.BadParameter("requires --markdown", param_hint="--against")
        if picture is not None:
            raise typer.BadParameter("cannot be used with --against; remove one", param_hint="--picture")
        diff_(str(against), str(file), markdown=True, estimate=estimate)
        return
    platform = plan(loaded(file, as_json_))
    costs = cost(platform, estimate=estimate)
    if picture is not None:
        _draw(platform, picture)
    if markdown:
        from tpuplane.cli.plan_markdown import plan_as_markdown  # noqa: PLC0415

        typer.echo("\n".join(plan_as_markdown(platform, costs)))
    elif as_json_:
        from tpuplane.cli.plan_json import plan_as_json  # noqa: PLC0415

        typer.echo(json.dumps(plan_as_json(platform, costs), indent=2))
    else:
        from tpuplane.cli.plan_table import show_plan  # noqa: PLC0415

        show_plan(platform, costs, estimated=estimate)


_DIFF = "Example: tpuplane diff main:stacks/Pulumi.prod.yaml stacks/Pulumi.prod.yaml --fail-on replaces-pools"
app.command("diff", epilog=_DIFF)(diff_)


@app.command("explain", epilog="Example: tpuplane explain pools.trainer.machineType --stack stacks/Pulumi.prod.yaml")
def explain_(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A path such as pools.trainer.diskType or clusters.central1.")
    ],
    stack: Annotated[Path, typer.Option(metavar="FILE", help="The stack file.", autocompletion=stack_files)] = Path(
        "stacks/Pulumi.local.yaml"
    ),
    as_json_: Annotated[bool, typer.Option("--json", help="Print the explanation as JSON.")] = False,
) -> None:
    """Explain planned values of a pool, cluster, team, class or add-on, with the sources of the rules.

    Exit code 0: explained. 1: the file has mistakes. 2: no such file or path.
    """
    from tpuplane.cli.explain_text import explanation_as_json, show_explanation  # noqa: PLC0415
    from tpuplane.explain import UnknownPath, explain  # noqa: PLC0415

    spec = loaded(stack, as_json_)
    try:
        explanation = explain(spec, plan(spec), path)
    except UnknownPath as error:
        raise ended(f"PATH: {error}", USAGE) from None
    where = lines_of(stack)
    if as_json_:
        typer.echo(json.dumps(explanation_as_json(explanation, where), indent=2))
    else:
        show_explanation(explanation, where)


app.command(epilog="Example: tpuplane status --watch")(status)
app.command(epilog="Example: tpuplane why research/big")(why)
app.command(epilog="Example: tpuplane ui --all")(ui)
app.command(epilog="Example: tpuplane job --team research --slice v6e-4x4 --image python:3.11 -- python train.py")(job)
app.command(epilog="Example: tpuplane drain trainer-0 trainer-1 --preempt")(drain)


@app.command(epilog="Example: tpuplane schema > platform.schema.json")
def schema(
    addon: Annotated[bool, typer.Option("--addon", help="Print the schema of add-on definitions instead.")] = False,
) -> None:
    """Print the JSON schema of stack files."""
    from tpuplane.spec.schema import definition_schema, schema_text  # noqa: PLC0415 (only this command needs it)

    typer.echo(json.dumps(definition_schema(), indent=2) if addon else schema_text().rstrip())


@app.command(epilog="Example: tpuplane new stacks/Pulumi.dev.yaml --name lab --location us-central1")
def new(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The stack file to write.")] = Path(
        "stacks/Pulumi.dev.yaml"
    ),
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a first stack file. Asks for each value that no option sets, and checks it immediately.

    Exit code 0: written. 2: a wrong value, a missing answer, or the file exists.
    """
    from tpuplane.cli.new import write_first_stack  # noqa: PLC0415

    write_first_stack(file, context.params, force=force)


app.command("import", epilog="Example: tpuplane import --project acme-ml --cluster demo")(import_)
app.command(epilog="Example: tpuplane init acme --name acme --location us-central1 --generation v6e")(init)


def _compare_addresses(spec: PlatformSpec, file: Path, deployed: str, as_json_: bool) -> dict[str, Any]:
    """The state of the stack. Ends the command if an address range of the file already has another name there."""
    from tpuplane.diff.addresses import UnreadableState, conflicts, in_state  # noqa: PLC0415
    from tpuplane.former_stack import NoUpdate, state_of  # noqa: PLC0415

    try:
        state = state_of(deployed)
        existing = in_state(state.get("resources") or (), spec)
    except (NoUpdate, UnreadableState) as error:
        refresh = "" if isinstance(error, NoUpdate) else f"; run: pulumi refresh --stack {quote(deployed)}"
        raise ended(f"--deployed: {error}{refresh}", UNREACHABLE) from None
    with mistakes_end_it(as_json_):
        if found := [Mistake(conflict.path, str(conflict)) for conflict in conflicts(existing, spec)]:
            raise SpecError(found).located(lines_of(file))
    return state


def _asked_google(
    spec: PlatformSpec, platform: PlatformPlan, file: Path, deployed: str, state: dict[str, Any], as_json_: bool
) -> dict[str, int]:
    """The numbers of comparisons. Ends the command if something is missing, or if Google Cloud cannot be read."""
    from tpuplane.former_stack import NoUpdate, destroy_ended_early  # noqa: PLC0415
    from tpuplane.preflight import Google, Unreachable, check_online  # noqa: PLC0415

    try:
        ended_early = bool(state) and destroy_ended_early(deployed)
        found = check_online(
            spec, platform, Google(), file=str(file), state=state, stack=deployed, destroy_ended_early=ended_early
        )
    except NoUpdate as error:
        raise ended(f"--deployed: {error}", UNREACHABLE) from None
    except Unreachable as error:
        raise ended(f"--online: {error}", UNREACHABLE) from None
    if not found.findings:
        return found.compared
    located = [replace(finding, where=lines_of(file)(finding.path)) for finding in found.findings]
    if as_json_:
        plain = {"ok": False, "mistakes": [finding.as_json() for finding in located], "online": found.compared}
        typer.echo(json.dumps(plain, indent=2))
    else:
        typer.echo("\n".join(map(str, located)), err=True)
    raise typer.Exit(UNREACHABLE if found.undecided else MISTAKE)


def _draw(platform: PlatformPlan, file: Path) -> None:
    from tpuplane.picture import draw  # noqa: PLC0415

    try:
        file.write_text(draw(platform), encoding="utf-8")
    except OSError as error:
        raise ended(f"--picture: {file} cannot be written: {error.strerror}", USAGE) from None
