"""Objects of one kind directly below a project, kept under their names: what Monitoring and Logging have in common."""

from __future__ import annotations

from typing import ClassVar

from tpuplane_twin.gcp.call import Call
from tpuplane_twin.gcp.errors import not_found
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class Collection:
    """`projects/P/SEGMENT`: what is there can be read, listed and removed."""

    kind: ClassVar[str]
    """The store's word for it."""

    segment: ClassVar[str]
    """In paths, and the field of a list."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, call: Call) -> Json:
        """One object; 404 if there is none."""
        found = self._store.get(self.kind, self._name(call))
        if found is None:
            raise not_found(f"{self._name(call)} not found.")
        return found

    def list(self, call: Call) -> Json:
        """The objects of a project."""
        return {self.segment: self._store.values(self.kind, self._parent(call))}

    def delete(self, call: Call) -> Json:
        """Remove one; 404 if there is none."""
        self.get(call)
        self._store.delete(self.kind, self._name(call))
        return {}

    def _parent(self, call: Call) -> str:
        return f"projects/{call.params['projectsId']}/{self.segment}"

    def _name(self, call: Call) -> str:
        return f"{self._parent(call)}/{call.params[f'{self.segment}Id']}"
