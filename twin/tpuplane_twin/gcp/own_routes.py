"""The twin's own routes: JSON objects in and out, and errors as Google's API writes them."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import isawaitable
from typing import Any

from aiohttp import web

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json

Answer = Callable[[Json], Json | Awaitable[Json]]
"""From the body of a request to the answer. Raises `ApiError`."""


def serve(app: web.Application, path: str, **answers: Answer) -> None:
    """Add the routes of a path to the application: an answer for each HTTP method."""
    for method, answer in answers.items():
        app.router.add_route(method, path, partial(_handle, answer))


async def _handle(answer: Answer, request: web.Request) -> web.Response:
    try:
        asked = json.loads(await request.text() or "{}")
    except json.JSONDecodeError as error:
        raise invalid(f"the body is not JSON: {error}") from error
    if not isinstance(asked, dict):
        raise invalid("the body is not a JSON object")
    found: Any = answer(asked)
    return web.json_response(await found if isawaitable(found) else found)
