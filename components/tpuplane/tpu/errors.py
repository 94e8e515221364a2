"""The errors of the catalogues: the rejected value, the reason, allowed and nearest values."""

from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

from tpuplane.tpu.nearest import lookalike, nearest_names

Field = Literal["generation", "topology", "machine_type", "zone", "version"]
FieldT = TypeVar("FieldT", bound=str)
ValueT = TypeVar("ValueT")
_LONGEST = 60  # characters of a value in a message


class CatalogueError(ValueError, Generic[FieldT]):
    """A value that no hardware supports.

    `str(error)` is the whole message. The attributes are for callers that add a path or offer a choice.
    """

    field: FieldT
    """The argument at fault."""
    value: str
    allowed: tuple[str, ...]
    """Allowed values in table order; for 3-D generations the documented topologies, although the rule admits more."""
    nearest: tuple[str, ...]
    """Allowed values closest to the rejected one; empty if none is close."""

    def __init__(
        self,
        field: FieldT,
        value: str,
        cause: str,
        *,
        allowed: tuple[str, ...] = (),
        nearest: tuple[str, ...] = (),
        allowed_text: str | None = None,
    ) -> None:
        """Build the message `'value' cause; allowed: …; nearest: …`; `allowed_text` replaces the list."""
        self.field = field
        self.value = value
        self.allowed = allowed
        self.nearest = nearest
        text = repr(value)
        parts = [f"{text if len(text) <= _LONGEST else f'{text[: _LONGEST - 3]}...'}{lookalike(value)} {cause}"]
        if allowed_text or allowed:
            parts.append(f"allowed: {allowed_text or ', '.join(allowed)}")
        if nearest:
            parts.append(f"nearest: {', '.join(nearest)}")
        super().__init__("; ".join(parts))


def look_up(
    known: Mapping[str, ValueT], name: str, error: type[CatalogueError[FieldT]], field: FieldT, cause: str
) -> ValueT:
    """The value under a name. Raises `error` with the known names and the nearest of them."""
    if name not in known:
        names = tuple(known)
        raise error(field, name, cause, allowed=names, nearest=nearest_names(name, names))
    return known[name]


class SliceError(CatalogueError[Field]):
    """A combination that no TPU supports."""
