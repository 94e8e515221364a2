"""The findings of a comparison with Google Cloud. Each is one line with its cause and remedy."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from tpuplane.preflight.google import Undecided
from tpuplane.spec.core.errors import Mistake, Path, dotted


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is missing, insufficient or in use, or a question that Google did not answer (`undecided`)."""

    check: str
    path: Path
    message: str
    remedy: str
    undecided: bool = False
    where: str = ""  # "stacks/Pulumi.prod.yaml:12"

    def __str__(self) -> str:
        doubt = "not checked: " if self.undecided else ""
        return str(Mistake(self.path, f"{doubt}{self.message}; {self.remedy}", self.where))

    def as_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {**asdict(self), "path": dotted(self.path)}


def asked(check: str, path: Path, rejected: str, found: Iterator[Finding]) -> Iterator[Finding]:
    """The findings of one question, or one finding if Google does not answer it.

    `rejected` is the remedy if Google rejects the question.
    """
    try:
        yield from found
    except Undecided as error:
        yield Finding(check, path, str(error), error.remedy or rejected, undecided=True)
