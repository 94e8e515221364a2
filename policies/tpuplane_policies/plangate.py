"""Judge what a plan replaces: `pulumi preview --json | python policies/plan_gate.py [--config FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tpuplane_policies.core.engine import judge_plan
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.registry import rules


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if no mandatory rule is broken, 1 if one is, 2 if the input is not what it should be."""
    parser = argparse.ArgumentParser(prog="plan_gate", description=__doc__)
    parser.add_argument("plan", nargs="?", default="-", help="output of `pulumi preview --json` (default: stdin)")
    parser.add_argument("--config", type=Path, help="policy configuration, as for --policy-pack-config")
    chosen = parser.parse_args(arguments)
    try:
        plan = Plan.parse(sys.stdin.read() if chosen.plan == "-" else Path(chosen.plan).read_text(encoding="utf-8"))
        config = json.loads(chosen.config.read_text(encoding="utf-8")) if chosen.config else {}
    except (OSError, ValueError) as error:
        print(f"plan_gate: {error}", file=sys.stderr)
        return 2
    return _judge(plan, config)


def _judge(plan: Plan, config: dict[str, Any]) -> int:
    failed, ledger, today = 0, Ledger(), datetime.now(UTC).date()
    for rule in rules():
        setting = config.get(rule.id, config.get("all", {}))
        settings = {"enforcementLevel": setting} if isinstance(setting, str) else setting
        level = settings.get("enforcementLevel", rule.level)
        if level == "disabled":
            continue
        for violation in judge_plan(rule, plan, settings, ledger, today):
            print(f"[{level}] {violation.message}")
            failed |= level in ("mandatory", "remediate")  # a plan is only judged
    for rule_id, record in ledger.records.items():
        for what in record.undecided:
            print(f"[advisory] {rule_id} cannot decide yet on {what}")
    return int(failed)
