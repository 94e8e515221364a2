"""`tpuplane job`."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tpuplane.cli.completion import stack_files
from tpuplane.cli.loaded import loaded, mistakes_end_it, only_stack
from tpuplane.spec import Mistake, SpecError
from tpuplane.spec.core.errors import repeated, shown
from tpuplane.spec.core.texts import text_problem

Text = str | None
Texts = list[str] | None
_MOST = 2**31 - 1
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_STACK = typer.Option(
    metavar="FILE", help="The stack file. Default: the only one in stacks/.", autocompletion=stack_files
)


def job(
    context: typer.Context,
    command: Annotated[Texts, typer.Argument(metavar="-- COMMAND...", help="The program, on each host.")] = None,
    stack: Annotated[Path | None, _STACK] = None,
    team: Annotated[Text, typer.Option(help="The team whose queue admits the job.")] = None,
    slice: Annotated[Text, typer.Option(help="The slice, such as v6e-4x4 or v6e-16.")] = None,
    slices: Annotated[int, typer.Option("--slices", "--num-slices", min=1, max=100_000, help="Number of slices.")] = 1,
    image: Annotated[Text, typer.Option(help="The container image of the program.")] = None,
    kind: Annotated[str, typer.Option(help="JobSet, Job (one host), RayJob or LeaderWorkerSet.")] = "JobSet",
    name: Annotated[Text, typer.Option(help="Default: the name of the script or program.")] = None,
    namespace: Annotated[Text, typer.Option("--namespace", "-n", help="Default: the team's first namespace.")] = None,
    cluster: Annotated[
        Text, typer.Option(help="Key of the cluster in the stack file. Default: the only one that fits.")
    ] = None,
    capacity: Annotated[
        Text, typer.Option(help="Run only on hosts with this capacity. Default: in the order of queues.capacityOrder.")
    ] = None,
    priority: Annotated[Text, typer.Option(help="A priority of the queues. Default: none.")] = None,
    restarts: Annotated[
        int | None, typer.Option(min=0, max=_MOST, help="Maximum number of restarts. Default: 3; for a RayJob 0.")
    ] = None,
    restart_on_exit_codes: Annotated[
        Text, typer.Option(metavar="CODES", help="Restart only after these exit codes, such as 42,137.")
    ] = None,
    timeout: Annotated[Text, typer.Option(metavar="TIME", help="Time limit, such as 2h.")] = None,
    ttl: Annotated[Text, typer.Option(metavar="TIME", help="Delete the job this long after it ends.")] = None,
    grace_period: Annotated[Text, typer.Option(metavar="TIME", help="Time after SIGTERM. Default: 30s.")] = None,
    env: Annotated[Texts, typer.Option(metavar="NAME=VALUE", help="Environment; repeatable.")] = None,
    mount: Annotated[
        Texts, typer.Option(metavar="NAME=/PATH", help="Mount a bucket, file system or disk; repeatable.")
    ] = None,
    service_account: Annotated[Text, typer.Option(help="Kubernetes service account of the pods.")] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the manifest, or the mistakes, as JSON.")] = False,
) -> None:
    """Print the manifest of a job on TPUs that the platform can run, for kubectl apply -f -. It submits nothing.

    Exit code 0: printed. 1: the stack file has mistakes, or the platform cannot run the job; one on each line. 2: wrong
    arguments, no such stack file.
    """
    from tpuplane.contexts import GkeCluster  # noqa: PLC0415 (a command imports only the modules that it needs)
    from tpuplane.jobs.request import job_for  # noqa: PLC0415
    from tpuplane.spec.core.yaml_writer import yaml_text  # noqa: PLC0415

    spec = loaded(stack or only_stack(), as_json_)
    with mistakes_end_it(as_json_):
        given = {
            **context.params,
            "restart_on_exit_codes": _codes(restart_on_exit_codes),
            "timeout": _seconds("--timeout", timeout),
            "ttl": _seconds("--ttl", ttl),
            "grace_period": _seconds("--grace-period", grace_period),
            "env": _variables(env or ()),
            "mount": [_parts("--mount", "([^=]+)=(.*)", "NAME=/PATH", text) for text in mount or ()],
        }
        manifest, target = job_for(spec, given)
    plain = json.dumps(manifest, indent=2)
    typer.echo(plain if as_json_ else yaml_text(json.loads(plain)).rstrip())
    gke = GkeCluster(spec.project, target.location, target.name)
    typer.echo(f"for {target.name}: kubectl --context {gke.context} apply -f -", err=True)


def _seconds(option: str, text: Text) -> int | None:
    if text is None:
        return None
    number, unit = _parts(option, "([0-9]{1,9})([smhd])", "a number with a unit, such as 90s, 30m, 2h or 7d", text)
    return int(number) * _SECONDS[unit]


def _variables(texts: Iterable[str]) -> dict[str, str]:
    pairs = [_parts("--env", "([^=]*)=(.*)", "NAME=VALUE", text) for text in texts]
    if problems := [problem for name, _ in pairs if (problem := text_problem("environmentName", name))]:
        raise SpecError(Mistake(("--env",), problem) for problem in problems)
    if (twice := repeated(name for name, _ in pairs)) is not None:
        raise SpecError([Mistake(("--env",), f"{shown(twice)} is given twice; remove one")])
    return dict(pairs)


def _codes(text: Text) -> list[int] | None:
    if text is None:
        return None
    form = "exit codes from 1 to 255, such as 42,137"
    codes, _ = _parts("--restart-on-exit-codes", "([0-9]{1,3}(,[0-9]{1,3})*)", form, text)
    return [int(code) for code in codes.split(",")]


def _parts(option: str, pattern: str, form: str, text: str) -> tuple[str, str]:
    if (match := re.fullmatch(pattern, text, re.DOTALL)) is None:
        raise SpecError([Mistake((option,), f"{text!r} is not allowed; allowed: {form}")])
    return match[1], match[2]
