"""Count the lines of hand-written Python outside of tests, all distributions together: a part of `make lint`.

Every Python file of the repository counts, also those of examples, scripts and templates, but not the files of `tests`
and not those whose first line begins with `# Generated`. `scripts/python_lines.txt` has the recorded number. `make
generate` lowers it. To raise it is a decision of the change that needs the lines.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path("scripts/python_lines.txt")
GENERATED = "# Generated"


def count(root: Path) -> int:
    """The lines of hand-written Python outside of tests; files that git ignores do not count."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py", ":!tests"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    files = [root / name for name in listed.split("\0") if name]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    return sum(len(text.splitlines()) for text in texts if not text.startswith(GENERATED))


def recorded(root: Path) -> int:
    """The recorded number."""
    return int((root / RECORDED).read_text(encoding="utf-8"))


def lower(root: Path) -> None:
    """Record the number of lines if there are fewer than recorded."""
    (root / RECORDED).write_text(f"{min(count(root), recorded(root))}\n", encoding="utf-8")


def excess(root: Path) -> str:
    """What is wrong if there are more lines than recorded; otherwise empty."""
    lines, allowed = count(root), recorded(root)
    if lines <= allowed:
        return ""
    return (
        f"hand-written Python outside of tests has {lines} lines, {lines - allowed} more than recorded in {RECORDED}. "
        f"Remove lines, or write {lines} into {RECORDED} and give the reason in the commit message"
    )


if __name__ == "__main__":
    sys.exit(excess(ROOT) or 0)
