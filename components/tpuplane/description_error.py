"""A wrong description is shown by the engine in the words of `tpuplane check`, without a traceback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pulumi

from tpuplane.spec import SpecError

_Init = TypeVar("_Init", bound=Callable[..., None])


class RefusedError(SpecError, pulumi.RunError):
    """A component's description is wrong. The engine shows a `RunError` as it is, without a traceback."""


def in_plain_words(init: _Init) -> _Init:
    """Let the constructor of a component raise `RefusedError` for `SpecError`: each line names the component."""

    @functools.wraps(init)
    def checked(self: pulumi.ComponentResource, name: str, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, name, *args, **kwargs)
        except SpecError as error:
            named = error.located(lambda _: f"{type(self).__name__} {name}")
            raise RefusedError(named.mistakes) from None

    return cast("_Init", checked)
