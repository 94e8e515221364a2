"""What the work of operations stores: the status of a cluster or node pool, and the reason of a failure."""

import re

from tpuplane_twin.gcp.container.names import BEFORE
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class Outcomes:
    """Writes outcomes into the current state of an object, which may have changed during the work."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def settle(self, kind: str, key: str) -> None:
        """RUNNING, without the reason of an earlier failure."""
        self.mark(kind, key, {"status": "RUNNING"})

    def settle_from(self, kind: str, key: str, broken: str) -> None:
        """RUNNING, if the status is still `broken`: an operation that began meanwhile keeps its own."""
        found = self._store.get(kind, key)
        if found is not None and found["status"] == broken:
            self.settle(kind, key)

    def mark(self, kind: str, key: str, fields: Json) -> None:
        """Change fields, unless a deletion has begun meanwhile: it keeps its STOPPING."""
        found = self._store.get(kind, key)
        if found is not None and found["status"] != "STOPPING":
            self.change(kind, key, fields)

    def change(self, kind: str, key: str, fields: Json) -> None:
        """Change fields, also of an object that is being deleted."""
        found = self._store.get(kind, key)
        if found is not None:
            over = ("statusMessage", "conditions", *((BEFORE,) if fields["status"] == "RUNNING" else ()))
            rest = {name: value for name, value in found.items() if name not in over}
            self._store.put(kind, key, {**rest, **fields})


def failure(status: str, message: str) -> Json:
    """The fields of a cluster or pool after a failure."""
    code = re.search(r"\bGCE_\w+", message)
    condition = {"code": code[0], "canonicalCode": "RESOURCE_EXHAUSTED"} if code else {"canonicalCode": "INTERNAL"}
    return {"status": status, "statusMessage": message, "conditions": [{**condition, "message": message}]}
