"""What the errors of the catalogues share: what was refused, why, what is allowed, and what comes nearest."""

from __future__ import annotations

from typing import Generic, TypeVar

FieldT = TypeVar("FieldT", bound=str)


class Refused(ValueError, Generic[FieldT]):
    """A value that no hardware has.

    `str(error)` is the whole message; the attributes are for callers that add a path, or offer a choice.
    """

    field: FieldT
    """The argument at fault."""
    value: str
    """What was given."""
    allowed: tuple[str, ...]
    """Accepted values in table order. For 3-D generations the documented topologies: the rule admits more."""
    nearest: tuple[str, ...]
    """Accepted values closest to what was given; empty where nothing comes near."""

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
        parts = [f"{value!r} {cause}"]
        if allowed_text or allowed:
            parts.append(f"allowed: {allowed_text or ', '.join(allowed)}")
        if nearest:
            parts.append(f"nearest: {', '.join(nearest)}")
        super().__init__("; ".join(parts))
