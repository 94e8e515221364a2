"""Google's API as one aiohttp application."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aiohttp import web

from tpuplane_twin.gcp.backend import BackendError, ClusterBackend, Numbers
from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.compute.service import compute_handlers
from tpuplane_twin.gcp.container.names import CLUSTER, parent_cluster
from tpuplane_twin.gcp.container.node_pools import NodePools
from tpuplane_twin.gcp.container.reconcile import Reconciler
from tpuplane_twin.gcp.container.service import container_handlers
from tpuplane_twin.gcp.discovery import Document, Method, document
from tpuplane_twin.gcp.errors import ApiError, ErrorStyle, invalid, not_found, not_served
from tpuplane_twin.gcp.identity import identity_handlers
from tpuplane_twin.gcp.kms import kms_handlers
from tpuplane_twin.gcp.links import in_version
from tpuplane_twin.gcp.logs import logging_handlers
from tpuplane_twin.gcp.monitoring import monitoring_handlers
from tpuplane_twin.gcp.operations import Operations
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.service_usage import service_usage_handlers
from tpuplane_twin.gcp.store import Store, StoreError

_MAX_BODY = 8 * 2**20
# A partial response would be a different answer, so it is refused rather than ignored.
_UNSERVED_QUERY = ("fields", "filter", "orderBy")
_UNAUTHENTICATED = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid"
    " authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
)

log = logging.getLogger(__name__)

_OPERATIONS = web.AppKey("operations", Operations)
_RECONCILER = web.AppKey("reconciler", Reconciler)
_STORE = web.AppKey("store", Store)


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

    async def answer(self, store: Store, request: web.Request, raw_path: str) -> web.Response:
        """Serve one request below the base path; every refusal has Google's shape."""
        try:
            text = json.dumps(await self._answer(store, request, raw_path))
            return web.json_response(text=in_version(text, self.name, self.version))
        except ApiError as error:
            return web.json_response(error.body(self.style), status=error.http_code)
        except StoreError as error:
            log.error("%s", error)
            full = ApiError("RESOURCE_EXHAUSTED", f"Nothing was changed: {error}")
            return web.json_response(full.body(self.style), status=full.http_code)
        except web.HTTPException:
            raise
        except Exception:
            log.exception("%s %s", request.method, request.path)
            broken = ApiError("INTERNAL", "Internal error encountered; the twin's log has the traceback.")
            return web.json_response(broken.body(self.style), status=broken.http_code)

    async def _answer(self, store: Store, request: web.Request, raw_path: str) -> Any:
        found = self.document.match(request.method, raw_path)
        if found is None:
            raise not_found(f"The requested URL {request.path} was not found on this server.")
        method, params = found
        handler = self.handlers.get(method.id)
        if handler is None:
            raise not_served(method.id)
        self._check_query(method, request)
        body = self._body(method, await request.read())
        call = Call(params, dict(request.query), body)
        with store.transaction():
            answer = handler(call)
        return self.document.schemas.output(method.response, answer) if method.response else {}

    def _check_query(self, method: Method, request: web.Request) -> None:
        for name in request.query:
            if name in _UNSERVED_QUERY:
                raise not_served(f"the query parameter {name} of {method.id}")
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


def create_app(store: Store, backend: ClusterBackend, token: str) -> web.Application:
    """Google's API over a store and a backend; requests carry `Authorization: Bearer <token>`.

    When the application starts, stored clusters come back and unfinished operations go on, in the background;
    `resume` waits for the clusters. When it stops, running work is dropped and goes on at the next start.
    """
    reconciler = Reconciler(store, backend)
    operations = Operations(store, reconciler)
    handlers: dict[str, Handler] = {
        **container_handlers(store, operations),
        **compute_handlers(store),
        **identity_handlers(store),
        **kms_handlers(store),
        **logging_handlers(store),
        **monitoring_handlers(store),
        **service_usage_handlers(),
    }
    app = web.Application(middlewares=[_authenticated(token)], client_max_size=_MAX_BODY)
    app[_OPERATIONS] = operations
    app[_RECONCILER] = reconciler
    app[_STORE] = store
    for base, service in {
        "/v1beta1/": Service("container", "v1beta1", handlers),
        "/v1/": Service("container", "v1", handlers),
        # Google publishes no discovery document of v1alpha1.
        "/v1alpha1/": Service("container", "v1alpha1", handlers, described="v1beta1"),
        "/compute/alpha/": Service("compute", "alpha", handlers, "compute"),
        "/compute/beta/": Service("compute", "beta", handlers, "compute"),
        "/compute/v1/": Service("compute", "v1", handlers, "compute"),
        "/iam/v1/": Service("iam", "v1", handlers),
        "/crm/v1/": Service("cloudresourcemanager", "v1", handlers),
        "/kms/v1/": Service("cloudkms", "v1", handlers),
        "/logging/v2/": Service("logging", "v2", handlers),
        "/monitoring/v1/": Service("monitoring", "v1", handlers),
        "/monitoring/v3/": Service("monitoring", "v3", handlers),
        "/serviceusage/v1beta1/": Service("serviceusage", "v1beta1", handlers),
    }.items():
        app.router.add_route("*", base + "{path:.*}", _route(store, service, base))
    app.cleanup_ctx.append(_work)
    return app


