"""The control plane's own client: the few verbs and kinds it needs, without discovery, on one connection pool."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import aiohttp
from tpuplane.data_files import read_data

Object = dict[str, Any]
T = TypeVar("T")

FIELD_MANAGER = "tpuplane-twin"
_CONNECTIONS = 32
_PAGE = 500
_PATIENCE = 120.0  # seconds for which a server that was killed may be away: on a busy machine its start takes a minute
_ANSWER_SECONDS = 300.0  # for an answer of a server that accepts connections: it is stopped, or very busy

_SERVED: dict[str, tuple[str, str, bool]] = {
    kind: (prefix, f"{kind.lower()}{'es' if kind.endswith('s') else 's'}", scope == "namespaced")
    for prefix, scopes in read_data("tpuplane_twin.cluster", "kinds").items()
    for scope, kinds in scopes.items()
    for kind in kinds
}
KINDS = frozenset(_SERVED)


class ClusterError(RuntimeError):
    """The base of this package's own errors; the message is for the user."""


class ApiError(ClusterError):
    """The API server rejected a request; the message is the server's."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


@contextmanager
def accepting(status: int) -> Iterator[None]:
    """Go on where the API server rejects a request with this status."""
    try:
        yield
    except ApiError as error:
        if error.status != status:
            raise


class Api:
    """A client of one API server, which its user closes."""

    def __init__(self, server: str, *, tls: ssl.SSLContext, token: str) -> None:
        self._server = server
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls, limit=_CONNECTIONS),
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS, sock_connect=30),
        )

    async def aclose(self) -> None:
        """Give back the connections."""
        await self._session.close()

    async def get(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object; None if it does not exist."""
        with accepting(404):
            return await self.request("GET", path(kind, name, namespace))
        return None

    async def read_list(self, url: str, params: Mapping[str, str]) -> tuple[list[Object], str]:
        """All objects of a collection, read page by page, and the version of the list."""
        found: list[Object] = []
        following: dict[str, str] = {}
        while True:
            page = await self.request("GET", url, params={**params, "limit": str(_PAGE), **following})
            found += page["items"]
            if not page["metadata"].get("continue"):
                return found, str(page["metadata"].get("resourceVersion", ""))
            following = {"continue": page["metadata"]["continue"]}

    async def list_by(self, kind: str, field: str, values: Iterable[str]) -> list[Object]:
        """All objects of `kind` whose `field` is one of `values`: a request for each value."""
        found: dict[str, list[Object]] = {value: [] for value in values}

        async def read(value: str) -> None:
            found[value] = await self.list(kind, fieldSelector=f"{field}={value}")

        await each(found, read)
        return [item for items in found.values() for item in items]

    async def list(self, kind: str, namespace: str | None = None, **selectors: str) -> list[Object]:
        """All objects of `kind` that match `labelSelector` and `fieldSelector`."""
        return (await self.read_list(path(kind, None, namespace), selectors))[0]

    async def create(self, item: Object) -> None:
        """Create `item`; nothing happens where it exists."""
        with accepting(409):
            await self.request("POST", path(item["kind"], None, item["metadata"].get("namespace")), body=item)

    async def apply(self, item: Object) -> Object:
        """Create `item` or change it as given, by server-side apply."""
        metadata = item["metadata"]
        return await self.request(
            "PATCH",
            path(item["kind"], metadata["name"], metadata.get("namespace")),
            body=item,
            params={"fieldManager": FIELD_MANAGER, "force": "true"},
            content_type="application/apply-patch+yaml",
        )

    async def merge(
        self, kind: str, name: str, patch: Object, namespace: str | None = None, *, part: Literal["", "/status"] = ""
    ) -> Object:
        """Merge `patch` (RFC 7386) into an object, or into its status."""
        url = path(kind, name, namespace) + part
        return await self.request("PATCH", url, body=patch, content_type="application/merge-patch+json")

    async def delete(self, kind: str, name: str, namespace: str | None = None, *, grace: int = 0) -> None:
        """Delete the object, with `grace` seconds for a pod; nothing happens if it does not exist."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": grace}
        with accepting(404):
            await self.request("DELETE", path(kind, name, namespace), body=body)

    async def watch(self, kind: str, version: str) -> AsyncIterator[tuple[str, Object]]:
        """The changes to objects of `kind` since that version of the list (ADDED, MODIFIED, DELETED; object).

        Ends when the server ends it, as it does every few minutes. Raises `ApiError` where the server rejects the watch
        or the version is too old (then list again), and aiohttp's errors where the connection breaks.
        """
        params = {"watch": "1", "resourceVersion": version}
        forever = aiohttp.ClientTimeout(total=None)
        async with self._session.get(
            f"{self._server}{path(kind, None, None)}", params=params, timeout=forever
        ) as answer:
            if answer.status >= 400:
                raise ApiError(answer.status, answer.reason or "", await answer.text())
            rest = b""
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    change = json.loads(line)
                    if change["type"] == "ERROR":
                        status = change["object"]
                        raise ApiError(status.get("code", 500), status.get("reason", ""), status.get("message", ""))
                    yield change["type"], change["object"]

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: Object | None = None,
        params: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        """One request, repeated while the server restarts, also in the middle of its answer; returns the answer.

        Raises `ApiError` with the server's message, `ClusterError` when it stays away.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                if self._session.closed:
                    raise ClusterError(f"the API server at {self._server} is being stopped")
                return await self._once(method, url, body, params, content_type)
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    said = str(error) or f"no answer in {_ANSWER_SECONDS:g} s"
                    raise ClusterError(f"the API server at {self._server} does not answer: {said}") from error
                await asyncio.sleep(0.2)

    async def _once(
        self, method: str, url: str, body: Object | None, params: dict[str, str] | None, content_type: str
    ) -> Object:
        async with self._session.request(
            method,
            f"{self._server}{url}",
            data=None if body is None else json.dumps(body),
            params=params,
            headers={"Content-Type": content_type},
        ) as response:
            text = await response.text()
            if response.status < 400:
                answer: Object = json.loads(text)
                return answer
        try:
            status = json.loads(text)
        except ValueError:
            status = {}
        raise ApiError(response.status, status.get("reason", ""), status.get("message") or text.strip())


