"""Reservations of machines in a zone, their use by node pools, and what they still hold."""

from collections.abc import Iterator, Mapping

from tpuplane_twin.gcp.backend import held_counts, node_counts
from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.container.names import POOL, group_urls
from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.locations import machines_in
from tpuplane_twin.gcp.merge import overlay
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

_KINDS = ("specificReservation", "aggregateReservation")
RESERVATION = "compute.reservations"


class Reservations(Collection):
    """Reservations of machines in a zone."""

    collection, singular, scope = "reservations", "reservation", "zone"
    verbs = "insert delete resize"

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id. A reservation here has no blocks, but clients list them."""
        below = ("reservationBlocks", "reservationSubBlocks")
        return {**super().handlers(), **{f"compute.{kind}.list": self._no_blocks for kind in below}}

    def resize(self, call: Call) -> Json:
        """Change the number of machines."""
        key = self.key(call)
        stored, count = self.find(key), call.body.get("specificSkuCount", "0")
        if "specificReservation" not in stored:
            raise resources.bad_value("specificSkuCount", count, "The reservation is not of one type of machine.")
        if int(count) < 1:
            raise resources.required("specificSkuCount")
        if int(count) < sum(_used(self.store, key).values()):
            # GoogleCloudPlatform/gcpdiag, gcpdiag/runbook/gce/constants.py
            raise invalid(
                "The resize instance count cannot be lower than the in use count for a specific reservation.",
                reason="invalid",
            )
        self.put(key, overlay(stored, {"specificReservation": {"count": count}}))
        return resources.done(self.store, "resize", key, stored["id"])

    def complete(self, key: str, asked: Json) -> Json:
        """A reservation of one kind, of machines that the zone has."""
        kinds = [kind for kind in _KINDS if kind in asked]
        if len(kinds) != 1:
            raise resources.bad_value("reservation", ", ".join(kinds), f"Set exactly one of {', '.join(_KINDS)}.")
        if (specific := asked.get("specificReservation")) is not None:
            machine = specific.get("instanceProperties", {}).get("machineType")
            field = "specificReservation.instanceProperties.machineType"
            if not machine:
                raise resources.required(field)
            if machine not in {found.name for found in machines_in(key.split("/")[3])}:
                raise resources.bad_value(field, machine, "The machine type does not exist in the zone.")
            if int(specific.get("count", 0)) < 1:
                raise resources.required("specificReservation.count")
        return {**asked, "status": "READY"}

    def view(self, key: str, stored: Json) -> Json:
        """The reservation with the machines, or the chips, that pools use."""
        if specific := stored.get("specificReservation"):
            count = {"inUseCount": str(sum(_used(self.store, key).values())), "assuredCount": specific["count"]}
            return {**stored, "specificReservation": {**specific, **count}}
        whole = stored["aggregateReservation"]
        use = [{"accelerator": {"acceleratorCount": sum(_used(self.store, key, chips=True).values())}}]
        return {**stored, "aggregateReservation": {**whole, "inUseResources": use}}

    def _no_blocks(self, call: Call) -> Json:
        self.find(call.path.partition("/reservationBlocks")[0])
        return {"selfLink": resources.BASE + call.path, "items": []}

    def users(self, key: str, stored: Json) -> list[str]:
        """Managed instance groups of the pools that use it: "You can only delete a specifically targeted reservation
        if no Compute Engine instances consume it", https://docs.cloud.google.com/compute/docs/instances/reservations-delete.
        """
        zone = key.split("/")[3]
        found = ((pool, group_urls(pool, self.store.get(POOL, pool) or {})) for pool in _used(self.store, key))
        return [urls[zone].removeprefix(resources.BASE) for _, urls in found if zone in urls]


def check_reservations(store: Store, key: str, pool: Json) -> None:
    """Reject nodes of the pool `key` for which its reservation does not exist, or is too small, with GKE's messages.

    A pool without nodes may name a future reservation:
    https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/modules/compute/gke-node-pool/README.md.
    """
    for zone, count in ((zone, count) for zone, count in node_counts(pool).items() if count):
        for name, short in _shortages(store, key, pool, zone):
            if short is None:
                # GoogleCloudPlatform/cluster-toolkit#5043
                raise ApiError(
                    "NOT_FOUND",
                    f'Google Compute Engine: reservation "{name}" not found for node pool "{pool["name"]}" at zone '
                    f'"{zone}".',
                )
            if short:
                # GoogleCloudPlatform/gsutil#1000
                raise ApiError(
                    "RESOURCE_EXHAUSTED",
                    f'Reservation does not have enough resources for the request: specific reservation "{name}" is '
                    f'insufficient for node pool "{pool["name"]}" at zone "{zone}": required {count} and short of '
                    f"{short} VM count of machine type {pool['config']['machineType']}.",
                    http_code=429,
                )


def full_reservations(store: Store, key: str, pool: Json, zone: str) -> bool:
    """Whether the reservation of the pool `key` is missing, or holds fewer nodes than the pool has in the zone."""
    return any(short is None or short for _, short in _shortages(store, key, pool, zone))


def _shortages(store: Store, key: str, pool: Json, zone: str) -> Iterator[tuple[str, int | None]]:
    """Each reservation as the pool names it, with the nodes of the pool that do not fit; None if it is missing."""
    count = node_counts(pool).get(zone, 0)
    for name, target in zip(PoolView(pool).reservation_names, _targets(key, pool, zone), strict=True):
        held = store.get(RESERVATION, target)
        yield name, None if held is None else _short(store, target, held, key, pool, count)


def _short(store: Store, reservation: str, held: Json, key: str, pool: Json, count: int) -> int:
    """How many of the pool's `count` nodes the reservation does not hold, next to the other pools' nodes."""
    machine = pool["config"]["machineType"]
    if (specific := held.get("specificReservation")) is not None:
        amount = int(specific["count"]) if specific["instanceProperties"]["machineType"] == machine else 0
        each, chips = 1, False
    else:
        parts = held["aggregateReservation"].get("reservedResources", ())
        amount = sum(int(part.get("accelerator", {}).get("acceleratorCount", 0)) for part in parts)
        each, chips = _chips(pool), True
    others = sum(used for other, used in _used(store, reservation, chips=chips).items() if other != key)
    return max(0, count - max(0, amount - others) // each) if each else count


def _used(store: Store, reservation: str, *, chips: bool = False) -> Mapping[str, int]:
    """The machines, or the chips of these, that pools of any project use from a reservation: pool key → number."""
    zone = reservation.split("/")[3]
    return {
        key: count * (_chips(pool) if chips else 1)
        for key, pool in store.items(POOL)
        if reservation in _targets(key, pool, zone) and (count := held_counts(pool).get(zone, 0))
    }


def _targets(key: str, pool: Json, zone: str) -> Iterator[str]:
    """The resource names of the reservations that the pool `key` names, by name or path, with a block or without."""
    for value in PoolView(pool).reservation_names:
        parts = value.split("/")
        owner, name = (parts[1], parts[3]) if parts[0] == "projects" else (key.split("/")[1], parts[0])
        yield f"projects/{owner}/zones/{zone}/reservations/{name}"


def _chips(pool: Json) -> int:
    """The TPU chips or GPUs of a node."""
    machine = PoolView(pool).machine
    return machine.accelerator[1] if machine and machine.accelerator else 0
