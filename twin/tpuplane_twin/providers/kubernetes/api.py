"""Requests to one API server, and its own words when it refuses one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlencode

from tpuplane_twin.providers.kubernetes.kubeconfig import Credentials
from tpuplane_twin.providers.kubernetes.values import Object

_JSON: Final = "application/json"
CONNECT_TIMEOUT: Final = 10.0
READ_TIMEOUT: Final = 60.0
THROTTLED_ATTEMPTS: Final = 10
"""How often a request is repeated that the server asks to repeat (429), as client-go does."""


class StatusError(Exception):
    """The API server refused a request; the message is its own."""

    def __init__(self, code: int, status: Mapping[str, Any], body: str) -> None:
        message = status.get("message") or body.strip() or f"the server returned HTTP {code}"
        super().__init__(message)
        self.code = code
        self.message = str(message)
        self.reason = str(status.get("reason") or "")
        self.details: Mapping[str, Any] = status.get("details") or {}

    @property
    def already_exists(self) -> bool:
        """An object of this name is there."""
        return self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """Another field manager owns a field, or the object changed meanwhile."""
        return self.code == 409 and not self.already_exists

    @property
    def not_found(self) -> bool:
        """The object, its namespace or its kind is not there."""
        return self.code == 404

    @property
    def namespace_not_found(self) -> bool:
        """The namespace of the object is not there."""
        return self.not_found and self.details.get("kind") == "namespaces"


class ConnectionFailed(Exception):
    """No answer from the API server."""


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: Mapping[str, str]
    body: Any = None
    content_type: str = _JSON
    accept: str = _JSON


class ApiServer:
    """One API server and the credentials for it. Safe for use by many threads."""

    def __init__(self, credentials: Credentials) -> None:
        from kubernetes.client.rest import RESTClientObject  # noqa: PLC0415  (slow to import)

        self._credentials = credentials
        self._pool = RESTClientObject(credentials.configuration).pool_manager
        self._host = str(credentials.configuration.host)

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        content_type: str = _JSON,
        accept: str = _JSON,
        warnings: list[str] | None = None,
        **query: str,
    ) -> Object:
        """Send one request and return the answer's JSON. The server's warnings are appended to `warnings`.

        Raises `StatusError` when the server refuses, `ConnectionFailed` when it does not answer.
        """
        for _ in range(THROTTLED_ATTEMPTS):
            response = self._send(_Request(method, path, query, body, content_type, accept))
            if response.status != 429 or "Retry-After" not in response.headers:
                break
            response.drain_conn()
            time.sleep(min(float(response.headers["Retry-After"]), 10.0))
        if warnings is not None:
            warnings += _warnings(response)
        text = response.data.decode("utf-8", "replace")
        try:
            answer = json.loads(text) if text else {}
        except ValueError:
            answer = {}
        if not isinstance(answer, dict):
            answer = {}
        if response.status >= 400:
            raise StatusError(response.status, answer, text)
        return answer

    def watch(self, path: str, resource_version: str, field_selector: str, seconds: int) -> Iterator[Object]:
        """Changes after `resource_version`, as the server pushes them, for at most `seconds`.

        Raises as `request` does; a connection that breaks off just ends the changes.
        """
        import urllib3  # noqa: PLC0415
        from kubernetes.watch.watch import iter_resp_lines  # noqa: PLC0415

        query = {
            "watch": "true",
            "fieldSelector": field_selector,
            "resourceVersion": resource_version,
            "timeoutSeconds": str(seconds),
        }
        response = self._send(_Request("GET", path, query))
        if response.status >= 400:
            text = response.data.decode("utf-8", "replace")
            raise StatusError(response.status, {"message": text}, text)
        try:
            for line in cast(Any, iter_resp_lines)(response):
                if line:
                    yield json.loads(line)
        except urllib3.exceptions.HTTPError:
            return
        finally:
            response.close()

    def _send(self, request: _Request) -> Any:
        authorization = self._credentials.headers()
        response = self._send_once(request, authorization)
        if response.status == 401 and self._credentials.renew(authorization):
            response.drain_conn()
            response = self._send_once(request, self._credentials.headers())
        return response

    def _send_once(self, request: _Request, authorization: Mapping[str, str]) -> Any:
        import urllib3  # noqa: PLC0415

        url = f"{self._host}{request.path}" + (f"?{urlencode(request.query)}" if request.query else "")
        headers = {"Accept": request.accept, "User-Agent": "pulumi-kubernetes", **authorization}
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        try:
            return self._pool.request(
                request.method,
                url,
                body=None if request.body is None else json.dumps(request.body),
                headers=headers,
                timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=READ_TIMEOUT),
                preload_content=False,
            )
        except urllib3.exceptions.HTTPError as error:
            cause = str(error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error)
            cause = cause.rpartition("object at 0x")[2].partition(": ")[2] or cause
            raise ConnectionFailed(f'{request.method.title()} "{url}": {cause}') from error


def _warnings(response: Any) -> list[str]:
    """The texts of the `Warning: 299 - "text"` headers."""
    found = []
    for header in response.headers.getlist("Warning"):
        _, quote, text = header.partition('"')
        if quote:
            found.append(text.rpartition('"')[0].replace('\\"', '"'))
    return found


class Cancellation:
    """Set once, when the engine tells the provider to give up."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """End every wait."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether the engine gave up."""
        return self._event.is_set()

    def sleep(self, seconds: float) -> None:
        """Wait, but not beyond a cancellation."""
        self._event.wait(seconds)
