"""One request as a handler sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tpuplane_twin.gcp.schema import Json


@dataclass(frozen=True, slots=True)
class Call:
    """Path parameters, query, checked body and path. A method without a request body has an empty one."""

    params: dict[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json = field(default_factory=dict)
    path: str = ""
    """Without the API's base and version: "projects/p/zones/z/machineTypes"."""


# Handlers are synchronous: nothing else happens to the store while one runs, and each runs in one transaction.
Handler = Callable[[Call], Json]
