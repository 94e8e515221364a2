"""The data files of the spec, and its rules with their sources and the message if one is broken."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.quantities import singular
from tpuplane.spec.core.errors import Mistake, Path, choice

spec_data: Callable[[str], Any] = functools.cache(functools.partial(read_data, "tpuplane.spec"))
"""The content of `data/NAME.yaml`, read once. Callers do not change it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. A check fills in the `{…}` of its texts, such as the value and the pool's generation."""

    id: str
    sources: tuple[str, ...]
    """Keys of the sources of `tpuplane.tpu` or `tpuplane.gpu`."""
    cause: str
    allowed: str = ""
    remedy: str = ""
    elsewhere: bool = False
    """Whether another cluster of the platform may satisfy the compute class."""

    def line(self, **parts: object) -> str:
        """Cause, allowed values and remedy as one line."""
        allowed = f"allowed: {self.allowed}" if self.allowed else ""
        return singular("; ".join(part.format(**parts) for part in (self.cause, allowed, self.remedy) if part))


@functools.cache
def rules() -> dict[str, Rule]:
    """Every rule by its id."""
    found = {**spec_data("rules")["rules"], **spec_data("class_rules")["rules"]}
    return {id_: Rule(id=id_, **{**rule, "sources": tuple(rule["sources"])}) for id_, rule in found.items()}


def broken(rule: str, path: Path, **parts: object) -> Mistake:
    """The mistake at `path` that breaks this rule."""
    return Mistake(path, rules()[rule].line(**parts), rule=rule)


def check_boot_disk(at: Path, disk: str | None, owner: str, allowed: Sequence[str] = ()) -> Iterator[Mistake]:
    """Reject a disk type that `owner`, such as v6e hosts, does not support. Without `allowed`, all types are valid."""
    known = allowed or spec_data("rules")["diskTypes"]
    if disk is not None and disk not in known:
        yield Mistake(at, choice(disk, f"a boot disk of {owner}", known))
