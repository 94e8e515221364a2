"""Requests to one API server, and its messages when it rejects one."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast
from urllib.parse import urlencode

from tpuplane_standins.providers.kubernetes.kubeconfig import Credentials
from tpuplane_standins.providers.kubernetes.values import Object

_JSON: Final = "application/json"
CONNECT_TIMEOUT: Final = 10.0
READ_TIMEOUT: Final = 60.0
THROTTLED_ATTEMPTS: Final = 10
"""How often a request is repeated that the server asks to repeat (429), as client-go does."""


class StatusError(Exception):
    """The API server rejected a request; the message is the server's."""

    def __init__(self, code: int, status: Mapping[str, Any], body: str) -> None:
        message = status.get("message") or body.strip() or f"the server returned HTTP {code}"
        super().__init__(message)
        self.code = code
        self.message = str(message)
        self.reason = str(status.get("reason") or "")
        self.details: Mapping[str, Any] = status.get("details") or {}

    @property
    def already_exists(self) -> bool:
        """An object of this name exists."""
        return self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """Another field manager owns a field, or the object changed meanwhile."""
        return self.code == 409 and not self.already_exists

    @property
    def not_found(self) -> bool:
        """The object, its namespace or its kind does not exist."""
        return self.code == 404

    @property
    def namespace_not_found(self) -> bool:
        """The namespace of the object does not exist."""
        return self.not_found and self.details.get("kind") == "namespaces"


class ConnectionFailed(Exception):
    """No answer from the API server."""


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

        Raises `StatusError` when the server rejects the request, `ConnectionFailed` when it does not answer.
        """
        url = self._url(path, query)
        headers = {"Accept": accept, **({} if body is None else {"Content-Type": content_type})}
        for _ in range(THROTTLED_ATTEMPTS):
            response = self._send(method, url, headers, body)
            if response.status != 429 or "Retry-After" not in response.headers:
                break
            response.drain_conn()
            time.sleep(min(float(response.headers["Retry-After"]), 10.0))
        if warnings is not None:
            warnings += _warnings(response)
        text = self._text(method, url, response)
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
        url = self._url(path, query)
        response = self._send("GET", url, {"Accept": _JSON})
        if response.status >= 400:
            text = self._text("GET", url, response)
            raise StatusError(response.status, {"message": text}, text)
        try:
            for line in cast(Any, iter_resp_lines)(response):
                if line:
                    yield json.loads(line)
        except urllib3.exceptions.HTTPError:
            return
        finally:
            response.close()

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: Any = None) -> Any:
        authorization = self._credentials.headers()
        response = self._send_once(method, url, {**headers, **authorization}, body)
        if response.status == 401 and self._credentials.renew(authorization):
            response.drain_conn()
            response = self._send_once(method, url, {**headers, **self._credentials.headers()}, body)
        return response

    def _send_once(self, method: str, url: str, headers: Mapping[str, str], body: Any) -> Any:
        import urllib3  # noqa: PLC0415

        with self._answering(method, url):
            return self._pool.request(
                method,
                url,
                body=None if body is None else json.dumps(body),
                headers={"User-Agent": "pulumi-kubernetes", **headers},
                timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=READ_TIMEOUT),
                preload_content=False,
            )

    def _text(self, method: str, url: str, response: Any) -> str:
        """The body, which is read from the connection only now."""
        with self._answering(method, url):
            return str(response.data.decode("utf-8", "replace"))

    @contextmanager
    def _answering(self, method: str, url: str) -> Iterator[None]:
        import urllib3  # noqa: PLC0415

        try:
            yield
        except urllib3.exceptions.HTTPError as error:
            reason = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) else error
            # "Connection broken" comes with the error below it, a refused connection with the object's address.
            cause = str(reason.args[0] if isinstance(reason, urllib3.exceptions.ProtocolError) else reason)
            if "object at 0x" in cause:
                cause = cause.rpartition("object at 0x")[2].partition(": ")[2]
            raise ConnectionFailed(f'{method.title()} "{url}": {cause}') from error

    def _url(self, path: str, query: Mapping[str, str]) -> str:
        return f"{self._host}{path}" + (f"?{urlencode(query)}" if query else "")


def _warnings(response: Any) -> list[str]:
    """The texts of the `Warning: 299 - "text"` headers."""
    found = []
    for header in response.headers.getlist("Warning"):
        _, quote, text = header.partition('"')
        if quote:
            found.append(text.rpartition('"')[0].replace('\\"', '"'))
    return found
