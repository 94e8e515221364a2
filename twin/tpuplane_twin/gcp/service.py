"""One version of one of Google's services: from a request to its answer, by the service's discovery document."""

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

from multidict import MultiDict
from yarl import URL

from tpuplane_twin.gcp.compute.collection import nothing
from tpuplane_twin.gcp.compute.traffic import give_default_network
from tpuplane_twin.gcp.discovery import Document, Method, document
from tpuplane_twin.gcp.errors import ApiError, ErrorStyle, invalid, not_found, not_served
from tpuplane_twin.gcp.faults import ConnectionCut, meet
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.identity import give_default_account
from tpuplane_twin.gcp.links import as_stored, in_version
from tpuplane_twin.gcp.lists import narrowed, partial
from tpuplane_twin.gcp.operations import afflict
from tpuplane_twin.gcp.projects import first_seen, with_project_id
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.service_usage import check_enabled
from tpuplane_twin.gcp.store import Store, StoreError

# Services whose resources are in networks: their first request in a project creates its default network and account.
_IN_NETWORKS = ("compute", "container")

_OF_ZONE = re.compile(r"(projects/[^/]+)/zones/")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request, sent alone or as part of a batch."""

    http_method: str
    url: URL
    body: bytes


class Answer(NamedTuple):
    """The answer to a request: HTTP status, JSON and headers."""

    status: int
    text: str
    headers: Mapping[str, str] = MappingProxyType({})


@dataclass
class Service:
    """One API version under one base path. `described`: the version whose discovery document describes it."""

    name: str
    version: str
    handlers: dict[str, Handler]
    style: ErrorStyle = "rpc"
    described: str = ""

    @cached_property
    def document(self) -> Document:
        """The discovery document, read at the first request."""
        served = frozenset(method for method in self.handlers if method.startswith(f"{self.name}."))
        return document(self.name, self.described or self.version, served)

    async def answer(self, store: Store, request: Request, base: str) -> Answer:
        """The answer to a request below `base`; errors have Google's format. Raises `ConnectionCut`."""
        try:
            text = json.dumps(await self._answer(store, request, request.url.raw_path.removeprefix(base)))
            return Answer(200, in_version(text, self.name, self.version))
        except ApiError as error:
            rejected = error
        except StoreError as error:
            log.error("%s", error)
            rejected = ApiError("RESOURCE_EXHAUSTED", f"Nothing was changed: {error}")
        except ConnectionCut:
            raise
        except Exception:
            log.exception("%s %s", request.http_method, request.url.path)
            rejected = ApiError("INTERNAL", "Internal error encountered; the twin's log has the traceback.")
        return Answer(rejected.http_code, json.dumps(rejected.body(self.style)), rejected.headers)

    async def _answer(self, store: Store, request: Request, raw_path: str) -> Any:
        raw_path = self._located(request.http_method, with_project_id(store, raw_path))
        found = self.document.match(request.http_method, raw_path)
        if found is None:
            raise not_found(f"The requested URL {request.url.path} was not found on this server.")
        method, params = found
        given = request.url.query.items()
        query = MultiDict((name, as_stored(value, self.name, self.version)) for name, value in given)
        self._check_query(method, query)
        handler = self.handlers.get(method.id)
        if handler is None:
            empty = nothing(method, self.document.methods, self.handlers, unquote(raw_path))
            if empty is None:
                raise not_served(method.id)
            return empty
        call = Call(params, query, self._body(method, request.body), unquote(raw_path))
        with store.transaction():
            named = ("project", "projectsId", "projectId", "resource")
            project = next((params[name] for name in named if name in params), "")
            check_enabled(store, project, self.name)
            if self.name in _IN_NETWORKS and project[:1].isalpha() and first_seen(store, project):
                give_default_network(store, project)
                give_default_account(store, project)
            fault = meet(store, method, call, project)
            answer: Any = handler(call) if fault is None or fault.served else {}
            if fault and fault.of_operation:
                afflict(store, answer, {**fault.rule, "message": fault.message})
        if fault:
            await fault.strike()
        if isawaitable(answer):
            answer = await answer
        if method.response is None:
            return {}
        schemas = self.document.schemas
        shown = schemas.output(method.response, narrowed(schemas, method.response, query, answer))
        return partial(schemas, method.response, query.get("fields", ""), shown)

    def _located(self, http_method: str, path: str) -> str:
        """The path of the same method of a location, for the older methods of a zone of Kubernetes Engine."""
        place = _OF_ZONE.match(path) if self.name == "container" else None
        if place is None:
            return path
        located = f"{place[1]}/locations/{path[place.end() :].replace('/serverconfig', '/serverConfig')}"
        return path if self.document.match(http_method, located) is None else located

    def _check_query(self, method: Method, query: Iterable[str]) -> None:
        for name in query:
            if name not in method.query and name not in self.document.common_query:
                raise invalid(
                    f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter.'
                    f" Field '{name}' could not be found in request message."
                )

    def _body(self, method: Method, raw: bytes) -> Json:
        if method.request is None or not raw.strip():
            return {}
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise invalid(f"Invalid JSON payload received. {error}") from error
        clears = self.style == "compute" and method.http_method == "PATCH"
        return self.document.schemas.parse(method.request, value, keep_null=clears)
