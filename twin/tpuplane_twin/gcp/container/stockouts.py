"""Capacity for new nodes: quota, reservations, and stockouts, which a user injects and which can leave some chips."""

from tpuplane_twin.gcp.backend import BackendError, Numbers, held_counts
from tpuplane_twin.gcp.compute.reservations import full_reservations
from tpuplane_twin.gcp.container.names import GROUPS, POOL, instance_name
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.quotas import exceeded_quota
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

STOCKOUT = "stockout"
ANY = "any"
CAPACITIES = ("on-demand", "spot", "flex-start", "reservation")


class Stockout(BackendError):
    """There is no capacity for new nodes."""


def stockout_key(zone: str, generation: str, capacity: str) -> str:
    """The key of a stockout in the store. `capacity` is one of `CAPACITIES`, or `ANY`: all but reservations."""
    return f"{zone}/{generation}/{capacity}"


def check_capacity(store: Store, key: str, pool: Json, wanted: Numbers) -> None:
    """Raise `BackendError` if the nodes `wanted` of the pool `key` exceed a quota.

    Raises `Stockout` if there is no capacity for them.

    Reserved capacity is separate: only the size of the reservation, or a stockout of reservations, affects it.
    """
    view = PoolView(pool)
    if view.generation is None:
        return
    capacity, generation = view.capacity, view.generation.name
    check_quota(store, key, pool, wanted)
    kinds = (capacity,) if capacity == "reservation" else (capacity, ANY)
    for zone, numbers in wanted.items():
        full = capacity == "reservation" and full_reservations(store, key, pool, zone)
        known = (store.get(STOCKOUT, stockout_key(zone, generation, kind)) for kind in kinds)
        out = full or any(stockout and _exceeds(store, stockout, key, pool) for stockout in known)
        if not numbers or not out:
            continue
        if capacity == "reservation":
            names = ", ".join(view.reservation_names)
            detail = f"Specified reservations [{names}] do not have available resources for the request."
            raise Stockout(f"Google Compute Engine: {detail}")
        raise Stockout(_stockout(key, zone, instance_name(pool[GROUPS][zone], "0000"), len(numbers)))


def check_quota(store: Store, key: str, pool: Json, wanted: Numbers) -> None:
    """Raise `BackendError` with GKE's message if the nodes `wanted` of the pool `key` exceed a quota."""
    quotas = dict(exceeded_quota(store, key, pool)) if any(wanted.values()) else {}
    for zone in (zone for zone, numbers in wanted.items() if numbers and region_of(zone) in quotas):
        said = _failed(instance_name(pool[GROUPS][zone], "0000"), len(wanted[zone]), "GCE_QUOTA_EXCEEDED")
        raise BackendError(f"{said} {quotas[region_of(zone)]}")


def _exceeds(store: Store, stockout: Json, key: str, pool: Json) -> bool:
    """Whether the chips of the pool `key`, next to those of other pools, are more than the zone has."""
    if "chips" not in stockout:
        return True
    pools = {**dict(store.items(POOL)), key: {**pool, "status": "RUNNING"}}
    return sum(_chips(stockout, other) for other in pools.values()) > int(stockout["chips"])


def _chips(stockout: Json, pool: Json) -> int:
    """The chips of a pool that count."""
    view, kind = PoolView(pool), stockout["capacity"]
    other = view.capacity == "reservation" if kind == ANY else view.capacity != kind
    if other or view.tpu is None or view.generation is None or view.generation.name != stockout["generation"]:
        return 0
    return view.tpu.chips * held_counts(pool).get(stockout["zone"], 0)


def _stockout(key: str, zone: str, instance: str, nodes: int) -> str:
    return (
        f"{_failed(instance, nodes, 'GCE_STOCKOUT')} The zone 'projects/{key.split('/')[1]}/zones/{zone}' does not have"
        " enough resources available to fulfill the request.  '(resource type:compute)'."
    )


def _failed(instance: str, nodes: int, code: str) -> str:
    """GKE's message: hashicorp/terraform-provider-google#10121, tranquilitybase-io/tb-gcp#589, magic-modules#5225."""
    return (
        f"Google Compute Engine: Not all instances running in IGM after 35.191006793s. Expected {nodes}, running 0, "
        f"transitioning {nodes}. Current errors: [{code}]: Instance '{instance}' creation failed:"
    )
