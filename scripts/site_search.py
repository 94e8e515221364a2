"""The site's search, as a hook of mkdocs: `search` and `messages` in `mkdocs.yml`, under `extra`."""

import json
from pathlib import Path
from typing import Any


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Sets a page's rank. A factor above 1 raises the page, one below 1 lowers it."""
    for place, boost in config["extra"]["search"].items():
        if page.file.src_uri.startswith(place):
            page.meta["search"] = {"boost": boost}
    return markdown


def on_post_build(*, config: Any, **_: Any) -> None:
    """Tags the sections of messages, for which `docs/site.js` asks. The page's introduction has no tag."""
    file = Path(config["site_dir"], "search/search_index.json")
    index = json.loads(file.read_text(encoding="utf-8"))
    for section in index["docs"]:
        if section["location"].startswith(f"{config['extra']['messages']}#"):
            section["tags"] = ["message"]
    file.write_text(json.dumps(index), encoding="utf-8")
