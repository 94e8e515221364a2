"""Property paths as the engine writes them: `spec.ports[0].port`, `metadata.labels["app.kubernetes.io/name"]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

Path = tuple[str | int, ...]
"""Keys and list indices; `*` matches either."""

_STEP = re.compile(r"""\.?(?P<name>[^.\["\]]+)|\[(?P<index>\d+|\*)\]|\["(?P<quoted>(?:[^"\\]|\\.)*)"\]""")


class PathError(ValueError):
    """A text that is not a property path."""


def parse(text: str) -> Path:
    """The path that `text` names. Raises `PathError` if it names none."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise PathError(f"{text!r} is not a property path; expected for example spec.template or data['a.b']")
        if found["name"] is not None:
            steps.append(found["name"])
        elif found["quoted"] is not None:
            steps.append(found["quoted"].replace('\\"', '"'))
        else:
            steps.append("*" if found["index"] == "*" else int(found["index"]))
        position = found.end()
    return tuple(steps)


def render(path: Sequence[str | int]) -> str:
    """The text of `path`; keys with dots, quotes or brackets are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif any(character in step for character in '."[]'):
            text += '["' + step.replace('"', '\\"') + '"]'
        else:
            text += f".{step}" if text else step
    return text


def contains(outer: Path, inner: Path) -> bool:
    """Whether `inner` is `outer` or lies below it."""
    return len(outer) <= len(inner) and all(step in ("*", below) for step, below in zip(outer, inner, strict=False))
