"""The text of docs/policies.md, from the descriptions of the rules."""

from collections.abc import Iterator
from importlib.resources import files

import yaml

from tpuplane_policies.core.registry import GROUPS, Rule, data, rules


def page() -> str:
    """The whole page."""
    lines = [files("tpuplane_policies").joinpath("data/page.md").read_text(encoding="utf-8").rstrip()]
    lines += [f"\nThe {len(rules())} rules, with default levels and the equivalent checks of other tools."]
    for group, title in GROUPS.items():
        head = "| id | rule, reason, remedy | level | equivalent checks |"
        lines += [f"\n## {title}\n", head, "|---|---|---|---|"]
        lines += [_row(rule) for rule in rules() if rule.group == group]
        if options := [line for rule in rules() if rule.group == group for line in _options(rule)]:
            lines += ["", "| option | meaning | default |", "|---|---|---|", *options]
    return "\n".join([*lines, *_differences()]) + "\n"


def _differences() -> Iterator[str]:
    yield "\n## Differences from checkov and trivy\n"
    yield "Each finding names the equivalent checks of checkov and trivy. The pack's tests include their test cases."
    yield "These differences are intended:\n"
    yield "| their checks | example | their result | result of the pack, and reason |"
    yield "|---|---|---|---|"
    for row in data("differences"):
        theirs, ours = ("pass", "finding") if row["theirs"] == "pass" else ("finding", "pass")
        example = yaml.safe_dump(row["example"], default_flow_style=True, width=1000, sort_keys=False).strip()
        yield f"| {', '.join(row['ids'])} | `{_cell(example)}` | {theirs} | {ours}: {_cell(row['why'])} |"


def _row(rule: Rule) -> str:
    cis = [f"CIS {number}" for number in rule.cis]
    elsewhere = ", ".join((*rule.checkov, *rule.trivy, *cis)) or "none"
    text = f"**{rule.title}.** {_sentence(rule.why)} {_sentence(rule.remedy)}"
    level = f"{rule.level}, {rule.severity}" + (", can remediate" if rule.repairs else "")
    return f"| {rule.id} | {_cell(text)} | {level} | {elsewhere} |"


def _options(rule: Rule) -> Iterator[str]:
    for name, schema in rule.options.items():
        default = schema.get("default")
        shown = "none: no check" if default is None else f"`{default}`"
        yield f"| `{rule.id}.{name}` | {_cell(schema['description'])} | {_cell(shown)} |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
