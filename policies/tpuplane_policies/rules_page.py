"""The text of docs/policies.md, from what is written about the rules."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import yaml

from tpuplane_policies.core.registry import GROUPS, Rule, rules

TITLES = {
    "gke": "GKE clusters and nodes",
    "tpu": "TPU node pools",
    "queueing": "Kueue, JobSet and Ray",
    "workload": "Workloads",
    "project": "Project, network, IAM and storage",
    "change": "Change, and the gate itself",
}


def page() -> str:
    """The whole page."""
    lines = [files("tpuplane_policies").joinpath("data/page.md").read_text(encoding="utf-8").rstrip()]
    lines += [f"\nThe {len(rules())} rules, with the ids that others give them. Levels are those without any config."]
    for group in GROUPS:
        lines += [f"\n## {TITLES[group]}\n", "| id | rule, why, remedy | level | elsewhere |", "|---|---|---|---|"]
        lines += [_row(rule) for rule in rules() if rule.group == group]
        options = [line for rule in rules() if rule.group == group for line in _options(rule)]
        if options:
            lines += ["", "| option | what it is | default |", "|---|---|---|", *options]
    return "\n".join([*lines, *_differences()]) + "\n"


def _differences() -> Iterator[str]:
    yield "\n## Where the pack judges otherwise than checkov and trivy\n"
    yield "Each finding names their checks that find the same. Their test cases, retold, are ours too."
    yield "We differ on purpose:\n"
    yield "| their checks | what | they | we, and why |"
    yield "|---|---|---|---|"
    text = files("tpuplane_policies").joinpath("data/differences.yaml").read_text(encoding="utf-8")
    for it in yaml.safe_load(text):
        theirs, ours = ("pass it", "a finding") if it["theirs"] == "pass" else ("a finding", "pass it")
        example = yaml.safe_dump(it["example"], default_flow_style=True, width=1000, sort_keys=False).strip()
        yield f"| {', '.join(it['ids'])} | `{_cell(example)}` | {theirs} | {ours}: {_cell(it['why'])} |"


def _row(rule: Rule) -> str:
    cis = [f"CIS {number}" for number in rule.cis]
    elsewhere = ", ".join((*rule.checkov, *rule.trivy, *cis)) or "none"
    text = f"**{rule.title}.** {_sentence(rule.why)} {_sentence(rule.remedy)}"
    level = f"{rule.level}, {rule.severity}" + (", can remediate" if rule.repairs else "")
    return f"| {rule.id} | {_cell(text)} | {level} | {elsewhere} |"


def _options(rule: Rule) -> Iterator[str]:
    for name, schema in rule.options.items():
        default = schema.get("default")
        shown = "none: not judged" if default is None else f"`{default}`"
        yield f"| `{rule.id}.{name}` | {_cell(schema['description'])} | {_cell(shown)} |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
