"""`tpuplane diff` in a terminal, as Markdown for a comment, and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from tpuplane.cli.render import markdown_rows
from tpuplane.cost import PlatformCost
from tpuplane.diff import Change, Diff, NodePoolChange, citation, classes, draining_hours
from tpuplane.plan.summary import counted
from tpuplane.spec.core.errors import dotted

Costs = tuple[PlatformCost, PlatformCost]
"""Before and after."""


def diff_as_text(found: Diff, costs: Costs) -> Iterator[str]:
    """A line for each change, by class, with the node pools that it reaches; then what the changes open."""
    yield _summary(found, costs)
    for kind, changes in groupby(found.changes, key=lambda it: it.kind):
        yield f"\n{kind}: {classes()[kind]}"
        for it in changes:
            yield f"  {dotted(it.path)}: {_step(it)}"
            yield f"    {' '.join([it.why, *_reached(it)])} [{it.source}]"
    if found.opens:
        yield "\nopens"
        yield from (f"  {dotted(it.path)}: {_short(it.value)}: {it.why}" for it in found.opens)
    if found.changes:
        yield ""
    yield from (f"[{source}] {citation(source)}" for source in dict.fromkeys(it.source for it in found.changes))


def diff_as_markdown(found: Diff, costs: Costs) -> Iterator[str]:
    """The same as tables."""
    yield f"### {_summary(found, costs)}\n"
    if found.changes:
        rows = (
            (f"`{dotted(it.path)}`", f"`{_step(it)}`", it.kind, " ".join([it.why, *_reached(it)]))
            for it in found.changes
        )
        yield from markdown_rows(("field", "change", "class", "what happens"), rows)
    if found.opens:
        yield ""
        yield from markdown_rows(
            ("opens", "to", "why"), ((f"`{dotted(it.path)}`", f"`{_short(it.value)}`", it.why) for it in found.opens)
        )


def diff_as_json(found: Diff, costs: Costs) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "ok": True,
        "before": _side(found.before.plan, costs[0]),
        "after": _side(found.after.plan, costs[1]),
        "changes": [
            {
                "path": dotted(it.path),
                "before": _plain(it.before),
                "after": _plain(it.after),
                "class": it.kind,
                "why": it.why,
                "source": citation(it.source),
                "nodePools": [{to_camel(key): value for key, value in asdict(pool).items()} for pool in it.node_pools],
            }
            for it in found.changes
        ],
        "opens": [{"path": dotted(it.path), "value": _plain(it.value), "why": it.why} for it in found.opens],
    }


def _side(platform: Any, cost: PlatformCost) -> dict[str, Any]:
    usd = cost.total.max
    return {
        "name": platform.name,
        "chips": platform.chips,
        "gpus": platform.gpus,
        "usdPerHour": round(usd.usd_per_hour, 2) if usd.known else None,
        "missing": list(usd.missing),
    }


def _summary(found: Diff, costs: Costs) -> str:
    (old, new), (was, now) = (found.before.plan, found.after.plan), costs
    parts = [f"{_arrow(f'{old.chips:,}', f'{new.chips:,}')} chips"]
    if old.gpus or new.gpus:
        parts.append(f"{_arrow(f'{old.gpus:,}', f'{new.gpus:,}')} GPUs")
    usd = (f"{it.total.max.usd_per_hour:,.2f}" if it.total.max.known else "?" for it in (was, now))
    parts.append(f"{_arrow(*usd)} USD an hour at full scale")
    missing = f"; without a price: {', '.join(now.total.max.missing)}" if now.total.max.missing else ""
    nothing = "" if found.changes else "\n\nNo changes."
    return f"{_arrow(old.name, new.name)}: {', '.join(parts)}{missing}{nothing}"


def _reached(change: Change) -> Iterator[str]:
    """What happens to the node pools, for each kind of it."""
    for done, group in groupby(change.node_pools, key=lambda it: (it.cluster, it.done)):
        pools = list(group)
        nodes, sums = sum(it.nodes for it in pools), [counted(sum(it.nodes for it in pools), "node")]
        sums += [counted(total, unit) for unit, total in _units(pools).items() if total]
        yield f"{done[1].capitalize()} in {done[0]}: {_names(pools)} ({', '.join(sums)})."
        if done[1] == "rolled":
            hours = counted(draining_hours() * -(-nodes // pools[0].at_a_time), "hour")
            yield f"{counted(pools[0].at_a_time, 'node')} at a time; draining takes up to {hours}."


def _units(pools: list[NodePoolChange]) -> dict[str, int]:
    return {"chip": sum(it.chips for it in pools), "GPU": sum(it.gpus for it in pools)}


def _names(pools: list[NodePoolChange]) -> str:
    names = [it.name for it in pools]
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, …, {names[-1]} ({len(names)} node pools)"


def _step(change: Change) -> str:
    return f"{_short(change.before)} → {_short(change.after)}"


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _short(value: object) -> str:
    """A value as one short text."""
    text = _inline(_plain(value))
    return text if len(text) <= 80 else f"{text[:79]}…"


def _inline(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "{" + ", ".join(f"{key}: {_inline(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
    return str(value)


def _plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
    return value
