"""Check the replacements of a plan: `pulumi preview --json --show-sames | tpuplane-plan-gate [--config FILE]`."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tpuplane_policies.core.config import SHIPPED, ConfigError, read, settings
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import BLOCKING, rules
from tpuplane_policies.core.run import Run


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if no mandatory rule is violated, 1 if one is, 2 if the plan or the configuration cannot be read."""
    parser = argparse.ArgumentParser(prog="tpuplane-plan-gate", description=__doc__)
    parser.add_argument("plan", nargs="?", default="-", help="output of `pulumi preview --json` (default: stdin)")
    parser.add_argument("--config", type=Path, help="policy configuration, as for --policy-pack-config")
    parser.add_argument(
        "--other", action="append", default=[], metavar="NAME", help="one of your own policies that --config sets"
    )
    chosen = parser.parse_args(arguments)
    try:
        config = read(chosen.config) if chosen.config else {}
        checked = settings(config, str(chosen.config), rules(), chosen.other)
        plan = Plan.parse(sys.stdin.read() if chosen.plan == "-" else Path(chosen.plan).read_text(encoding="utf-8"))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"tpuplane-plan-gate: {error}", file=sys.stderr)
        return 2
    run = Run((rule for rule in rules() if rule.plan_checks or rule.about), checked, datetime.now(UTC).date())
    failed = _judge(run, plan)
    shipped = SHIPPED / f"{plan.stack}.json"
    if chosen.config is None and shipped.exists():
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
