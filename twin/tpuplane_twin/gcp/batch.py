"""Batches: several requests in one, as gcloud sends them to Compute Engine.

https://docs.cloud.google.com/compute/docs/api/how-tos/batch
"""

import secrets
from collections.abc import Awaitable, Callable
from email import message_from_bytes
from email.message import Message
from http import HTTPStatus

from aiohttp import web
from yarl import URL

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.service import Answer, Request

Respond = Callable[[Request], Awaitable[Answer]]


async def batch(respond: Respond, request: web.Request) -> web.Response:
    """The answer to a batch; `respond` answers each part, in order."""
    head = f"Content-Type: {request.headers.get('Content-Type', '')}\r\n\r\n"
    parts = message_from_bytes(head.encode() + await request.read())
    if not parts.is_multipart():
        raise invalid("The batch request must be multipart/mixed.")
    requests = [(part["Content-ID"] or "", _request(part)) for part in parts.walk() if not part.is_multipart()]
    boundary = f"batch_{secrets.token_hex(16)}"
    answers = [f"--{boundary}\r\n{_part(name, await respond(inner))}" for name, inner in requests]
    return web.Response(
        text="".join([*answers, f"--{boundary}--\r\n"]),
        headers={"Content-Type": f"multipart/mixed; boundary={boundary}"},
    )


def _request(part: Message) -> Request:
    payload = part.get_payload(decode=True)
    line, _, rest = (payload if isinstance(payload, bytes) else b"").lstrip().partition(b"\n")
    words = line.decode(errors="replace").split()
    if len(words) < 2 or part.get_content_type() != "application/http":
        raise invalid("Each part of a batch request must be an HTTP request.")
    body = message_from_bytes(rest).get_payload(decode=True)
    return Request(words[0], URL(words[1], encoded=True), body if isinstance(body, bytes) else b"")


def _part(name: str, answer: Answer) -> str:
    headers = "".join(f"{field}: {value}\r\n" for field, value in answer.headers.items())
    return (
        f"Content-Type: application/http\r\nContent-ID: <response-{name.strip('<>')}>\r\n\r\n"
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n{headers}"
        "Content-Type: application/json; charset=UTF-8\r\n"
        f"Content-Length: {len(answer.text.encode())}\r\n\r\n{answer.text}\r\n"
    )
