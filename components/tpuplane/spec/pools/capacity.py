"""How the hosts of a pool are bought, as the user writes it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from tpuplane.spec.core.fields import ProjectId, ResourceName, Spec, Zone, refuse

Capacity = Literal["on-demand", "spot", "reservation", "flex-start"]
MaintenanceInterval = Literal["AS_NEEDED", "PERIODIC"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])")


def seconds(duration: str) -> int:
    """Seconds of a duration such as `12h`."""
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise ValueError(f"{duration!r} is no duration; was it checked?")
    return int(match[1]) * _UNITS[match[2]]


def _duration(value: str) -> str:
    if not _DURATION.fullmatch(value):
        raise refuse(f"{value!r} is not a duration; allowed: a whole number of s, m, h or d, such as 12h or 7d")
    return value


Duration = Annotated[str, Field(json_schema_extra={"pattern": f"^{_DURATION.pattern}$"}), AfterValidator(_duration)]


class ReservationSpec(Spec):
    """A reservation that Google has granted: what `gcloud compute reservations describe` shows. It holds TPUs
    (`generation`, `chips`) or GPUs (`accelerator`, `gpus`)."""

    zone: Zone
    """Zone of the reservation."""

    generation: str | None = None
    """TPU generation that is reserved, such as v6e."""

    chips: Annotated[int, Field(ge=1)] | None = None
    """Chips that are reserved: the number of VMs times their chips."""

    accelerator: str | None = None
    """GPU that is reserved, such as nvidia-h100-mega-80gb."""

    gpus: Annotated[int, Field(ge=1)] | None = None
    """GPUs that are reserved: the number of VMs times their GPUs."""

    project: ProjectId | None = None
    """Project that owns it and shares it with this one. Default: the platform's own. A change replaces the pools."""

    machine_type: str | None = None
    """Machine type of the reserved VMs. Default: any with these chips or GPUs."""

    maintenance_interval: MaintenanceInterval | None = None
    """Host maintenance of the reserved VMs: AS_NEEDED or PERIODIC. Default: not compared with the pools."""

    active: bool = True
    """Whether it can be used already. A reservation for the future is false until its first day. Default true."""


class ReservationUseSpec(Spec):
    """Where in the platform's reservations the hosts of a pool come from. A change replaces the pool."""

    name: str
    """Name of one of the platform's reservations."""

    block: ResourceName | None = None
    """Block of the reservation. Default: anywhere in it."""

    sub_block: ResourceName | None = None
    """Sub-block of `block`. Default: anywhere in the block."""


class FlexStartSpec(Spec):
    """Hosts of the Dynamic Workload Scheduler: they start when there is capacity, and end after a time."""

    max_run_duration: Duration = "7d"
    """How long a host runs at most, from 10m to 7d. Default 7d, the longest. A change replaces the pool."""

    queued: bool = False
    """Queued provisioning: hosts come only for a ProvisioningRequest (Kueue makes them), all or none. Default false;
    of TPUs v6e and tpu7x only. A change replaces the pool."""

    @property
    def max_run_seconds(self) -> int:
        """How long a host runs at most, in seconds."""
        return seconds(self.max_run_duration)
