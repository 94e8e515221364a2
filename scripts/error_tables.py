"""The tables of docs/errors.md, from the rules of the spec, the messages of its tests, and what commands raise."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from tpuplane import spec
from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.spec.core.rules import Rule, rules
from tpuplane.tpu import catalogue

from scripts.field_tables import markdown_table, with_regions

_MODEL = re.compile(r"{(\w+Spec)}")
_ALLOWED = re.compile(r"(?<=allowed: )((?:[^,;]+, ){6})[^;]+")
_SHAPE = Rule(id="", sources=(), cause="")  # what decides the shape of a slice is in tpuplane.tpu, with its sources
_INDEX = re.compile(r"\[\d+\]")
# Exceptions whose text a user reads.
_SHOWN = re.compile(
    "(Absent|ChartMissing|DiskFull|InvalidSetting|NoEnvironment|NoJob|NoTimeline|NoUpdate|PortTaken|ProcessFailed|ToolError|"
    "TwinError|TwinNameError|Undecided|UnknownPath|Unreachable|usage_error)$"
)


def with_errors(page: str, root: Path) -> str:
    """The page with its tables. `root` is the repository's folder."""
    expected = root / "tests/unit/spec"
    tables = {
        "commands": lambda: _raised(root / "components/tpuplane"),
        "twin": lambda: _raised(root / "twin", root / "standins"),
        "rules": lambda: _rules(expected / "rules.yaml"),
        "class rules": lambda: _rules(expected / "class_rules.yaml"),
        "fields": lambda: "\n".join(_sections(with_fields((expected / "mistakes.yaml").read_text(encoding="utf-8")))),
        "waiting": _waiting,
        "sources": _sources,
    }
    return with_regions(page, lambda name: tables[name]())


def with_fields(table: str) -> str:
    """The table, in which {PoolSpec} becomes the names of all fields of this model."""
    return _MODEL.sub(
        lambda name: ", ".join(str(field.alias) for field in getattr(spec, name[1]).model_fields.values()), table
    )


def _raised(*folders: Path) -> str:
    """What the commands of packages print, with "…" for values."""
    files = (file for folder in folders for file in folder.rglob("*.py"))
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    calls = (node.exc for node in nodes if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call))
    names = ((ast.unparse(call.func), call) for call in calls)
    texts = {" ".join(_said(call).split()) for name, call in names if _SHOWN.match(name) and call.args}
    said = (text for text in texts if len(re.findall(r"[A-Za-z]{2,}", text)) > 2)  # more than values
    rows = (text.partition("; ")[::2] for text in sorted(said, key=lambda entry: entry.lstrip("…:` ")))
    return markdown_table(("message", "remedy"), ((_code(cause), _code(remedy)) for cause, remedy in rows))


def _said(call: ast.Call) -> str:
    """The cause and, if it is an argument of its own, the remedy."""
    return "; ".join(_text(argument) for argument in call.args)


def _text(node: ast.AST) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


def _rules(table: Path) -> str:
    rows = []
    for case in yaml.safe_load(table.read_text(encoding="utf-8")):
        if "line" in case:
            rule = rules().get(case["rule"], _SHAPE)
            message, remedy = _split(case["line"], rule.cause.count("; "))
            theirs = case.get("api", {}).get("rejection")
            rows.append((f"{message}<br>GKE: {_code(theirs)}" if theirs else message, remedy, ", ".join(rule.sources)))
    return markdown_table(("message", "what to write instead", "sources"), dict.fromkeys(rows))


def _sections(table: str) -> Iterator[str]:
    """A table for each part of a description, by the paths of the messages."""
    sections: dict[str, dict[tuple[str, str], None]] = {}  # cases that differ in values only are one row
    for case in yaml.safe_load(table):
        sections.setdefault(_part(case["line"]), {})[_split(case["line"], 0)] = None
    for title, rows in sorted(sections.items()):
        yield f"### {title}\n\n{markdown_table(('message', 'what to write instead'), rows)}"


def _part(line: str) -> str:
    top, *below = _INDEX.sub("", line.partition(":")[0]).split(".")
    fields = {str(field.alias) for field in spec.ClusterSpec.model_fields.values()}
    if top == "clusters" and below[1:] and below[1] in fields:
        return f"`clusters.CLUSTER.{below[1]}`"
    return f"`{top}`" if top in {field.alias for field in spec.PlatformSpec.model_fields.values()} else "Unknown fields"


def _waiting() -> str:
    reasons = (reason for reason in read_data("tpuplane.status", "reasons")["reasons"] if reason.get("text"))
    rows = ((re.sub(r"{\w+}", "…", reason["text"]), re.sub(r"{\w+}", "…", reason["help"])) for reason in reasons)
    return markdown_table(("reason", "what to do"), ((_code(text), help_) for text, help_ in rows))


def _sources() -> str:
    known = {**gpu_catalogue().sources, **catalogue().sources}
    used = {source for rule in rules().values() for source in rule.sources}
    return markdown_table(("key", "source"), ((f"`{key}`", known[key]) for key in sorted(used)))


def _split(line: str, more: int) -> tuple[str, str]:
    """Path and cause; allowed values, of which the first six, and remedy."""
    parts = _ALLOWED.sub(r"\1…", line).split("; ")
    return _code("; ".join(parts[: 1 + more])), _code("; ".join(parts[1 + more :]))


def _code(text: str) -> str:
    """As code, also with backticks in it."""
    fence, space = ("``", " ") if "`" in text else ("`", "")
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|") if text else ""