def path(kind: str, name: str | None, namespace: str | None) -> str:
    """The URL path of an object, or of its collection where `name` is None."""
    prefix, plural, namespaced = _SERVED[kind]
    parts = [prefix, *(["namespaces", namespace] if namespaced and namespace else []), plural]
    return "/" + "/".join([*parts, *([name] if name else [])])


def has_condition(item: Mapping[str, Any], kind: str, status: str = "True", reason: str | None = None) -> bool:
    """Whether the object has the condition with this status, and with this reason if one is given."""
    found = [condition for condition in item["status"].get("conditions", ()) if condition["type"] == kind]
    return any(state["status"] == status and reason in (None, state.get("reason")) for state in found)


def timestamp() -> str:
    """This moment, as Kubernetes writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def event(about: Object, kind: str, reason: str, message: str, **source: str) -> Object:
    """An event of the object that the reference `about` names; `kind` is Normal or Warning."""
    moment = timestamp()
    return {
        "apiVersion": "v1",
        "kind": "Event",
        # Events of objects without namespace are in `default`.
        "metadata": {"generateName": f"{about['name'][:50]}.", "namespace": about.get("namespace", "default")},
        "involvedObject": about,
        "type": kind,
        "reason": reason,
        "message": message,
        "source": source,
        "reportingComponent": source["component"],
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


async def together(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run all at once. The first failure cancels the rest and is raised as itself, not as a group."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except ExceptionGroup as failures:
        failure: Exception = failures
        while isinstance(failure, ExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from failures


async def each(items: Iterable[T], action: Callable[[T], Awaitable[object]]) -> None:
    """Run `action` on every item, as many at once as a client has connections; fails as `together` does."""
    gate = asyncio.Semaphore(_CONNECTIONS)

    async def one(item: T) -> None:
        async with gate:
            await action(item)

    await together(*(one(item) for item in items))
