"""One request as a handler sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from multidict import MultiDict, MultiMapping

from tpuplane_twin.gcp.schema import Json


@dataclass(frozen=True, slots=True)
class Call:
    """Path parameters, query, checked body and path. A method without a request body has an empty one."""

    params: dict[str, str]
    query: MultiMapping[str] = field(default_factory=MultiDict)
    body: Json = field(default_factory=dict)
    path: str = ""
    """Without the API's base and version: "projects/p/zones/z/machineTypes"."""


# Nothing else happens to the store while a handler runs, and each runs in one transaction. What asks a cluster answers
# later, outside of any transaction, and only reads.
Handler = Callable[[Call], Any]
