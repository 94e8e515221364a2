"""Operations of google.longrunning, whose work is done when they are answered."""

import uuid
from typing import ClassVar

from tpuplane_twin.gcp.handlers import Call, Collection
from tpuplane_twin.gcp.schema import Json

_TYPES = "type.googleapis.com"


class LongRunning(Collection):
    """The operations of an API, in a location if it has any. The first answer is not done; the next one is."""

    segment, label, verbs = "operations", "Operation", "get"
    types: ClassVar[str]
    """The package of the API's messages."""

    def parent(self, call: Call) -> str:
        """The collection."""
        return super().parent(call) if "locationsId" in call.params else self.segment

    def begin(self, call: Call, kind: str = "", made: Json | None = None) -> Json:
        """Store the finished operation of a change, and return it without its result: `made`, or nothing."""
        name = f"{self.parent(call)}/{uuid.uuid4()}"
        result = f"{self.types}.{kind}" if kind else "google.protobuf.Empty"
        begun: Json = {"name": name, "metadata": {"@type": f"{_TYPES}/{self.types}.OperationMetadata"}}
        self.put(name, {**begun, "done": True, "response": {"@type": f"{_TYPES}/{result}", **(made or {})}})
        self._store.trim(self.kind)
        return begun
