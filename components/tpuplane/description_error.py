"""Errors of components: the engine shows the messages of `tpuplane check`, without a traceback."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pulumi

from tpuplane.spec import SpecError

_Init = TypeVar("_Init", bound=Callable[..., None])


class DescriptionError(SpecError, pulumi.RunError):
    """The arguments of a component have mistakes. The engine shows a `RunError` without a traceback."""


def in_plain_words(init: _Init) -> _Init:
    """Make the constructor of a component raise `DescriptionError` for `SpecError`, with its name in each line."""

    @functools.wraps(init)
    def checked(self: pulumi.ComponentResource, name: str, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, name, *args, **kwargs)
        except SpecError as error:
            named = error.located(lambda _: f"{type(self).__name__} {name}")
            raise DescriptionError(named.mistakes) from None

    return cast("_Init", checked)
