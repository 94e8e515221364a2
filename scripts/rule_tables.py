"""The tables of docs/policies.md, from the data of the policy pack."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from tpuplane_policies.core.registry import GROUPS, Rule, data, rules

from scripts.field_tables import markdown_table, with_regions


def with_rules(page: str) -> str:
    """The page with the number of rules, the rules and options of each group, and the differences from other tools."""
    columns = ("their checks", "example", "their result", "result of the pack, and reason")
    tables = {group: _tables([rule for rule in rules() if rule.group == group]) for group in GROUPS}
    tables["differences"] = markdown_table(columns, map(_difference, data("differences")))
    tables["count"] = f"The {len(rules())} rules, with default levels and the equivalent checks of other tools.\n"
    return with_regions(page, tables.__getitem__)


def _tables(group: Sequence[Rule]) -> str:
    table = markdown_table(("id", "rule, reason, remedy", "level", "equivalent checks"), map(_row, group))
    options = [option for rule in group for option in _options(rule)]
    return f"{table}\n{markdown_table(('option', 'meaning', 'default'), options)}" if options else table


def _difference(row: Mapping[str, Any]) -> tuple[str, ...]:
    theirs, ours = ("pass", "finding") if row["theirs"] == "pass" else ("finding", "pass")
    example = yaml.safe_dump(row["example"], default_flow_style=True, width=1000, sort_keys=False).strip()
    return ", ".join(row["ids"]), f"`{_cell(example)}`", theirs, f"{ours}: {_cell(row['why'])}"


def _row(rule: Rule) -> tuple[str, ...]:
    cis = [f"CIS {number}" for number in rule.cis]
    text = f"**{rule.title}.** {_sentence(rule.why)} {_sentence(rule.remedy)}"
    level = f"{rule.level}, {rule.severity}" + (", can remediate" if rule.repairs else "")
    return rule.id, _cell(text), level, ", ".join((*rule.checkov, *rule.trivy, *cis)) or "none"


def _options(rule: Rule) -> Iterator[tuple[str, ...]]:
    for name, schema in rule.options.items():
        default = schema.get("default")
        shown = "none: no check" if default is None else f"`{default}`"
        yield f"`{rule.id}.{name}`", _cell(schema["description"]), _cell(shown)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
