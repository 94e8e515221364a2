"""Which method of the Compute Engine API is answered by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tpuplane_twin.gcp.backend import node_counts
from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.networks import Firewalls, Networks, Subnetworks
from tpuplane_twin.gcp.compute.others import ResourcePolicies, Routers
from tpuplane_twin.gcp.container.names import POOL, group_urls
from tpuplane_twin.gcp.locations import is_zone, regions
from tpuplane_twin.gcp.paging import page
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_COLLECTIONS = (Networks, Subnetworks, Firewalls, Routers, ResourcePolicies)


def compute_handlers(store: Store) -> dict[str, Handler]:
    """Handlers by method id, the same for v1 and beta."""
    handlers: dict[str, Handler] = {}
    for collection in _COLLECTIONS:
        handlers.update(collection(store).handlers())
    for kind, scope in (("global", None), ("region", "region"), ("zone", "zone")):
        get = _get_operation(store, scope)
        handlers[f"compute.{kind}Operations.get"] = get
        handlers[f"compute.{kind}Operations.wait"] = get
        handlers[f"compute.{kind}Operations.list"] = _list_operations(store, scope)
    handlers.update(
        {
            "compute.instanceGroupManagers.get": lambda call: _get_group(store, call),
            "compute.instanceGroupManagers.list": lambda call: _list_groups(store, call),
            "compute.regions.get": lambda call: _region(call.params["project"], call.params["region"]),
            "compute.regions.list": lambda call: _list(
                call, "region", [_region(call.params["project"], name) for name in regions()]
            ),
            "compute.zones.get": lambda call: _zone(call.params["project"], call.params["zone"]),
            "compute.zones.list": lambda call: _list(
                call,
                "zone",
                [_zone(call.params["project"], name) for zones in regions().values() for name in zones],
            ),
        }
    )
    return handlers


def _scope(call: Call, scope: str | None) -> str:
    place = f"{scope}s/{call.params[scope]}" if scope else "global"
    return f"projects/{call.params['project']}/{place}/operations"


def _get_operation(store: Store, scope: str | None) -> Callable[[Call], Json]:
    def handle(call: Call) -> Json:
        key = f"{_scope(call, scope)}/{call.params['operation']}"
        operation = store.get(resources.OPERATION, key)
        if operation is None:
            raise resources.missing(key)
        return operation

    return handle


def _list_operations(store: Store, scope: str | None) -> Callable[[Call], Json]:
    def handle(call: Call) -> Json:
        return _list(call, "operation", store.values(resources.OPERATION, _scope(call, scope)))

    return handle


def _groups(store: Store, project: str, zone: str) -> Iterator[Json]:
    """The managed instance groups of a zone: one for each pool that has nodes there."""
    if not is_zone(zone):
        raise resources.missing(f"projects/{project}/zones/{zone}")
    for key, pool in store.items(POOL, f"projects/{project}"):
        counts = node_counts(pool)
        if zone not in counts:
            continue
        link = group_urls(key, pool)[zone]
        name = link.rpartition("/")[2]
        base = name.removesuffix("-grp")
        yield {
            "kind": "compute#instanceGroupManager",
            "id": str(int.from_bytes(name.encode()[-12:-4], "big") >> 1),
            "name": name,
            "zone": f"{resources.BASE}projects/{project}/zones/{zone}",
            "selfLink": link,
            "instanceGroup": link.replace("instanceGroupManagers", "instanceGroups"),
            "baseInstanceName": base,
            "instanceTemplate": f"{resources.BASE}projects/{project}/global/instanceTemplates/{base}",
            "targetSize": counts[zone],
            "status": {"isStable": pool["status"] == "RUNNING"},
        }


def _list_groups(store: Store, call: Call) -> Json:
    found = list(_groups(store, call.params["project"], call.params["zone"]))
    return _list(call, "instanceGroupManager", found)


def _get_group(store: Store, call: Call) -> Json:
    project, zone, name = (call.params[part] for part in ("project", "zone", "instanceGroupManager"))
    for group in _groups(store, project, zone):
        if group["name"] == name:
            return group
    raise resources.missing(f"projects/{project}/zones/{zone}/instanceGroupManagers/{name}")


def _list(call: Call, kind: str, found: list[Json]) -> Json:
    return {"kind": f"compute#{kind}List", **page(call.query, found, "items", "maxResults")}


def _region(project: str, name: str) -> Json:
    if name not in regions():
        raise resources.missing(f"projects/{project}/regions/{name}")
    link = f"{resources.BASE}projects/{project}"
    return {
        "kind": "compute#region",
        "name": name,
        "description": name,
        "status": "UP",
        "selfLink": f"{link}/regions/{name}",
        "zones": [f"{link}/zones/{zone}" for zone in regions()[name]],
    }


def _zone(project: str, name: str) -> Json:
    if not is_zone(name):
        raise resources.missing(f"projects/{project}/zones/{name}")
    link = f"{resources.BASE}projects/{project}"
    return {
        "kind": "compute#zone",
        "name": name,
        "description": name,
        "status": "UP",
        "selfLink": f"{link}/zones/{name}",
        "region": f"{link}/regions/{name.rpartition('-')[0]}",
    }
