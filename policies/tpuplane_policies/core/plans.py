"""A plan as `pulumi preview --json` prints it, with the old state, resource options and replacements."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tpuplane.data_files import read_data

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import SENTINELS, hidden

if TYPE_CHECKING:
    from tpuplane.diff import Diff


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan: an operation on one resource."""

    op: str
    """The engine's name of the operation: `create`, `update`, `replace`, `delete`, `same` …"""
    resource: Resource
    """The new resource; the old one if the step deletes it."""
    before: Resource
    """The old resource; the new one if the step creates it."""
    options: Mapping[str, Any]
    """The engine's new state: `deletedWith`, `retainOnDelete`, `protect` …"""
    before_options: Mapping[str, Any]
    """The engine's old state; the new one if the step creates the resource."""
    fields: tuple[str, ...]
    """The properties that force the replacement, or that differ."""
    exists: bool
    """Whether the resource exists before the change."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of a preview."""

    steps: tuple[Step, ...]
    left_out: int = 0
    """Number of unchanged resources that the preview omits without `--show-sames`."""
    config: Mapping[str, str] = field(default_factory=dict)
    """The stack's configuration. The engine replaces secrets by a placeholder."""
    exists: bool = False
    """Whether the stack has resources before the change."""
    changes: Diff | None = None
    """The changes to the description; None if one of the two descriptions is not known."""
    unread: str = ""
    """Why the changes to the description are not known; empty if they are, or if the stack has no description."""
    remedy: str = ""
    """How they become known."""

    @property
    def stack(self) -> str:
        """The name of the stack, from the URNs."""
        return self.steps[0].resource.urn.split(":")[2]

    @property
    def project(self) -> str:
        """The name of the project, from the URNs."""
        return self.steps[0].resource.urn.split("::")[1]

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read the whole output of a `pulumi preview --json` that succeeded. Raises `ValueError` for another text."""
        if not text.strip():
            raise ValueError("the plan is empty, so the preview failed before its first step")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{_OTHER}, or cut off: {error}") from None
        try:
            _reject_failed(document)
            steps = tuple(_step(step) for step in document["steps"])
            summary = {op: int(count) for op, count in document["changeSummary"].items()}
            config = _texts(document.get("config") or {})
            stacks = {step.resource.urn.split("::")[0] for step in steps}
            _reject_incomplete(steps, summary)
        except (AttributeError, KeyError, OverflowError, TypeError, RecursionError) as error:
            raise ValueError(f"{_OTHER}: {error!r}") from None
        if len(stacks) > 1:
            raise ValueError(f"the plan has steps of several stacks: {', '.join(sorted(stacks))}")
        left_out = max(0, summary.get("same", 0) - sum(step.op == "same" for step in steps))
        return cls(steps, left_out, config, exists=any(step.exists for step in steps))


def _texts(config: Mapping[str, Any]) -> dict[str, str]:
    if wrong := [key for key, value in config.items() if not isinstance(value, str)]:
        raise TypeError(f"not a text in the configuration: {', '.join(wrong)}")
    return dict(config)


_engine = cache(partial(read_data, "tpuplane_policies", "engine"))
_OTHER = "not the output of `pulumi preview --json`"
_URN = re.compile("urn:pulumi:[^:]+::[^:]+::.+::.*", re.DOTALL)


def _reject_failed(document: Mapping[str, Any]) -> None:
    diagnostics = document.get("diagnostics") or ()
    harmless = _engine()["harmless"]
    errors = [diagnostic["message"] for diagnostic in diagnostics if diagnostic["severity"] not in harmless]
    if errors:
        raise ValueError(f"the preview failed: {'; '.join(map(_cause, errors))}")
    if document.get("maybeCorrupt"):
        raise ValueError("the preview reports that the state of the stack may be corrupt (maybeCorrupt)")
    if ("duration" in document or "steps" in document) and not document.get("steps"):
        raise ValueError("the plan has no steps, so the program registered no resource")


def _cause(error: str) -> str:
    """The message on one line, with only the last line of a traceback."""
    before, _, traceback = error.strip().removeprefix("error: ").partition("Traceback (most recent call last):")
    return " ".join(" ".join([before, *traceback.splitlines()[-1:]]).split())[:_LONGEST]


_LONGEST = 300
"""Maximum number of characters of an engine's message. The output of the preview has the rest."""


def _reject_incomplete(steps: tuple[Step, ...], summary: Mapping[str, int]) -> None:
    printed = Counter(step.op for step in steps)
    unknown = sorted({*printed, *summary}.difference(_engine()["operations"]))
    if unknown:
        raise ValueError(f"the plan has operations that this version does not know: {', '.join(unknown)}")
    wrong = [op for op in _engine()["counted"] if printed[op] != summary.get(op, 0)]
    if printed["same"] > summary.get("same", 0):
        wrong.append("same")
    if wrong:
        counts = ", ".join(f"{op}: {printed[op]} of {summary.get(op, 0)}" for op in wrong)
        raise ValueError(f"the plan is not complete: its steps differ from its changeSummary ({counts})")


def _step(step: Mapping[str, Any]) -> Step:
    detailed = step.get("detailedDiff") or {}
    forcing = [path for path, diff in detailed.items() if str(diff.get("kind", "")).endswith("-replace")]
    new, old = step.get("newState"), step.get("oldState")
    return Step(
        op=step["op"],
        resource=_resource(new or old),
        before=_resource(old or new),
        options=new or old,
        before_options=old or new,
        fields=tuple(forcing or step.get("replaceReasons") or step.get("diffReasons") or ()),
        exists=bool(old),
    )


def _resource(state: Mapping[str, Any]) -> Resource:
    if not _URN.fullmatch(state["urn"]):
        raise ValueError(f"{_OTHER}: {state['urn']!r} is not a URN")
    inputs = hidden(dict(state.get("inputs") or {}), lambda text: text in SENTINELS)
    return Resource(
        type=state["type"],
        name=state["urn"].rpartition("::")[2],
        urn=state["urn"],
        load=lambda: inputs,
        protect=bool(state.get("protect")),
    )
