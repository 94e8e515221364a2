"""A node pool as Google's REST JSON describes it: its topology, its provisioning model and its lifetime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tpuplane_twin.gcp.schema import Json, seconds


@dataclass(frozen=True)
class PoolView:
    """What is read of a pool's JSON; the pool may lack anything but its name."""

    pool: Json

    @property
    def name(self) -> str:
        """The pool's name: on every node as `cloud.google.com/gke-nodepool`."""
        return str(self.pool["name"])

    @property
    def config(self) -> Json:
        """The pool's node config."""
        return dict(self.pool.get("config", {}))

    @property
    def zones(self) -> list[str]:
        """The pool's zones."""
        return list(self.pool["locations"])

    @property
    def placement(self) -> Json:
        """The placement policy, empty if there is none."""
        return dict(self.pool.get("placementPolicy", {}))

    @property
    def placement_topology(self) -> str:
        """The topology of a multi-host slice; empty for single-host and CPU pools."""
        return str(self.placement.get("tpuTopology") or "")

    @property
    def capacity(self) -> str:
        """The provisioning model: on-demand, spot, flex-start or reservation."""
        if self.config.get("spot"):
            return "spot"
        if self.flex_start:
            return "flex-start"
        return "reservation" if self.reserved else "on-demand"

    @property
    def spot(self) -> bool:
        """Whether nodes are spot or preemptible."""
        return bool(self.config.get("spot") or self.config.get("preemptible"))

    @property
    def flex_start(self) -> bool:
        """Whether capacity comes by flex-start."""
        return bool(self.config.get("flexStart"))

    @property
    def queued(self) -> bool:
        """Whether nodes come through ProvisioningRequests."""
        return bool(self.pool.get("queuedProvisioning", {}).get("enabled"))

    @property
    def reservation(self) -> Any:
        """The reservation affinity, empty if there is none."""
        return self.config.get("reservationAffinity", {})

    @property
    def reserved(self) -> bool:
        """Whether nodes come from specific reservations."""
        return bool(self.reservation.get("consumeReservationType") == "SPECIFIC_RESERVATION")

    @property
    def reservation_names(self) -> list[str]:
        """The specific reservations, as names or paths."""
        return list(self.reservation.get("values") or []) if self.reserved else []

    @property
    def max_run_seconds(self) -> int | None:
        """How long a node lives at most; None: unlimited."""
        duration = self.config.get("maxRunDuration")
        return None if duration is None else int(seconds(duration))
