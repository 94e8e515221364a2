"""What an update would change, property by property, and whether it can be done in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from tpuplane_twin.providers.contract import Change
from tpuplane_twin.providers.kubernetes import paths
from tpuplane_twin.providers.kubernetes.inputs import same_quantity
from tpuplane_twin.providers.kubernetes.values import Object
from tpuplane_twin.providers.values import UNKNOWN

_MISSING: Final = object()


def detailed(
    live: Object, old_inputs: Object, new_inputs: Object, replacing: Sequence[paths.Path], *, built_in: bool
) -> dict[str, Change]:
    """The changes from `live` (pruned to the old inputs) to the new inputs, by property path.

    For a built-in kind, a value that the program left alone and that the server only writes another way is no change:
    a false or empty value that it leaves out, "1000m" that it keeps as "1".
    """
    comparison = _Comparison(replacing, built_in)
    comparison.objects((), live, old_inputs, new_inputs)
    return comparison.changes


class _Comparison:
    def __init__(self, replacing: Sequence[paths.Path], built_in: bool) -> None:
        self.changes: dict[str, Change] = {}
        self._replacing = replacing
        self._built_in = built_in

    def objects(self, path: paths.Path, live: Object, old: Any, new: Object) -> None:
        before = old if isinstance(old, dict) else {}
        for key in [*new, *(key for key in live if key not in new)]:
            self.values((*path, key), live.get(key, _MISSING), before.get(key, _MISSING), new.get(key, _MISSING))

    def values(self, path: paths.Path, live: Any, old: Any, new: Any) -> None:
        if new is UNKNOWN:
            self._record(path, "add" if live is _MISSING else "update", new)
        elif new is _MISSING or new is None:
            if live is not _MISSING and live is not None:
                self._record(path, "delete", None)
        elif live is _MISSING:
            if not self._left_out_by_server(old, new):
                self._record(path, "add", new)
        elif isinstance(live, dict) and isinstance(new, dict):
            self.objects(path, live, old, new)
        elif isinstance(live, list) and isinstance(new, list):
            self._lists(path, live, old, new)
        elif not _equal(live, new) and not self._rewritten_by_server(live, old, new):
            self._record(path, "update", new)

    def _lists(self, path: paths.Path, live: list[Any], old: Any, new: list[Any]) -> None:
        before = old if isinstance(old, list) else []
        for index in range(max(len(live), len(new))):
            self.values(
                (*path, index),
                *(part[index] if index < len(part) else _MISSING for part in (live, before, new)),
            )

    def _left_out_by_server(self, old: Any, new: Any) -> bool:
        return self._built_in and old is not _MISSING and _equal(old, new) and not new

    def _rewritten_by_server(self, live: Any, old: Any, new: Any) -> bool:
        if not self._built_in or old is _MISSING or not _equal(old, new):
            return False
        return same_quantity(live, new)

    def _record(self, path: paths.Path, action: Literal["add", "delete", "update"], value: Any) -> None:
        replaces = any(_touches(path, value, field) for field in self._replacing)
        self.changes[paths.render(path)] = Change(action, replaces, of_input=action == "delete")


def _equal(left: Any, right: Any) -> bool:
    # In Python True == 1; in Kubernetes they are different types.
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _touches(path: paths.Path, value: Any, field: paths.Path) -> bool:
    """Whether changing `path` to `value` changes `field`, which lies above, at or below it."""
    if paths.contains(field, path):
        return True
    if len(field) <= len(path) or not paths.contains(field[: len(path)], path):
        return False
    return _holds(value, field[len(path) :])


def _holds(value: Any, field: paths.Path) -> bool:
    if not field:
        return True
    step, rest = field[0], field[1:]
    if step == "*":
        return isinstance(value, list) and any(_holds(item, rest) for item in value)
    return isinstance(value, dict) and step in value and _holds(value[step], rest)
