"""What the node pools and compute classes of a cluster take from around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tpuplane.spec import ReservationSpec


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of pools and classes: those of a platform's cluster, or of any other."""

    location: str  # region or zone of the cluster
    project: str | None  # None: known only while the engine runs
    cluster_name: str | None = None  # in Google Cloud, in front of workload policies; None: as the project
    labels: Mapping[str, str] = field(default_factory=dict)  # Google Cloud labels of all that is in the cluster
    reservations: Mapping[str, ReservationSpec] = field(default_factory=dict)
