"""Google's API as one aiohttp application."""

import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from tpuplane_twin.clock.times import Times
from tpuplane_twin.gcp import artifacts, file_systems, kms, monitoring, service_networking, storage
from tpuplane_twin.gcp.backend import BackendError, ClusterBackend
from tpuplane_twin.gcp.batch import Respond, batch
from tpuplane_twin.gcp.compute.instances import instance_handlers
from tpuplane_twin.gcp.compute.service import compute_handlers
from tpuplane_twin.gcp.container.cluster_updates import ClusterUpdates
from tpuplane_twin.gcp.container.injected import FaultyReconciler
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.container.node_pools import NodePools
from tpuplane_twin.gcp.container.reconcile import Reconciler
from tpuplane_twin.gcp.container.service import container_handlers
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, invalid, not_found
from tpuplane_twin.gcp.faults import ConnectionCut
from tpuplane_twin.gcp.handlers import Call, Collection, Handler
from tpuplane_twin.gcp.identity import Policies, ServiceAccounts, identity_handlers, policy_methods
from tpuplane_twin.gcp.operations import Operations
from tpuplane_twin.gcp.projects import project_handlers
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.service import Answer, Request, Service
from tpuplane_twin.gcp.service_usage import service_usage_handlers
from tpuplane_twin.gcp.store import Store, StoreError

_COLLECTIONS: tuple[type[Collection], ...] = (
    artifacts.Repositories,
    file_systems.FilestoreInstances,
    file_systems.LustreInstances,
    kms.CryptoKeys,
    kms.CryptoKeyVersions,
    kms.KeyRings,
    monitoring.AlertPolicies,
    monitoring.Channels,
    monitoring.Dashboards,
    monitoring.LogMetrics,
    ServiceAccounts,
    service_networking.Connections,
    storage.Buckets,
    storage.Objects,
)
_MAX_BODY = 8 * 2**20
_UNAUTHENTICATED = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid"
    " authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
)

RECONCILER = web.AppKey("reconciler", Reconciler)
METHODS: web.AppKey[Mapping[str, bool]] = web.AppKey("methods", dict[str, bool])
"""The ids of all served methods, and whether they start an operation of Kubernetes Engine."""

_Handlers = TypeVar("_Handlers")
_OPERATIONS = web.AppKey("operations", Operations)
_STORE = web.AppKey("store", Store)


log = logging.getLogger(__name__)


def create_app(store: Store, backend: ClusterBackend, token: str, times: Times) -> web.Application:
    """Google's API over a store and a backend; requests carry `Authorization: Bearer <token>`.

    When the application starts, it restores stored clusters and continues unfinished operations in the background;
    `resume` waits for the clusters. When it stops, it cancels running work, which continues at the next start. `times`
    are those of operations.
    """
    reconciler = FaultyReconciler(store, backend)
    operations = Operations(store, reconciler, times)
    handlers = every_handler(store, operations, backend)
    app = web.Application(middlewares=[_answering_errors(token)], client_max_size=_MAX_BODY)
    app[_OPERATIONS] = operations
    app[RECONCILER] = reconciler
    app[_STORE] = store
    services = {base: Service(handlers=handlers, **api) for base, api in data("apis")["paths"].items()}

    documented = next(service for service in services.values() if service.name == "container").document.methods
    app[METHODS] = {name: name in documented and documented[name].starts_operation for name in handlers}

    async def respond(request: Request) -> Answer:
        found = [base for base in services if request.url.raw_path.startswith(base)]
        if not found:
            error = not_found(f"The requested URL {request.url.path} was not found on this server.")
            return Answer(error.http_code, json.dumps(error.body("rpc")))
        return await services[found[0]].answer(store, request, found[0])

    for base in services:
        app.router.add_route("*", base + "{path:.*}", partial(_alone, respond))
    app.router.add_route("*", "/not-served/{api}/{path:.*}", _not_served)
    app.router.add_route("*", "/upload/{path:.*}", _no_upload)
    app.router.add_post("/batch/{path:.*}", partial(batch, respond))
    app.cleanup_ctx.append(_work)
    return app


def every_handler(store: Store, operations: Operations, backend: ClusterBackend) -> dict[str, Handler]:
    """Handlers of all services by method id."""
    handlers: dict[str, Handler] = {
        **container_handlers(store, operations),
        **compute_handlers(store),
        **instance_handlers(store, backend),
        **identity_handlers(store),
        **project_handlers(store),
    }
    for collection in _COLLECTIONS:
        found = collection(store)
        handlers |= found.handlers()
        if found.policies:
            handlers |= policy_methods(found.prefix, Policies(store), found.existing)
    named = {method.partition(".")[0] for method in handlers}
    return handlers | service_usage_handlers(store, sorted(named | {"serviceusage"}))


