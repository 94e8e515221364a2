"""The command line of the twin."""

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from tpuplane.program import Program, version_option

from tpuplane_twin import tools
from tpuplane_twin.cli import bringup, faults, incidents, logs, rehearse, show
from tpuplane_twin.cli.clusters import with_clusters
from tpuplane_twin.cli.console import Json, Name, acting_on, answer, console, errors_as_lines, stderr
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths, all_twins
from tpuplane_twin.shell.environment import render, shell_environment

if TYPE_CHECKING:  # a command imports only what it needs
    from tpuplane.spec.addons.catalogue import AddonDefinition

Function = Callable[..., Any]

app = Program(
    no_args_is_help=True, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


def command(example: str, **settings: Any) -> Callable[[Function], Function]:
    """Make a function a command. Its help shows the example, and its errors are printed as one line."""
    added = app.command(epilog=f"Example: tpuplane-twin {example}", **settings)
    return lambda function: added(errors_as_lines(function))


@app.callback()
def main(version: Annotated[bool, version_option("tpuplane-twin")] = False) -> None:
    """The twin: a local GKE, with Google's API and real control planes.

    A command acts on the twin of --name, else on that of TPUPLANE_TWIN, which `env` sets, else on `local`.
    """


@command("up --name team-a")
def up(name: Name = "local", as_json: Json = False) -> None:
    """Download or compile missing tools, start the twin, wait until it is ready. A second call changes nothing."""
    status = bringup.bring_up(TwinPaths.of(name))
    answer(status, as_json, lambda: show.print_up(name, status))


@command("build --bundle tools.zip")
def build(
    with_ray: Annotated[
        bool, typer.Option("--ray", help="Also install Ray and JAX (1.2 GB), for real Ray pods (TPUPLANE_TWIN_RAY=1).")
    ] = False,
    addons: Annotated[
        list[str] | None,
        typer.Option(
            "--addon",
            metavar="DEFINITION",
            help="Also build the operator of this definition, a file or a name; twins that start later run it.",
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Pack all tools into a file: TPUPLANE_TOOLS=FILE uses it."),
    ] = None,
) -> None:
    """Download or compile missing tools, and start nothing. `up` does this too.

    On another machine of the same platform, TPUPLANE_TOOLS names a bundle of this version by file or https address.
    """
    if bundle is not None and (bundle.is_dir() or not os.access(bundle.absolute().parent, os.W_OK)):
        raise tools.ToolError(f"--bundle: {bundle} cannot be written; name a file in an existing folder")
    with tools.show() as progress:
        tools.ensure(progress=progress)
        for addon in addons or ():
            tools.build_addon(Path(addon).stem, _definition(addon), progress)
    if bundle is not None:
        with console.status(f"packing the tools into {bundle}"):
            digest = tools.write_bundle(bundle)
        print(f"{bundle}: {bundle.stat().st_size >> 20} MiB. Copy it to another machine, and there set its path:")
        print(f"  export TPUPLANE_TOOLS={shlex.quote(f'PATH/{bundle.name}#sha256={digest}')}")
    if with_ray:
        from tpuplane_twin.pods.images import extras  # noqa: PLC0415

        with console.status("installing Ray and JAX"):
            extras()["ray"].build()


def _definition(name: str) -> "AddonDefinition":
    from tpuplane.spec import SpecError  # noqa: PLC0415
    from tpuplane.spec.addons.definitions import load_definition  # noqa: PLC0415

    try:
        return load_definition(name)
    except SpecError as error:
        raise tools.ToolError(str(error)) from None


@command("status --json")
def status(name: Name = "local", as_json: Json = False) -> None:
    """Show processes, clusters, node pools and slices."""
    paths = TwinPaths.of(name)
    found = with_clusters(TwinClient(paths).status(), paths.kubeconfig)
    answer(found, as_json, lambda: show.print_status(found))


@command("down --keep-state")
def down(
    name: Name = "local",
    keep_state: Annotated[bool, typer.Option("--keep-state", help="Keep the state: `up` restores everything.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Stop and delete every twin of this user.")] = False,
    as_json: Json = False,
) -> None:
    """Stop the twin and delete its state, with Pulumi's."""
    gone: dict[str, bool] = {}
    for each in all_twins() if every else [name]:
        client = TwinClient(TwinPaths.of(each))
        gone[each] = client.stop() if keep_state else client.remove()
    if as_json:
        typer.echo(json.dumps({"removed" if not keep_state else "stopped": [key for key, was in gone.items() if was]}))
        return
    for each, was in gone.items():
        done = "stopped; its state is kept" if keep_state else "deleted: processes, ports, state"
        missing = "was not running" if keep_state else "did not exist"
        console.print(f"twin [bold]{each}[/bold]: {done if was else missing}")


@command("env --shell fish")
def env(
    name: Name = "local",
    shell: Annotated[str, typer.Option(help="sh (also for bash and zsh) or fish.")] = "sh",
    as_json: Json = False,
) -> None:
    """Print the variables of a shell: eval "$(tpuplane-twin env)", then plain `pulumi` and `kubectl` work."""
    if shell not in ("sh", "fish"):
        raise TwinError(f"--shell {shell!r} is not known; allowed: sh (also for bash and zsh), fish")
    client = TwinClient(TwinPaths.of(name))
    client.status()
    variables = shell_environment(client)
    if as_json:
        typer.echo(json.dumps(variables, indent=2))
    else:
        stderr.print(f"this shell works on the twin [bold]{name}[/bold]")
        typer.echo(render(variables, shell))


@command("logs apiserver --follow", name="logs")
def show_logs(
    process: Annotated[str | None, typer.Argument(help="Part of the name of a process. Default: all.")] = None,
    name: Name = "local",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-l", min=1, help="Number of lines of each log.")] = 20,
    as_json: Json = False,
) -> None:
    """Print the logs of the twin's processes."""
    logs.show(acting_on(name, quiet=as_json), process, follow=follow, lines=lines, as_json=as_json)


command("stockout --zone us-east5-b --generation v6e --capacity spot")(faults.stockout)
command("quota --region us-east5 --generation v6e --capacity spot --chips 64")(faults.quota)
command("fault --method nodePools.create --kind quota --count 2")(faults.fault)
command("disrupt webhook-late --cluster lab-central1 --namespace kueue-system")(faults.disrupt)
command("fail host trainer-0/0")(incidents.fail)
command("maintain trainer-0/0 --in 30m")(incidents.maintain)
command("recover host trainer-0/0")(incidents.recover)
command("upgrade lab-central1 --now")(incidents.upgrade)
command("reclaim overnight --cluster lab")(incidents.reclaim)


@command("rehearse prod --no-sample --name prod", name="rehearse")
def rehearse_stack(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STACK|FILE",
            show_default="local",
            help="A stack of the Pulumi project; or scenarios (.yaml) and traces of jobs (.csv), one after the other.",
        ),
    ] = None,
    name: Name = "local",
    project: Annotated[Path, typer.Option(help="The folder with Pulumi.yaml.")] = Path(),
    sample: Annotated[bool, typer.Option(help="Apply one of KubeRay's TPU samples and wait for it.")] = True,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="STACK", help="Play the file on this stack; repeat it to compare stacks."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the chips of the scenario or trace as an SVG.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring up the twin, run the real `pulumi up` of a stack, run a TPU sample, show its placement.

    With a file, play its jobs and events instead: hours of GKE pass in seconds.
    """
    stack, *others = stacks or ["local"]
    if all(each.lower().endswith((".yaml", ".yml", ".csv")) for each in (stack, *others)):
        from tpuplane_twin.cli.scenarios import rehearse_files  # noqa: PLC0415

        files = [Path(each) for each in (stack, *others)]
        if others and picture is not None:
            raise typer.BadParameter("is for one scenario or trace; name one file", param_hint="--picture")
        paths = acting_on(name, quiet=as_json)
        rehearse_files(paths, files, against or (), project.absolute(), picture, as_json=as_json)
        return
    if others:
        raise typer.BadParameter("name one stack, or files that end with .yaml, .yml or .csv", param_hint="STACK")
    if against or picture is not None:
        raise typer.BadParameter(
            f"is for a scenario or a trace, and {stack!r} is a stack; remove it, or name a file",
            param_hint="--against" if against else "--picture",
        )
    result = rehearse.rehearse(acting_on(name, quiet=as_json), stack, project.absolute(), sample=sample, quiet=as_json)
    answer(result, as_json, lambda: show.print_rehearsal(name, stack, result))


@command("trace --team research=v6e-4x4 --pattern day-night > jobs.csv")
def trace(
    teams: Annotated[list[str], typer.Option("--team", metavar="TEAM=SHAPE", help="A team and the shape of its jobs.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same trace.")] = 1,
    hours: Annotated[float, typer.Option(help="The hours in which jobs arrive.")] = 24,
    jobs_per_hour: Annotated[float, typer.Option(help="The mean number of jobs in an hour.")] = 2,
    pattern: Annotated[
        Literal["poisson", "day-night"],
        typer.Option(help="poisson: the same rate at all hours; day-night: most jobs in the afternoon."),
    ] = "poisson",
) -> None:
    """Print a trace of random jobs, for `rehearse`."""
    from tpuplane_twin.rehearsal.generator import generate, team_and_shape  # noqa: PLC0415
    from tpuplane_twin.rehearsal.trace import InvalidTrace  # noqa: PLC0415

    try:
        typer.echo(generate(seed, hours, jobs_per_hour, [team_and_shape(team) for team in teams], pattern), nl=False)
    except InvalidTrace as error:
        raise TwinError(str(error)) from None


# All arguments after the command belong to it.
@command("exec kubectl get nodes", name="exec", context_settings={"allow_interspersed_args": False})
def execute(
    command: Annotated[list[str], typer.Argument(help="The command with its arguments, such as kubectl get nodes.")],
    name: Name = "local",
) -> None:
    """Run one command in the twin's environment: `tpuplane-twin exec kubectl get pods -n research`."""
    client = TwinClient(acting_on(name))
    client.status()
    variables = shell_environment(client)
    program = shutil.which(command[0], path=variables["PATH"])
    if program is None:
        raise TwinError(f"{command[0]!r} is not on PATH; install it, or give its path")
    os.execve(program, command, os.environ | variables)  # noqa: S606  (the command is the user's own)
