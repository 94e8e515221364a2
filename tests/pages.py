"""The documentation's pages, and the shell commands in them: blocks that are fenced as `sh` or `console`.

In a `console` block the commands are the lines that start with "$ ". A block whose first line is "# untested: REASON"
is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGES = [
    str(path.relative_to(REPOSITORY))
    for pattern in ("README.md", "docs/**/*.md", "[!.]*/README.md", "examples/*/README.md")
    for path in sorted(REPOSITORY.glob(pattern))
]

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_UNTESTED = re.compile(r"# untested: (.+)")
_PROMPT = "$ "


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines that a shell gets."""
        lines = self.text.splitlines()
        if self.language == "console":
            return [line.removeprefix(_PROMPT) for line in lines if line.startswith(_PROMPT)]
        return lines if self.language == "sh" else []

    @property
    def untested(self) -> str:
        """Why the block is not run; "" for one that is."""
        marked = _UNTESTED.match(self.text)
        return marked[1] if marked else ""


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page. Raises ValueError for a fence that begins or ends none of them."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = list(_FENCED.finditer(text))
    if len(_FENCE.findall(text)) != 2 * len(found):
        raise ValueError(f"{page}: a block begins and ends with ``` at the start of a line, and has no fence in it")
    for block in found:
        yield Block(block[1], block[2])


def script(page: str) -> str:
    """What the page tells its reader to type, in one shell; "" for a page without commands."""
    return "\n".join(line for block in blocks(page) if not block.untested for line in block.commands)
