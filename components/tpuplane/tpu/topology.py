"""Topologies: the arithmetic of `4x4` and `2x2x4`, and the rule of 3-D generations."""

import math
import re
from dataclasses import dataclass
from functools import lru_cache

_CANONICAL = re.compile(r"[1-9][0-9]{0,5}(?:x[1-9][0-9]{0,5}){1,2}")


def parse(topology: str) -> tuple[int, ...] | None:
    """The numbers of a topology; None if it is not in the form `AxB` or `AxBxC`."""
    return tuple(map(int, topology.split("x"))) if _CANONICAL.fullmatch(topology) else None


def grid(topology: str) -> tuple[int, ...]:
    """Rows, columns and layers of a topology, or of the layout of a host's chips."""
    dims = parse(topology) or ()
    return dims + (1,) * (3 - len(dims))


@lru_cache
def chip_count(topology: str) -> int:
    """Chips in a slice: the product of the topology's numbers."""
    return math.prod(map(int, topology.split("x")))


@dataclass(frozen=True, slots=True)
class TopologyRule:
    """The shapes of a 3-D torus of cubes: AxBxC, A<=B<=C, whole cubes, up to a number of chips.

    A cube is 4x4x4 chips with fixed wiring, and optical switches join cubes. The rule does not apply to shapes below
    one cube, which are listed.
    """

    cube: int
    """Edge of a cube in chips."""
    max_chips: int

    @property
    def topologies(self) -> tuple[str, ...]:
        """Every shape that the rule admits, smallest first; of shapes with the same chips the most cubic first."""
        return _cuboids(self.cube, self.max_chips)

    def admits(self, topology: str) -> bool:
        """Whether `topology` has whole cubes and matches the rule."""
        dims = parse(topology)
        return dims is not None and self.broken_by(dims) is None

    def broken_by(self, dims: tuple[int, ...]) -> str | None:
        """The condition that a shape violates; None if it matches the rule."""
        chips = math.prod(dims)
        if len(dims) != 3:
            return "it needs 3 numbers"
        if list(dims) != sorted(dims):
            return "the numbers must ascend, A<=B<=C"
        if chips > self.max_chips:
            return f"{chips} chips are more than the largest slice, {self.max_chips}"
        if any(dim % self.cube for dim in dims):
            whole = self.cube**3
            return (
                f"from {whole} chips, every number must be a multiple of {self.cube}"
                if chips >= whole
                else f"below {whole} chips, only the listed topologies exist"
            )
        return None

    def __str__(self) -> str:
        return f"any AxBxC of multiples of {self.cube} with A<=B<=C and at most {self.max_chips} chips"


@lru_cache
def _cuboids(cube: int, max_chips: int) -> tuple[str, ...]:
    cubes = max_chips // cube**3
    shapes = [
        (a, b, c)
        for a in range(1, math.isqrt(cubes) + 1)
        for b in range(a, cubes // a + 1)
        for c in range(b, cubes // (a * b) + 1)
    ]
    shapes.sort(key=lambda s: (math.prod(s), s[0] * s[1] + s[1] * s[2] + s[2] * s[0]))
    return tuple("x".join(str(edge * cube) for edge in shape) for shape in shapes)
