"""Google's REST APIs as the official plugin speaks them: headers, retries, errors, long-running operations."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import urllib3

from tpuplane_standins.providers.contract import ProviderError

_REQUEST_TIMEOUT_SECONDS: Final = 120.0
_TRANSIENT: Final = frozenset({429, 500, 502, 503})
_FIRST_RETRY_SECONDS: Final = 0.5
_LONGEST_RETRY_SECONDS: Final = 10.0

Result = TypeVar("Result")


class ApiError(ProviderError):
    """An HTTP error with Google's error body, worded as Google's Go client words it."""

    def __init__(self, status: int, body: str) -> None:
        self.status = status
        self.body = body
        try:
            error = json.loads(body)["error"]
            self.message = str(error["message"])
        except (ValueError, KeyError, TypeError):
            error, self.message = {}, body
        self.reasons = [str(item.get("reason", "")) for item in error.get("errors", [])]
        super().__init__(self._text(error))

    def _text(self, error: Mapping[str, Any]) -> str:
        text = f"googleapi: Error {self.status}: {self.message}" if self.message else f"got HTTP {self.status}"
        if details := error.get("details"):
            text += f"\nDetails:\n{json.dumps(details, indent=2)}\n"
        errors = error.get("errors", [])
        if len(errors) == 1 and errors[0].get("message") == self.message:
            return f"{text}, {self.reasons[0]}"
        if errors:
            text += "\nMore details:\n"
            text += "".join(
                f"Reason: {item.get('reason', '')}, Message: {item.get('message', '')}\n" for item in errors
            )
        return text

    @property
    def not_found(self) -> bool:
        """Whether the resource does not exist."""
        return self.status == 404

    @property
    def busy(self) -> bool:
        """Whether GKE rejects for now: another operation is under way, or too many are."""
        return (self.status == 400 and "failedPrecondition" in self.reasons) or self.status == 429

    @property
    def transient(self) -> bool:
        """Whether every call retries this by itself."""
        return (
            self.status in _TRANSIENT
            or (self.status == 409 and "operationInProgress" in self.body)
            or (self.status == 400 and "resourceNotReady" in self.body)
            or (self.status == 403 and "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED" in self.body)
            or (self.status == 403 and "per minute" in self.body and "Quota exceeded for quota metric" in self.body)
        )


@contextmanager
def explaining(doing: str) -> Iterator[None]:
    """Say in an error of the API what was being done."""
    try:
        yield
    except ApiError as error:
        raise ProviderError(f"Error {doing}: {error}") from error


def existing(call: Callable[[], Result]) -> Result | None:
    """The result of a call, None where the resource does not exist. Raises `ApiError` for every other error."""
    try:
        return call()
    except ApiError as error:
        if error.not_found:
            return None
        raise


class OperationError(ProviderError):
    """A long-running operation ended with an error."""


class Interrupted(ProviderError):
    """It is not known how a call or operation ended: what it was to create may exist."""


class Unreachable(Interrupted):
    """No answer from the API."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When to give up: so many seconds from now."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    @property
    def passed(self) -> bool:
        """Whether it is too late."""
        return time.monotonic() >= self.started + self.seconds


@dataclass(slots=True)
class Api:
    """A connection pool with a token. `poll_seconds` separates the looks at an operation."""

    token: str
    poll_seconds: float
    cancelled: threading.Event = field(default_factory=threading.Event)
    _pool: urllib3.PoolManager = field(init=False)

    def __post_init__(self) -> None:
        # Sized for the engine's parallelism: a waiting operation holds no connection.
        self._pool = urllib3.PoolManager(maxsize=64, retries=False, timeout=_REQUEST_TIMEOUT_SECONDS)

    def call(self, method: str, url: str, body: Any = None, query: Mapping[str, str] | None = None) -> Any:
        """One request; transient failures are tried again for two minutes, and a lost answer to a GET twice.

        Raises `ApiError`, or `Unreachable`.
        """
        deadline = Deadline(_REQUEST_TIMEOUT_SECONDS)
        for again in (method == "GET", method == "GET", False):
            try:
                return self.retry(deadline, lambda: self._once(method, url, body, query), lambda error: error.transient)
            except Unreachable:
                if deadline.passed or not again:
                    raise
            self.pause(_FIRST_RETRY_SECONDS)
        raise AssertionError("the last attempt returns or raises")

    def find(self, url: str) -> Any | None:
        """What is at `url`, None where there is nothing. Raises `ApiError` for every other error."""
        return existing(lambda: self.call("GET", url))

    def retry(self, deadline: Deadline, call: Callable[[], Result], when: Callable[[ApiError], bool]) -> Result:
        """Repeat `call` with growing pauses while it fails as `when` says, until the deadline."""
        pause = _FIRST_RETRY_SECONDS
        while True:
            try:
                return call()
            except ApiError as error:
                if deadline.passed or not when(error):
                    raise
            self.pause(pause)
            pause = min(pause * 2, _LONGEST_RETRY_SECONDS)

    def pause(self, seconds: float) -> None:
        """Sleep, or raise `Interrupted` as soon as the user stops the deployment."""
        if self.cancelled.wait(seconds):
            raise Interrupted("unable to finish polling, context has been cancelled")

    def _once(self, method: str, url: str, body: Any, query: Mapping[str, str] | None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": "tpuplane-twin-gcp"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        target = f"{url}{'&' if '?' in url else '?'}{urlencode({**(query or {}), 'alt': 'json'})}"
        try:
            response = self._pool.request(method, target, body=data, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            raise Unreachable(
                f"Google's API is down: {method} {url}: {error}; if the twin has ended, start it: tpuplane-twin up"
            ) from error
        text = response.data.decode("utf-8", "replace")
        if response.status >= 400:
            raise ApiError(response.status, text)
        return json.loads(text) if text else {}

    def wait(
        self, operation: Mapping[str, Any], url: str, activity: str, deadline: Deadline, gke: bool
    ) -> Mapping[str, Any]:
        """Poll an operation at `url` until it is DONE. GKE reports its error in `statusMessage`, Compute in `error`."""
        while operation.get("status") != "DONE":
            if deadline.passed:
                state = operation.get("status", "")
                raise OperationError(
                    f"Error waiting for {activity}: timeout while waiting for state to become 'DONE' (last state: "
                    f"'{state}', timeout: {_go_duration(deadline.seconds)})"
                )
            self.pause(self.poll_seconds)
            operation = self.call("GET", url)
        problem = operation.get("statusMessage", "") if gke else _compute_problem(operation)
        if problem:
            raise OperationError(f"Error waiting for {activity}: {problem}")
        return operation


def _compute_problem(operation: Mapping[str, Any]) -> str:
    errors = (operation.get("error") or {}).get("errors", [])
    return "\n".join(str(item.get("message", item.get("code", ""))) for item in errors)


def _go_duration(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{rest}s"
