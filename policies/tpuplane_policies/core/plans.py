"""A plan, as `pulumi preview --json` prints it, with the old state, resource options and replacements."""

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
    """The engine's name of the operation: `create`, `update`, `replace`, `delete`, `same` …"""
    resource: Resource
    """The new resource; the old one if it is deleted."""
    before: Resource
    """The old resource; the new one if it is created."""
    options: Mapping[str, Any]
    """The engine's new state: `deletedWith`, `retainOnDelete`, `protect` …"""
    fields: tuple[str, ...]
    """The properties that force the replacement, or that differ."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of a preview."""

    steps: tuple[Step, ...]
    left_out: int = 0
    """Number of unchanged resources that the preview omits without `--show-sames`."""

    @property
    def stack(self) -> str:
        """The name of the stack, from the URNs; empty if the plan has no steps."""
        return next((step.resource.urn.split(":")[2] for step in self.steps), "")

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read the output of `pulumi preview --json`.

        Raises:
            ValueError: if the text is not such output.

        """
        try:
            document = json.loads(text)
            steps = tuple(_step(step) for step in document["steps"])
            same = (document.get("changeSummary") or {}).get("same", 0)
            return cls(steps, max(0, int(same) - sum(step.op == "same" for step in steps)))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"not the output of `pulumi preview --json`: {error!r}") from None


def _step(step: Mapping[str, Any]) -> Step:
    detailed = step.get("detailedDiff") or {}
    forcing = [path for path, diff in detailed.items() if str(diff.get("kind", "")).endswith("-replace")]
    new, old = step.get("newState"), step.get("oldState")
    return Step(
        op=step["op"],
        resource=_resource(new or old),
        before=_resource(old or new),
        options=new or old,
        fields=tuple(forcing or step.get("replaceReasons") or step.get("diffReasons") or ()),
    )


def _resource(state: Mapping[str, Any]) -> Resource:
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
