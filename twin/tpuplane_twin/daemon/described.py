"""The reservations that stack files describe. On Google Cloud the user has bought them; here the twin creates them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiohttp import web
from tpuplane.gpu import gpu_catalogue
from tpuplane.spec import PlatformSpec, ReservationSpec, SpecError, load_stack
from tpuplane.tpu import catalogue

from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.gcp import own_routes
from tpuplane_twin.gcp.compute.reservations import RESERVATION, Reservations
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.paths import TwinPaths

PATH = "/twin/reservations"
_NOTE = "described by a stack file"


def reserve(file: Path, root: Path) -> bool:
    """Create the file's reservations on the twin in the folder `root`, or give them their new sizes.

    False if the twin is not up. A file with mistakes has no reservations: every command reports the mistakes.
    """
    try:
        TwinClient(TwinPaths(root.name, root)).request("PUT", PATH, described(load_stack(file)))
    except SpecError:
        return True
    except TwinError:
        return False
    return True


def described(spec: PlatformSpec) -> dict[str, dict[str, Any]]:
    """What the usable reservations of a description hold, by their names in Compute Engine."""
    return {
        f"projects/{reservation.project or spec.project}/zones/{reservation.zone}/reservations/{name}": _held(
            reservation
        )
        for name, reservation in spec.reservations.items()
        if reservation.active
    }


def _held(declared: ReservationSpec) -> dict[str, Any]:
    """What the reservation holds, in Compute Engine's fields: machines of one type, or the chips of a family."""
    if declared.generation is not None:
        generation = catalogue().generation(declared.generation)
        if declared.machine_type is None:
            family = generation.machines[0].name.partition("-")[0]
            parts = [{"accelerator": {"acceleratorCount": declared.chips, "acceleratorType": family}}]
            vms = next(name for name in data("kinds")["vm_families"] if name.endswith(f"_{family.upper()}"))
            return {"aggregateReservation": {"vmFamily": vms, "reservedResources": parts}}
        sizes = {machine.name: machine.chips for machine in generation.machines}
        amount = declared.chips or 0
    else:
        fitting = [machine for machine in gpu_catalogue().machines if machine.accelerator.name == declared.accelerator]
        sizes = {machine.name: machine.gpus for machine in sorted(fitting, key=lambda machine: -machine.gpus)}
        amount = declared.gpus or 0
    machine = declared.machine_type or next(iter(sizes))
    count = amount // sizes[machine]
    return {"specificReservation": {"count": str(count), "instanceProperties": {"machineType": machine}}}


def serve(app: web.Application, store: Store) -> None:
    """Add the route that takes described reservations. Those that a request to Google's API created do not change."""
    reservations = Reservations(store)

    def put(found: dict[str, Any]) -> Iterator[str]:
        for key, held in found.items():
            before = store.get(RESERVATION, key)
            if before is None:
                asked = {"name": key.rpartition("/")[2], "description": _NOTE, "specificReservationRequired": True}
                reservations.make(key, {**asked, **held})
                yield key
            elif before.get("description") == _NOTE:
                kept = {field: value for field, value in before.items() if not field.endswith("Reservation")}
                store.put(RESERVATION, key, {**kept, **held})
                yield key

    def answer(found: dict[str, Any]) -> dict[str, Any]:
        with store.transaction():
            return {"reservations": list(put(found))}

    own_routes.serve(app, PATH, put=answer)
