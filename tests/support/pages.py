"""The documentation's pages, and the shell commands in them: blocks that are fenced as `sh` or `console`.

In a `console` block the commands are the lines that start with "$ ", each with its output below. An output that begins
with a line "…" is the end of what the command prints. A block whose first line is "# untested: REASON" is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support import REPOSITORY

PAGES = [
    str(path.relative_to(REPOSITORY))
    for pattern in ("README.md", "docs/**/*.md", "[!.]*/README.md", "examples/*/README.md")
    for path in sorted(REPOSITORY.glob(pattern))
]

START = "docs/start.md"  # for users without a checkout: tests/e2e/programs/test_first_repository.py runs it
DESTROY = "docs/destroy.md"  # each block is for another state: tests/e2e/test_clusters_that_go.py runs it
ELSEWHERE = (START, DESTROY)

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_UNTESTED = re.compile(r"# untested: (.+)")
_PROMPT = "$ "
_OMITTED = "…\n"
_COMMAND = re.compile(r"^(\$ [^\n]*\n)((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)
_BEGIN, _END = "} 2>&1 || :", ": end of the output"
_PRINTED = re.compile(rf"^{re.escape(_BEGIN)}\n(.*?){_END}$", re.DOTALL | re.MULTILINE)
_VOLATILE = {
    r"\b(\d+(\.\d+)? ?(ms|s|m|h))+\b": "TIME",
    r"(?m)^twin \w+$": "twin NAME",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "DATE",
    r"-[0-9a-f]{5}\b|-[0-9a-f]{8}-": "-ID-",  # of Kueue's workloads, of instance groups
    r"[ \t]+": " ",
    r"(?m) $": "",
}


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


def script_of(page: str, first: str, stack: str = "local") -> str:
    """The commands of the block with this first line, for another stack than `local`."""
    (found,) = (block for block in blocks(page) if block.text.startswith(f"{first}\n"))
    return "\n".join(found.commands).replace("--stack local", f"--stack {stack}")


def script(page: str) -> str:
    """What the page tells its reader to type, in one shell; "" for a page without commands."""
    return "\n".join(line for block in blocks(page) if not block.untested for line in block.commands)


def recorded(page: str) -> str:
    """The script for `bash -v`, which prints each line that it reads. Added lines show where an output begins and ends.

    A command with an output may fail: its output shows it.
    """
    lines: list[str] = []
    for block in blocks(page):
        if block.untested:
            continue
        for line in block.commands:
            lines += [line] if block.language == "sh" else [f"{{ {line}", _BEGIN, _END]
    return "\n".join(lines)


def with_outputs(page: str, said: str) -> str:
    """The text of the page with the outputs that its recorded script has printed. Those that say the same remain."""
    printed = iter(_PRINTED.findall(said))

    def written(block: re.Match[str]) -> str:
        if block[1] != "console" or Block(block[1], block[2]).untested:
            return block[0]
        parts = (_with_output(*part, next(printed, "")) for part in _COMMAND.findall(block[2]))
        return f"```console\n{''.join(parts)}```"

    return _FENCED.sub(written, (REPOSITORY / page).read_text(encoding="utf-8"))


def _with_output(command: str, output: str, printed: str) -> str:
    lines = [f"{line.rstrip()}\n" for line in printed.rstrip().splitlines()]
    if output.startswith(_OMITTED):
        shown = output.count("\n") - 1
        lines = [_OMITTED, *lines[max(0, len(lines) - shown) :]]
    new = "".join(lines)
    return command + (output if _constant(output) == _constant(new) else new)


def _constant(output: str) -> str:
    """The output without what differs from run to run, and without the widths of columns."""
    for pattern, constant in _VOLATILE.items():
        output = re.sub(pattern, constant, output)
    return output.rstrip()
