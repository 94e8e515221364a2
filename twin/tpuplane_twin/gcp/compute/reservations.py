"""Reservations: those that are created here, and those that only a pool names, which are assumed to exist."""

from collections.abc import Iterator

from tpuplane_twin.gcp.backend import node_counts
from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.container.names import POOL
from tpuplane_twin.gcp.locations import machines_in
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView

_KINDS = ("specificReservation", "aggregateReservation")


class Reservations(Collection):
    """Reservations of machines in a zone."""

    collection, singular, scope = "reservations", "reservation", "zone"
    verbs = "insert delete"

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

    def items(self, project: str, scope: str) -> Iterator[Json]:
        """Every reservation of the project, with the machines that pools use."""
        made = {item["selfLink"]: item for item in super().items(project, scope)}
        used = self._used(project)
        for link in {**made, **used}:
            count, machine = used.get(link, (0, ""))
            found = made.get(link) or _assumed(link, count, machine)
            if specific := found.get("specificReservation"):
                specific |= {"inUseCount": str(count), "assuredCount": specific["count"]}
            yield found

    def _used(self, project: str) -> dict[str, tuple[int, str]]:
        """The machines that pools of any project use from the project's reservations, and their type, by link."""
        used: dict[str, tuple[int, str]] = {}
        for key, pool in self.store.items(POOL):
            names = PoolView(pool).reservation_names
            if not names:
                continue
            owner, name = _named(names[0], key.split("/")[1])
            for zone, count in node_counts(pool).items() if owner == project else ():
                link = f"{resources.BASE}projects/{project}/zones/{zone}/reservations/{name}"
                used[link] = used.get(link, (0, ""))[0] + count, pool["config"]["machineType"]
        return used


def _named(value: str, project: str) -> tuple[str, str]:
    """Project and name of a reservation as a pool names it: by name or path, with a block of it or without."""
    parts = value.split("/")
    if parts[0] == "projects":
        return parts[1], parts[3]
    return project, parts[0]


def _assumed(link: str, count: int, machine: str) -> Json:
    zone, _, name = link.rpartition("/reservations/")
    return {
        "id": resources.constant_id(link),
        "name": name,
        "selfLink": link,
        "zone": zone,
        "status": "READY",
        "specificReservationRequired": True,
        "specificReservation": {"count": str(count), "instanceProperties": {"machineType": machine}},
    }
