"""The capacities that an instance of a file system can have."""

from collections.abc import Iterable, Sequence


def capacities(rows: Iterable[Sequence[int]]) -> list[range]:
    """The capacities in GiB of rows with the first one, the last one and the step."""
    return [range(first, last + 1, step) for first, last, step in rows]


def can_have(capacity: int, ranges: Iterable[range], before: int | None = None, *, shrinks: bool = False) -> bool:
    """Whether an instance can have a capacity in GiB of these ranges.

    An instance with the capacity `before` stays in its range, and gets a smaller capacity only if it `shrinks`.
    """
    if before is None:
        return any(capacity in steps for steps in ranges)
    return any(capacity in steps and before in steps for steps in ranges) and (shrinks or capacity >= before)


def in_steps(ranges: Iterable[range]) -> str:
    """Capacities as text, for a message."""
    return ", or ".join(f"{steps[0]} to {steps[-1]} in steps of {steps.step}" for steps in ranges)


def allowed(ranges: Iterable[range], before: int | None = None, *, shrinks: bool = False) -> str:
    """What `can_have` accepts, as the end of a message."""
    if before is not None:
        ranges = [steps if shrinks else range(before, steps.stop, steps.step) for steps in ranges if before in steps]
    return f"allowed: {in_steps(ranges)}" + ("" if before is None else f" (it has {before})")
