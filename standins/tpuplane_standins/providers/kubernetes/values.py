"""Kubernetes objects as Pulumi properties: fields and their paths, what is secret, what the state keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tpuplane_standins.providers.values import Secret, holds, reveal

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON holds it (values may be `UNKNOWN`)."""

# Pulumi property names cannot hold dashes; the schema extensions of CRDs have them.
_DASHED = {
    f"x_kubernetes_{name.replace('-', '_')}": f"x-kubernetes-{name}"
    for name in (
        "embedded-resource",
        "int-or-string",
        "list-map-keys",
        "list-type",
        "map-type",
        "preserve-unknown-fields",
        "validations",
    )
}
_UNDERSCORED = {dashed: underscored for underscored, dashed in _DASHED.items()}


def to_kubernetes(value: Any) -> Any:
    """The value as the API server takes it: secrets unwrapped, `x_kubernetes_…` keys with their dashes. A copy."""
    return _renamed(reveal(value), _DASHED)


def to_pulumi(value: Any) -> Any:
    """The inverse of `to_kubernetes`, but for secrets. A copy."""
    return _renamed(value, _UNDERSCORED)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
        case list():
            return [_renamed(item, names) for item in value]
        case _:
            return value


def mark_secrets(values: Object, like: Mapping[str, Any]) -> Object:
    """`values` with everything secret that is secret in `like`; the data of a Secret is always secret.

    Objects are followed key by key, so one secret does not hide the whole object; a list with a secret anywhere
    becomes secret as a whole, because servers reorder lists.
    """
    if values.get("kind") == "Secret":
        hidden = ("data", "stringData")
        return {
            key: Secret(value) if key in hidden and not isinstance(value, Secret) else value
            for key, value in values.items()
        }
    marked = dict(values)
    for key, template in like.items():
        if key not in marked:
            continue
        value = marked[key]
        if isinstance(value, dict) and isinstance(template, dict):
            marked[key] = mark_secrets(value, template)
        elif not isinstance(value, Secret) and holds(template, lambda value: isinstance(value, Secret)):
            marked[key] = Secret(value)
    return marked


# The official provider's keys in a state, so that a stack can move between the two.
INPUTS: Final = "__inputs"
INITIAL_API_VERSION: Final = "__initialApiVersion"
FIELD_MANAGER: Final = "__fieldManager"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of one object, without secrets' wrappers."""

    inputs: Object
    live: Object
    initial_api_version: str | None
    field_manager: str | None

    @classmethod
    def parse(cls, state: Mapping[str, Any]) -> Checkpoint:
        """Read what `render` wrote; inputs are empty for an object that was never created by a program."""
        live = to_kubernetes(dict(state))
        inputs = live.pop(INPUTS, None) or {}
        return cls(inputs, live, live.pop(INITIAL_API_VERSION, None), live.pop(FIELD_MANAGER, None))


def render(
    inputs: Object, live: Object, secrets_like: Mapping[str, Any], initial_api_version: str, field_manager: str
) -> Object:
    """The state to keep; what is secret in `secrets_like` (the program's inputs) is secret in it."""
    state = mark_secrets(to_pulumi(live), secrets_like)
    state[INPUTS] = mark_secrets(to_pulumi(inputs), secrets_like)
    state[INITIAL_API_VERSION] = initial_api_version
    state[FIELD_MANAGER] = field_manager
    return state


Path = tuple[str | int, ...]
"""Keys and list indices; `*` matches either."""

_STEP = re.compile(r"""\.?(?P<name>[^.\["\]]+)|\[(?P<index>\d+|\*)\]|\["(?P<quoted>(?:[^"\\]|\\.)*)"\]""")


class PathError(ValueError):
    """A text that is not a property path."""


def parse_path(text: str) -> Path:
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


def render_path(path: Sequence[str | int]) -> str:
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


def path_contains(outer: Path, inner: Path) -> bool:
    """Whether `inner` is `outer` or lies below it."""
    return len(outer) <= len(inner) and all(step in ("*", below) for step, below in zip(outer, inner, strict=False))
