"""The body of a request to the twin's own routes."""

import json

from aiohttp import web

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json


async def body_of(request: web.Request) -> Json:
    """The JSON object in the request, empty without a body. Raises `ApiError` for anything else."""
    try:
        found = json.loads(await request.text() or "{}")
    except json.JSONDecodeError as error:
        raise invalid(f"the body is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise invalid("the body is not a JSON object")
    return found
