"""The differences between two results of the suite, as a table for docs/fidelity.md."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Result = Mapping[str, Any]
Facts = dict[tuple[str, str], str]
_VARYING = re.compile(r"(?<=operations/)[^/]+|(?<=-)[0-9a-f]{8}(?=-|$)")
_NOT_COMPARED = frozenset({"selfLink", "id", "etag", "endpoint", "createTime", "startTime", "endTime", "name"})


def differences(google: Result, twin: Result) -> str:
    """A table in Markdown: step, subject, and what each has."""
    theirs, ours = _facts(google), _facts(twin)
    places = [place for place in dict.fromkeys([*theirs, *ours]) if theirs.get(place) != ours.get(place)]
    lines = [(*place, theirs.get(place, "none"), ours.get(place, "none")) for place in places]
    table = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]
    head = ["| step | what | Google Cloud | twin |", "|---|---|---|---|"]
    return "\n".join([*head, *table]) if table else "no difference"


def _facts(result: Result) -> Facts:
    """What is compared: the outcome of each step, the nodes, and the last answer of each method and path of a step.

    The items of a list are compared without their order and number.
    """
    facts: Facts = {(name, "outcome"): step["outcome"] for name, step in result["steps"].items()}
    for kind, items in result["nodes"].items():
        facts |= {("nodes", f"{kind}: {item}"): "yes" for item in items}
    for request in result["requests"]:
        call = f"{request['method']} {_VARYING.sub('*', request['path'])}"
        facts[request["step"], f"{call} code"] = str(request["status"])
        found: dict[str, set[str]] = {}
        for path, value in _fields(request["response"], ""):
            found.setdefault(path, set()).add(value)
        facts |= {(request["step"], f"{call} {path}"): ", ".join(sorted(values)) for path, values in found.items()}
    return facts


def _fields(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in _NOT_COMPARED:
                yield from _fields(item, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, f"{path}[]")
    elif value is not None:
        # Enumerations and booleans are compared; of addresses, times and numbers only the type.
        text = str(value)
        yield path, text if isinstance(value, bool) or re.fullmatch(r"[A-Z][A-Z0-9_]*", text) else type(value).__name__
