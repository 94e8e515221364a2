"""Write the outputs of commands into the documentation again: `python scripts/refresh_docs.py [--check]`.

In the pages below, a `console` block that starts with `$ tpuplane …` holds that command's output, docs/pictures holds
the picture of the platform of the unit tests, and components/schema.json what the component plugin offers.
With --check nothing is written; exit code 1 says what is stale.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from tpuplane.cli import app
from tpuplane.picture import draw
from tpuplane.plan import plan
from tpuplane.plugin import PlatformProvider
from tpuplane.spec import load_stack
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/cli.md", "docs/stacks.md")
PLUGIN_SCHEMA = "components/schema.json"
PICTURES = {"docs/pictures/acme.svg": "tests/unit/acme.yaml"}

_BLOCK = re.compile(r"^```console\n\$ tpuplane (?P<command>[^\n]+)\n.*?^```$", re.DOTALL | re.MULTILINE)


def _output(command: str) -> str:
    result = CliRunner().invoke(app, shlex.split(command))
    lines = [line.rstrip() for line in result.output.rstrip().splitlines()]
    return "\n".join(("```console", f"$ tpuplane {command}", *lines, "```"))


def refreshed() -> dict[Path, str]:
    """Every file as it should be. Commands run in the current folder, which must be the project's."""
    pages = {
        ROOT / page: _BLOCK.sub(lambda block: _output(block["command"]), (ROOT / page).read_text(encoding="utf-8"))
        for page in PAGES
    }
    pictures = {ROOT / picture: draw(plan(load_stack(ROOT / stack))) for picture, stack in PICTURES.items()}
    return pages | pictures | {ROOT / PLUGIN_SCHEMA: PlatformProvider().schema_text}


def stale() -> list[str]:
    """The files that are not as they should be."""
    wanted = refreshed().items()
    old = [file for file, text in wanted if not file.exists() or file.read_text(encoding="utf-8") != text]
    return [str(file.relative_to(ROOT)) for file in old]


def main() -> int:
    """Refresh, or only check."""
    if "--check" in sys.argv[1:]:
        found = stale()
        for name in found:
            print(f"{name} is stale; run python scripts/refresh_docs.py in the project's folder")
        return 1 if found else 0
    for file, text in refreshed().items():
        file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
