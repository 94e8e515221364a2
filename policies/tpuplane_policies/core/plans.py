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
    resource: Resource
    """The resource as it will be, or as it was."""
    before: Resource
    """The resource as it is, or as it will be."""
    options: Mapping[str, Any]
    """The new state as the engine keeps it: `deletedWith`, `retainOnDelete`, `protect` …"""
    fields: tuple[str, ...]
    """The properties that force the replacement, or that differ."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of a preview."""

    steps: tuple[Step, ...]
    left_out: int = 0
    """Resources that stay as they are and that the preview does not show: it was made without `--show-sames`."""

    @property
    def stack(self) -> str:
        """The name of the stack, by the URNs; empty where the plan has no step."""
        return next((step.resource.urn.split(":")[2] for step in self.steps), "")

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read what `pulumi preview --json` wrote.

        Raises:
            ValueError: if it is something else.

        """
        try:
            document = json.loads(text)
            steps = tuple(_step(step) for step in document["steps"])
            same = (document.get("changeSummary") or {}).get("same", 0)
            return cls(steps, max(0, int(same) - sum(step.op == "same" for step in steps)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
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
