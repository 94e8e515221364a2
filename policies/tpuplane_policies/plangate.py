"""Check the replacements of a plan: `pulumi preview --json --show-sames | tpuplane-plan-gate [--config FILE]`."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from tpuplane.version_option import version_option

from tpuplane_policies.core.config import SHIPPED, ConfigError, read, settings
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import BLOCKING, rules
from tpuplane_policies.core.run import Run

app = typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command(
    epilog="Example: pulumi preview --json --show-sames | tpuplane-plan-gate --config policies/config/prod.json"
)
def gate(
    plan: Annotated[str, typer.Argument(help="Output of `pulumi preview --json`. Default: standard input.")] = "-",
    config: Annotated[Path | None, typer.Option(help="Policy configuration, as for --policy-pack-config.")] = None,
    other: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One of your own policies that --config sets; repeatable.")
    ] = None,
    version: Annotated[bool, version_option("tpuplane-plan-gate", "tpuplane-policies")] = False,
) -> None:
    """Check the replacements of a plan.

    Exit code 0: no mandatory rule is violated. 1: one is. 2: the plan or the configuration cannot be read.
    """
    raise typer.Exit(_exit_code(plan, config, other or ()))


def _exit_code(file: str, config_file: Path | None, others: Sequence[str]) -> int:
    try:
        config = read(config_file) if config_file else {}
        checked = settings(config, str(config_file), rules(), others)
        plan = Plan.parse(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"tpuplane-plan-gate: {error}", file=sys.stderr)
        return 2
    run = Run((rule for rule in rules() if rule.plan_checks or rule.about), checked, datetime.now(UTC).date())
    failed = _judge(run, plan)
    shipped = SHIPPED / f"{plan.stack}.json"
    if config_file is None and shipped.exists():
        print(f"no configuration, so every rule has its default level; use --config {shipped}")
    return int(failed)


def _judge(run: Run, plan: Plan) -> bool:
    failed = False
    for rule in run.rules.values():
        if run.settings.level(rule) != "disabled":
            for violation in run.about(rule) if rule.about else run.plan(rule, plan):
                print(f"[{violation.level}] {violation.message}")
                failed |= violation.level in BLOCKING  # a plan is never remediated
    print("\n".join(run.summary() or ["no findings"]))
    return failed
