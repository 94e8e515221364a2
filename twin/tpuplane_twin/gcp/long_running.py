"""Operations of google.longrunning, whose work is done when they are answered."""

import uuid
from typing import ClassVar

from tpuplane_twin.gcp.handlers import Call, Collection
from tpuplane_twin.gcp.schema import Json

EMPTY: Json = {"@type": "type.googleapis.com/google.protobuf.Empty"}
"""The result of a deletion."""


class LongRunning(Collection):
    """The operations of an API, in a location if it has any. The first answer is not done; the next one is."""

    segment, label, verbs = "operations", "Operation", "get"
    types: ClassVar[str]
    """The types of the API's messages, without the last part of their names."""

    def parent(self, call: Call) -> str:
        """The collection."""
        return super().parent(call) if "locationsId" in call.params else self.segment

    def begin(self, call: Call, response: Json) -> Json:
        """Store the finished operation of a change, and return it without its result."""
        name, kind = f"{self.parent(call)}/{uuid.uuid4()}", f"{self.types}.OperationMetadata"
        begun: Json = {"name": name, "metadata": {"@type": kind}}
        self.put(name, {**begun, "done": True, "response": response})
        self._store.trim(self.kind)
        return begun