async def resume(app: web.Application) -> None:
    """Wait until all clusters that were stored at the start are restored, with their pools.

    Raises BackendError naming the clusters that failed; they are DEGRADED, with the reason.
    """
    await app[_OPERATIONS].recovered()


async def create_pool(app: web.Application, cluster: str, pool: Json) -> None:
    """Create a node pool as a request would, and wait for the operation. Raises BackendError if it fails."""
    await _changed(app, NodePools, lambda pools: pools.create(Call(_names(cluster), body={"nodePool": pool})))


async def delete_pool(app: web.Application, pool: str) -> None:
    """Delete a node pool as a request would, and wait for the operation. Raises BackendError if it fails."""
    await _changed(app, NodePools, lambda pools: pools.delete(Call(_names(pool))))


async def repair_pool(app: web.Application, pool: str) -> None:
    """Repair a node pool as GKE's auto-repair does, and wait for the operation. Raises BackendError if it fails."""
    await _changed(app, NodePools, lambda pools: pools.repair(pool))


async def upgrade(app: web.Application, key: str, version: str) -> None:
    """Upgrade a cluster or pool as a request would, and wait for the operation. Raises BackendError if it fails."""
    if "/nodePools/" in key:
        call = Call(_names(key), body={"nodeVersion": version})
        await _changed(app, NodePools, lambda pools: pools.update(call))
    else:
        master = Call(_names(key), body={"masterVersion": version})
        await _changed(app, ClusterUpdates, lambda clusters: clusters.update_master(master))


async def _changed(
    app: web.Application, handlers: Callable[[Store, Operations], _Handlers], change: Callable[[_Handlers], Json]
) -> None:
    store, operations = app[_STORE], app[_OPERATIONS]
    try:
        with store.transaction():
            operation = change(handlers(store, operations))
    except (ApiError, StoreError) as error:
        raise BackendError(str(error)) from error
    failure = await operations.ended(operation)
    if failure:
        raise BackendError(failure)


def _names(key: str) -> dict[str, str]:
    """The parameters of the path of a cluster or a pool."""
    parts = key.split("/")
    return {f"{kind}Id": name for kind, name in zip(parts[::2], parts[1::2], strict=True)}


async def _work(app: web.Application) -> AsyncIterator[None]:
    app[_OPERATIONS].recover([key for key, _ in app[_STORE].items(CLUSTER)])
    yield
    await app[_OPERATIONS].stop()


async def _alone(respond: Respond, request: web.Request) -> web.StreamResponse:
    answer = await respond(Request(request.method, request.rel_url, await request.read()))
    return web.json_response(text=answer.text, status=answer.status, headers=answer.headers)


async def _not_served(request: web.Request) -> web.StreamResponse:
    raise not_found(f"The twin does not serve {request.match_info['api']}.googleapis.com.")


async def _no_upload(request: web.Request) -> web.StreamResponse:
    # A 404 would tell clients that the bucket does not exist.
    raise invalid("The twin stores no contents of objects, so it does not serve uploads.")


def _answering_errors(token: str) -> Any:
    """Rejects requests without the token, and answers errors outside of the services, as Google does."""
    expected = f"Bearer {token}".encode()
    own = ("127.0.0.1", "localhost")

    @web.middleware
    async def check(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        try:
            if request.host.rsplit(":", 1)[0] not in own:  # a page of another site, by a name that it points here
                raise ApiError(
                    "PERMISSION_DENIED", f"The twin does not answer for host {request.host}; allowed: {', '.join(own)}."
                )
            if not hmac.compare_digest(given, expected):
                raise ApiError("UNAUTHENTICATED", _UNAUTHENTICATED)
            return await handler(request)
        except ConnectionCut:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        except ApiError as error:
            rejected = error
        except StoreError as error:
            log.error("%s", error)
            rejected = ApiError("RESOURCE_EXHAUSTED", str(error))
        except web.HTTPException as error:
            status = "NOT_FOUND" if error.status == 404 else "INVALID_ARGUMENT"
            rejected = ApiError(status, f"{error.reason}: {request.path}", http_code=error.status)
        return web.json_response(rejected.body("rpc"), status=rejected.http_code)

    return check
