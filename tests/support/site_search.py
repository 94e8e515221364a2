"""The site's own search, in a JavaScript engine: the worker of the built site, its index and `docs/site.js`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import quickjs

# What a browser gives to a worker and to a page, as far as these scripts use it.
_BROWSER = """
const self = globalThis, handlers = [], answers = [], console = {time() {}, timeEnd() {}}
self.addEventListener = (name, handler) => handlers.push(handler)
self.postMessage = message => answers.push(message)
class Worker {}
Worker.prototype.postMessage = message => handlers.forEach(handler => handler({data: message}))
"""


def search_of(html: Path) -> Callable[[str], list[str]]:
    """A function from a query to the addresses that the site in `html` finds, the best first."""
    context = quickjs.Context()
    context.eval(_BROWSER)
    (worker,) = (html / "assets/javascripts/workers").glob("search.*.min.js")
    for script in (worker, html / "docs/site.js"):
        context.eval(script.read_text())

    def send(message: dict[str, Any]) -> list[Any]:
        context.eval(f"answers.length = 0; new Worker().postMessage({json.dumps(message)})")
        while context.execute_pending_job():
            pass
        answers: list[Any] = json.loads(context.eval("JSON.stringify(answers)"))
        return answers

    send({"type": 0, "data": {**json.loads((html / "search/search_index.json").read_text()), "options": {}}})
    return lambda query: [page[0]["location"] for page in send({"type": 2, "data": query})[0]["data"]["items"]]
