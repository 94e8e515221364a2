"""The tables of docs/errors.md, from the rules of the spec and the messages that its tests expect, word by word."""

import re
from collections.abc import Callable, Iterator

import yaml
from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.spec.core.rules import Rule, rules
from tpuplane.tpu import catalogue

from scripts.field_tables import markdown_table

_REGION = re.compile(r"(?<=<!-- generated: )([\w ]+) -->\n.*?(?=<!-- end -->)", re.DOTALL)
_ALLOWED = re.compile(r"(?<=allowed: )((?:[^,;]+, ){6})[^;]+")
_SHAPE = Rule(id="", sources=(), cause="")  # what decides the shape of a slice is in tpuplane.tpu, with its sources
_SECTION = re.compile(r"^# ([^\n]+)\n(?=- )", re.MULTILINE)


def with_errors(page: str, read: Callable[[str], str]) -> str:
    """The page with its tables. `read` gives the text of a file of the repository."""
    tables = {
        "rules": lambda: _rules(read("tests/unit/spec/rules.yaml")),
        "class rules": lambda: _rules(read("tests/unit/spec/class_rules.yaml")),
        "fields": lambda: "\n".join(_sections(read("tests/unit/spec/mistakes.yaml"))),
        "waiting": _waiting,
        "sources": _sources,
    }
    return _REGION.sub(lambda region: f"{region[1]} -->\n{tables[region[1]]()}", page)


def _rules(table: str) -> str:
    rows = []
    for case in yaml.safe_load(table):
        if "line" in case:
            rule = rules().get(case["rule"], _SHAPE)
            message, remedy = _split(case["line"], rule.cause.count("; "))
            theirs = case.get("api", {}).get("rejection")
            rows.append((f"{message}<br>GKE: {_code(theirs)}" if theirs else message, remedy, ", ".join(rule.sources)))
    return markdown_table(("message", "what to write instead", "sources"), rows)


def _sections(table: str) -> Iterator[str]:
    """A table for each comment that begins a section."""
    _, *parts = _SECTION.split(table)
    for title, cases in zip(parts[::2], parts[1::2], strict=True):
        rows = (_split(case["line"], 0) for case in yaml.safe_load(cases))
        yield f"### {title}\n\n{markdown_table(('message', 'what to write instead'), rows)}"


def _waiting() -> str:
    reasons = (it for it in read_data("tpuplane.status", "kueue_messages")["words"] if it["text"])
    rows = ((_code(re.sub(r"{\d}", "…", it["text"])), it["remedy"]) for it in reasons)
    return markdown_table(("reason", "what to do"), rows)


def _sources() -> str:
    known = {**gpu_catalogue().sources, **catalogue().sources}
    used = {source for rule in rules().values() for source in rule.sources}
    return markdown_table(("key", "source"), ((f"`{key}`", known[key]) for key in sorted(used)))


def _split(line: str, more: int) -> tuple[str, str]:
    """Path and cause; allowed values, of which the first six, and remedy."""
    parts = _ALLOWED.sub(r"\1…", line).split("; ")
    return _code("; ".join(parts[: 1 + more])), _code("; ".join(parts[1 + more :]))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""
