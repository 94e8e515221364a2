"""A plan, as `pulumi preview --json` prints it: the one place where old state, options and replacements are seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import SENTINELS, UNKNOWN


@dataclass(frozen=True, slots=True)
class Step:
    """What a plan does to one resource."""

    op: str
    """`create`, `update`, `replace`, `delete`, `same` …, as the engine calls it."""
    old: Resource | None
    new: Resource | None
    options: Mapping[str, Any]
    """The new state as the engine keeps it: `deletedWith`, `retainOnDelete`, `protect` …"""
    fields: tuple[str, ...]
    """The properties that force the replacement, or that differ."""

    @property
    def resource(self) -> Resource:
        """The resource as it will be, or as it was."""
        resource = self.new or self.old
        if resource is None:
            raise ValueError("a step of a plan has neither an old nor a new state")
        return resource


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of a preview."""

    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read what `pulumi preview --json` wrote.

        Raises:
            ValueError: if it is something else.

        """
        try:
            document = json.loads(text)
            return cls(tuple(_step(step) for step in document["steps"]))
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"not the output of `pulumi preview --json`: {error!r}") from None


def _step(step: Mapping[str, Any]) -> Step:
    detailed = step.get("detailedDiff") or {}
    forcing = [path for path, diff in detailed.items() if str(diff.get("kind", "")).endswith("-replace")]
    return Step(
        op=step["op"],
        old=_resource(step.get("oldState")),
        new=_resource(step.get("newState")),
        options=step.get("newState") or step.get("oldState") or {},
        fields=tuple(forcing or step.get("replaceReasons") or step.get("diffReasons") or ()),
    )


def _resource(state: Mapping[str, Any] | None) -> Resource | None:
    if state is None:
        return None
    inputs = _known(state.get("inputs") or {})
    return Resource(
        type=state["type"],
        name=state["urn"].rpartition("::")[2],
        urn=state["urn"],
        load=lambda: inputs,
        protect=bool(state.get("protect")),
    )


def _known(raw: Any) -> Any:
    if isinstance(raw, dict):
        return {key: _known(value) for key, value in raw.items()}
    if isinstance(raw, list):
        return [_known(value) for value in raw]
    return UNKNOWN if isinstance(raw, str) and raw in SENTINELS else raw
