"""The routes below /twin: JSON in, JSON out, and errors as Google's API writes them."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.store import StoreError

Json = dict[str, Any]

log = logging.getLogger(__name__)


class Rejected(Exception):
    """The request is invalid; the message has cause and remedy."""


def answering(answer: Callable[[Json], Awaitable[Json]]) -> Callable[[web.Request], Awaitable[web.Response]]:
    """The handler of a route: 400 where it is `Rejected`, 507 where the state cannot be written."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return web.json_response(await answer(await _body(request)))
        except Rejected as error:
            rejection = invalid(str(error))
        except StoreError as error:
            log.error("%s", error)
            rejection = ApiError("RESOURCE_EXHAUSTED", str(error))
        return web.json_response(rejection.body("rpc"), status=rejection.http_code)

    return handle


async def _body(request: web.Request) -> Json:
    try:
        found = await request.json() if request.can_read_body else {}
    except json.JSONDecodeError as error:
        raise Rejected(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Rejected("the body is no JSON object")
    return found
