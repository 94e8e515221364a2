"""Operations of google.longrunning, whose work is done when they are answered."""

import uuid
from typing import ClassVar

from tpuplane_twin.gcp.errors import not_found
from tpuplane_twin.gcp.handlers import Call, Collection, Handler
from tpuplane_twin.gcp.schema import Json

_TYPES = "type.googleapis.com"


class LongRunning(Collection):
    """A collection whose changes answer with operations. The first answer is not done; the next one is."""

    operations: ClassVar[str]
    """What the ids of the methods of its operations begin with."""

    types: ClassVar[str]
    """The package of the API's messages."""

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id, with that of its operations."""
        return {**super().handlers(), f"{self.operations}.get": self._operation}

    def delete(self, call: Call) -> Json:
        """Delete the object that the path names, with its IAM policy."""
        super().delete(call)
        return self.begun(call)

    def begun(self, call: Call, kind: str = "", made: Json | None = None) -> Json:
        """Store the finished operation of a change, and return it without its result: `made`, or nothing."""
        place = super().parent(call).removesuffix(self.segment) if "locationsId" in call.params else ""
        name = f"{place}operations/{uuid.uuid4()}"
        result = f"{self.types}.{kind}" if kind else "google.protobuf.Empty"
        begun: Json = {"name": name, "metadata": {"@type": f"{_TYPES}/{self.types}.OperationMetadata"}}
        done = {"done": True, "response": {"@type": f"{_TYPES}/{result}", **(made or {})}}
        self._store.put(self._operations, name, {**begun, **done})
        self._store.trim(self._operations)
        return begun

    @property
    def _operations(self) -> str:
        """The kind of the operations of the API in the store."""
        return f"{self.kind.partition('.')[0]}.operations"

    def _operation(self, call: Call) -> Json:
        found = self._store.get(self._operations, call.path)
        if found is None:
            raise not_found(f"Operation {call.path} not found.")
        return found
