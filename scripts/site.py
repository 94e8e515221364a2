"""Gather the pages of the site in `.site/pages`: `make docs`.

They are docs/, the changelog, and each example with its files. Links between them become links of the site. mkdocs
checks all links, so a link to another file of the repository fails the build.
"""

import re
import shutil
from os.path import normpath, relpath
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_LANGUAGES = {".py": "python", ".yaml": "yaml"}


def homes() -> dict[str, str]:
    """Each page of the repository that the site has, and its path there."""
    docs = {str(file.relative_to(ROOT)): str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.*")}
    examples = {f"examples/{page.parent.name}/README.md": f"examples/{page.parent.name}.md" for page in _examples()}
    return {**docs, **examples, "CHANGELOG.md": "changelog.md"}


def written(page: str, known: dict[str, str]) -> str:
    """The text of a page, with the links of the site. A folder means its README.md."""
    here = Path(known[page]).parent

    def link(found: re.Match[str]) -> str:
        target = normpath(Path(page).parent / found[1])
        home = known.get(target) or known.get(f"{target}/README.md")
        return f"]({relpath(home, here)}" if home else found[0]

    text = (ROOT / page).read_text(encoding="utf-8")
    parts = _FENCED.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def gather(folder: Path) -> None:
    """Write the pages to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    known = homes()
    for page, home in known.items():
        target = folder / home
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.endswith(".md"):
            files = _files(ROOT / page) if page.startswith("examples/") else ""
            target.write_text(written(page, known) + files, encoding="utf-8")
        else:
            shutil.copyfile(ROOT / page, target)


def _examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*/README.md"))


def _files(page: Path) -> str:
    """The programs and settings next to an example's page: the site has no folder to look into."""
    # Pulumi.STACK.yaml is not part of the example.
    files = sorted(it for it in page.parent.iterdir() if it.suffix in _LANGUAGES and it.name.count(".") == 1)
    shown = ((it.name, _LANGUAGES[it.suffix], it.read_text(encoding="utf-8").rstrip()) for it in files)
    return "\n## Files\n" + "".join(f"\n### `{name}`\n\n```{kind}\n{text}\n```\n" for name, kind, text in shown)


if __name__ == "__main__":
    gather(ROOT / ".site" / "pages")