async def resume(app: web.Application) -> None:
    """Wait until every cluster that was stored when the application started is back, with its pools.

    Raises BackendError naming the clusters that did not come back; they are DEGRADED, with the reason.
    """
    await app[_OPERATIONS].recovered()


async def resize(app: web.Application, pool: str, seen: Numbers, wanted: Numbers) -> bool:
    """Give the autoscaled pool of this resource name other nodes, once no operation of its cluster runs.

    There is no operation to be seen, and no field of the pool changes but what its instance groups count. False if
    the pool does not stand as it was `seen`; BackendError if it could not be done, and the pool is as before.
    """
    async with app[_OPERATIONS].lock(parent_cluster(pool)):
        return await app[_RECONCILER].resize(pool, seen, wanted)


async def create_pool(app: web.Application, cluster: str, pool: Json) -> None:
    """Make a node pool as a request would, and wait until it is there. BackendError says why it is not."""
    await _pool_change(app, lambda pools: pools.create(Call(_names(cluster), {}, {"nodePool": pool})))


async def delete_pool(app: web.Application, pool: str) -> None:
    """Delete a node pool as a request would, and wait until it is gone. BackendError says why it is not."""
    names = {**_names(parent_cluster(pool)), "nodePoolsId": pool.rpartition("/")[2]}
    await _pool_change(app, lambda pools: pools.delete(Call(names, {}, {})))


async def repair(app: web.Application, pool: str, missing: Numbers) -> None:
    """Make nodes again that are `missing` from the pool of this resource name, once no operation of its cluster runs.

    BackendError says why there are none.
    """
    async with app[_OPERATIONS].lock(parent_cluster(pool)):
        await app[_RECONCILER].repair(pool, missing)


async def reclaim(app: web.Application, pool: str) -> None:
    """Take away the nodes of the pool of this resource name, as Compute Engine does with spot hosts.

    What GKE keeps there comes anew. BackendError where nothing came; the nodes are gone in any case.
    """
    async with app[_OPERATIONS].lock(parent_cluster(pool)):
        await app[_RECONCILER].reclaim(pool)


async def _pool_change(app: web.Application, change: Callable[[NodePools], Json]) -> None:
    store, operations = app[_STORE], app[_OPERATIONS]
    try:
        with store.transaction():
            operation = change(NodePools(store, operations))
    except (ApiError, StoreError) as error:
        raise BackendError(str(error)) from error
    failure = await operations.ended(operation)
    if failure:
        raise BackendError(failure)


def _names(cluster: str) -> dict[str, str]:
    parts = cluster.split("/")
    return {"projectsId": parts[1], "locationsId": parts[3], "clustersId": parts[5]}


async def _work(app: web.Application) -> AsyncIterator[None]:
    app[_OPERATIONS].recover([key for key, _ in app[_STORE].items(CLUSTER)])
    yield
    await app[_OPERATIONS].stop()


def _route(store: Store, service: Service, base: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await service.answer(store, request, request.rel_url.raw_path.removeprefix(base))

    return handle


def _authenticated(token: str) -> Any:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def check(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if not hmac.compare_digest(given, expected):
            refused = ApiError("UNAUTHENTICATED", _UNAUTHENTICATED)
            return web.json_response(refused.body("rpc"), status=refused.http_code)
        try:
            return await handler(request)
        except web.HTTPException as error:
            status = "NOT_FOUND" if error.status == 404 else "INVALID_ARGUMENT"
            refused = ApiError(status, f"{error.reason}: {request.path}", http_code=error.status)
            return web.json_response(refused.body("rpc"), status=error.status)

    return check
