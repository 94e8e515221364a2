"""Ranks of pages in the site's search, as a hook of mkdocs: `search` of each page in `mkdocs.yml`, under `extra`."""

from typing import Any


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Sets a page's rank. A factor above 1 raises the page, one below 1 lowers it."""
    if (boost := config["extra"]["search"].get(page.file.src_uri)) is not None:
        page.meta["search"] = {"boost": boost}
    return markdown
