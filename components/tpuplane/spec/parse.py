"""From plain values to a platform's description, or to every mistake in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tpuplane.spec.checks import check
from tpuplane.spec.core.errors import Mistake, SpecError, shown
from tpuplane.spec.core.mistakes import judged
from tpuplane.spec.platform import PlatformSpec


def parse_platform(value: object, where: str = "", *, project: object = None) -> PlatformSpec:
    """Read the description from plain values, as a stack file or `pulumi.Config` gives them.

    `project` is the stack's `gcp:project`: the platform's where the description has none of its own.
    Raises `SpecError` with every mistake there is; `where` is put in front of each.
    """
    if not isinstance(value, Mapping):
        raise SpecError(
            [Mistake((), f"a mapping with name, project and clusters is wanted, not {shown(value)}", where)]
        )
    try:
        # The description's own project wins.
        spec, found = judged({**({} if project is None else {"project": project}), **value}, PlatformSpec, check)
    except RecursionError:
        raise SpecError([Mistake((), "nested deeper than any description is", where)]) from None
    if found or spec is None:
        raise SpecError(replace(mistake, where=where) for mistake in found)
    return spec
