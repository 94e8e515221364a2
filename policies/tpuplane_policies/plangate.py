"""Check what a plan replaces and deletes: `pulumi preview --json --show-sames | tpuplane-plan-gate [--config FILE]`."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
import yaml
from tpuplane.program import Program, version_option
from tpuplane.quantities import counted
from tpuplane.spec.addons.definitions import project_folder

from tpuplane_policies.core.config import SHIPPED, ConfigError, read, settings
from tpuplane_policies.core.descriptions import described
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import BLOCKING, rules
from tpuplane_policies.core.run import Run

app = Program(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command(
    epilog="Example: set -o pipefail; pulumi preview --stack prod --json --show-sames | "
    "tpuplane-plan-gate --stack prod --config policies/config/prod.json"
)
def gate(
    plan: Annotated[str, typer.Argument(help="Output of `pulumi preview --json`. Default: standard input.")] = "-",
    config: Annotated[Path | None, typer.Option(help="Policy configuration, as for --policy-pack-config.")] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            help="Reject the plan of any other stack. The name is as for `pulumi --stack`. Default: any stack."
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            help="The description before the change: a stack file, or REVISION:PATH. Default: the last update."
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A policy of your own that the configuration file sets. Repeatable."),
    ] = None,
    version: Annotated[bool, version_option("tpuplane-plan-gate", "tpuplane-policies")] = False,
) -> None:
    """Check replacements and deletions of a plan. It judges changes to a description by the classes of `tpuplane diff`.

    Exit code 0: the plan violates no mandatory rule. 1: it violates at least one. 2: the configuration or
    --before cannot be read, or the plan is not complete or not from a successful preview.
    """
    raise typer.Exit(_exit_code(plan, config, stack, before, other or ()))


def _exit_code(
    file: str, config_file: Path | None, stack: str | None, before: str | None, others: Sequence[str]
) -> int:
    try:
        config = read(config_file) if config_file else {}
        checked = settings(config, str(config_file), rules(), others)
        plan = Plan.parse(_content(file).decode())
        _reject_other(plan, stack)
        plan = described(plan, stack or plan.stack, before)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        command = f"pulumi preview --stack {stack or 'STACK'} --json --show-sames"
        print(f"tpuplane-plan-gate: {error}. Remedy: run `{command}` and correct its errors; {_PIPE}", file=sys.stderr)
        return 2
    run = Run((rule for rule in rules() if rule.plan_checks or rule.about), checked, datetime.now(UTC).date())
    failed = _judge(run, plan)
    shipped = SHIPPED / f"{plan.stack}.json"
    if config_file is None and shipped.exists():
        print(f"no configuration, so every rule has its default level; use --config {shipped}")
    return int(failed)


def _content(file: str) -> bytes:
    if file != "-":
        try:
            return Path(file).read_bytes()
        except OSError as error:
            remedy = "name a file with the output of `pulumi preview --json`"
            raise ConfigError(f"{file or 'an empty name'} cannot be read: {error.strerror}. Remedy: {remedy}") from None
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer.read()


_PIPE = "with `set -o pipefail` before a pipe, the script ends there"


def _reject_other(plan: Plan, stack: str | None) -> None:
    """Reject a plan of another stack, or of another project than the one in this folder.

    Raises `ConfigError` if the name of the stack has another form, else `ValueError`.
    """
    if stack == "":  # as from a variable that is not set
        raise ValueError("--stack is empty; `pulumi stack ls` lists the stacks")
    *above, name = (stack or plan.stack).split("/")
    if len(above) > 2:
        forms = "STACK, ORGANIZATION/STACK or ORGANIZATION/PROJECT/STACK"
        raise ConfigError(f"--stack: {stack} is not {forms}. Remedy: name the stack as `pulumi stack ls` lists it")
    if plan.stack != name:
        raise ValueError(f"the plan is of stack {plan.stack}, not of {name}")
    project = above[1] if len(above) == 2 else _project_here()
    if project is not None and plan.project != project:
        raise ValueError(f"the plan is of project {plan.project}, not of {project}")


def _project_here() -> str | None:
    """The name in `Pulumi.yaml` of this folder, or else of the nearest folder above; None without such a file."""
    file = project_folder(Path.cwd()) / "Pulumi.yaml"
    if not file.is_file():
        return None
    try:
        return str(yaml.safe_load(file.read_text("utf-8"))["name"])
    except (yaml.YAMLError, KeyError, TypeError):
        raise ValueError(f"{file} has no name of a project that can be read") from None


def _judge(run: Run, plan: Plan) -> bool:
    failed = False
    for rule in run.rules.values():
        if run.settings.level(rule) != "disabled":
            for violation in run.about(rule) if rule.about else run.whole(rule, plan):
                print(f"[{violation.level}] {violation.message}")
                failed |= violation.level in BLOCKING  # a plan is never remediated
    print(f"plan of {plan.stack}, {counted(len(plan.steps), 'step')}: {run.totals}", *run.exemptions(), sep="\n")
    return failed
