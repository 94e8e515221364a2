"""`tpuplane explain` in a terminal and as JSON."""

from collections.abc import Callable
from typing import Any

from rich.text import Text

from tpuplane.cli.render import console
from tpuplane.explain import Explanation, citation
from tpuplane.spec.core.errors import Path

Where = Callable[[Path], str]
"""From a path of the description to `file:line`."""


def show_explanation(explanation: Explanation, where: Where) -> None:
    """Print each value with its reason and its sources."""
    out = console()
    out.print(Text(explanation.path, style="bold"))
    for value in explanation.values:
        out.print(Text.assemble(("\n  " + value.name, "bold"), f": {value.value}"))
        place = f" ({where(value.written)})" if value.written else ""
        out.print(Text(f"    {value.reason}{place}{''.join(f' [{source}]' for source in value.sources)}"))
    if cited := dict.fromkeys(source for value in explanation.values for source in value.sources):
        out.print()
    for source in cited:
        out.print(Text(f"[{source}] {citation(source)}"))


def explanation_as_json(explanation: Explanation, where: Where) -> dict[str, Any]:
    """The same as plain values; `where` is null for a value that the file does not set."""
    return {
        "path": explanation.path,
        "values": [
            {
                "name": value.name,
                "value": value.value,
                "reason": value.reason,
                "where": where(value.written) if value.written else None,
                "sources": {source: citation(source) for source in value.sources},
            }
            for value in explanation.values
        ],
    }
