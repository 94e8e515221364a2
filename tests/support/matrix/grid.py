"""The cells of the fault matrix, from `tests/standins/matrix/matrix.yaml`, and the outcomes of those played."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tpuplane.data_files import read_yaml
from tpuplane_twin.gcp.faults import kinds

from tests.support import TESTS

ABSORBED = "the command succeeds"
NEXT = "the next one succeeds"
TOLD = "after printed commands"
FAILS = "fails"
OUTCOMES = (ABSORBED, NEXT, TOLD)
FIGURES = TESTS / "standins" / "matrix" / "figures.yaml"
_FILE = TESTS / "standins" / "matrix" / "matrix.yaml"
_OPERATION = "operation-"
_REQUEST = {"create": "create", "abandon": "create", "delete": "delete"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One fault of one resource at one moment of its creation or deletion."""

    resource: str
    fault: str
    moment: str
    phase: str

    def __str__(self) -> str:
        return f"{self.phase} {self.resource}: {self.fault}, {self.moment}"

    @property
    def wanted(self) -> re.Pattern[str]:
        """The request that the fault is about."""
        return re.compile((_data()["resources"] | _data()["anywhere"])[self.resource][_REQUEST[self.phase]])

    @property
    def signals(self) -> list[str]:
        """The signals that the engine gets."""
        return list(_data()["faults"][self.fault].get("signals", ()))

    @property
    def kind(self) -> str:
        """The kind of the API's fault; empty for a fault of the engine."""
        return str(_data()["faults"][self.fault].get("kind", ""))

    @property
    def answer(self) -> dict[str, Any]:
        """The answer of the API instead of its own; empty for a fault of the engine or of an operation."""
        return {} if not self.kind or self.of_operation else kinds()[self.kind]

    @property
    def of_operation(self) -> bool:
        """Whether the request succeeds, and its operation fails."""
        return self.kind.startswith(_OPERATION)


def cells() -> list[Cell]:
    """All cells, resource by resource."""
    return list(_cells("resources"))


def anywhere() -> list[Cell]:
    """Faults of any of several requests."""
    return list(_cells("anywhere"))


def _cells(part: str) -> Iterator[Cell]:
    for resource, found in _data()[part].items():
        for fault, about in _data()["faults"].items():
            if "groups" in about and not {*about["groups"]} & {*found["groups"]}:
                continue
            for phase, request in _REQUEST.items():
                if request in found:
                    yield from (Cell(resource, fault, moment, phase) for moment in about.get(phase, ()))


def sample(count: int, seed: int) -> list[Cell]:
    """Some cells, spread evenly. A larger sample with the same seed starts with the smaller one."""
    return random.Random(seed).sample(cells(), len(cells()))[:count]


def played() -> dict[str, str]:
    """The outcomes by the names of the cells, as far as they were written."""
    return dict(read_yaml(FIGURES)) if FIGURES.exists() else {}


@cache
def _data() -> dict[str, Any]:
    return dict(read_yaml(_FILE))
