"""`tpuplane diff` in a terminal, as Markdown for a comment, and as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from tpuplane.cli.render import markdown_rows
from tpuplane.cost import PlatformCost
from tpuplane.diff import Change, Diff, NodePoolChange, Opening, Rejection, citation, classes, draining_hours
from tpuplane.plan import PlatformPlan
from tpuplane.quantities import counted
from tpuplane.spec.core.errors import dotted

Costs = tuple[PlatformCost, PlatformCost]
"""Before and after."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def diff_as_text(found: Diff, costs: Costs) -> Iterator[str]:
    """A line for each change, by class, with the node pools that it reaches; then what the changes open."""
    yield _summary(found, costs)
    for kind, changes in groupby(found.changes, key=lambda it: it.kind):
        yield f"\n{kind}: {classes()[kind]}"
        for it in changes:
            yield f"  {dotted(it.path)}: {_step(it)}"
            yield f"    {' '.join([it.why, *_reached(it)])} [{it.source}]"
    for mark, openings in found.marks.items():
        yield f"\n{mark}"
        yield from (f"  {dotted(it.path)}: {_short(it.value)}: {it.why}" for it in openings)
    if found.rejected:
        yield "\nrejected"
        yield from (f"  {dotted(it.path)}: {it}" for it in found.rejected)
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
    for mark, openings in found.marks.items():
        yield ""
        yield from markdown_rows(
            (mark, "to", "why"), ((f"`{dotted(it.path)}`", f"`{_short(it.value)}`", it.why) for it in openings)
        )
    if found.rejected:
        yield ""
        yield from markdown_rows(("rejected", "why"), ((f"`{dotted(it.path)}`", str(it)) for it in found.rejected))


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
        "opens": [_opening(it) for it in found.opens],
        "closes": [_opening(it) for it in found.closes],
        "rejected": [_rejection(it) for it in found.rejected],
    }


def _rejection(it: Rejection) -> dict[str, Any]:
    values = _ANY.dump_python({**asdict(it), "path": dotted(it.path)}, mode="json")
    return {to_camel(key): value for key, value in values.items()}


def _opening(it: Opening) -> dict[str, Any]:
    return {"path": dotted(it.path), "value": _plain(it.value), "why": it.why}


def _side(platform: PlatformPlan, cost: PlatformCost) -> dict[str, Any]:
    usd = cost.total.max
    per_hour = round(usd.usd_per_hour, 2) if usd.known else None
    sums = {"chips": platform.chips, "gpus": platform.gpus, "usdPerHour": per_hour}
    return {"name": platform.name, **sums, "missing": list(usd.missing)}


def _summary(found: Diff, costs: Costs) -> str:
    old, new = (_side(side.plan, cost) for side, cost in zip((found.before, found.after), costs, strict=True))

    def step(key: str, form: str = ",") -> str:
        return _arrow(*("?" if it[key] is None else f"{it[key]:{form}}" for it in (old, new)))

    def units(key: str, unit: str) -> str:
        return f"{step(key)} {unit}{'' if step(key) == '1' else 's'}"

    gpus = f", {units('gpus', 'GPU')}" if old["gpus"] or new["gpus"] else ""
    missing = f"; without a price: {', '.join(new['missing'])}" if new["missing"] else ""
    usd = f"{step('usdPerHour', ',.2f')} USD an hour at full scale{missing}"
    return f"{step('name', '')}: {units('chips', 'chip')}{gpus}, {usd}" + ("" if found.changes else "\n\nNo changes.")


def _reached(change: Change) -> Iterator[str]:
    """What happens to the node pools, for each kind of it."""
    for (cluster, done), group in groupby(change.node_pools, key=lambda it: (it.cluster, it.done)):
        pools = list(group)
        nodes, names = sum(it.nodes for it in pools), _names([it.name for it in pools])
        units = {"chip": sum(it.chips for it in pools), "GPU": sum(it.gpus for it in pools)}
        sums = [counted(total, unit) for unit, total in units.items() if total]
        if done == "resized":
            chosen = f"; GKE chooses the {'node' if nodes == 1 else 'nodes'}" if any(it.chosen for it in pools) else ""
            every = counted(sum(it.of_nodes for it in pools), "node")
            yield f"Deleted in {cluster}: {nodes:,} of {every} of {names} ({', '.join(sums)}){chosen}."
        else:
            yield f"{done.capitalize()} in {cluster}: {names} ({', '.join([counted(nodes, 'node'), *sums])})."
        if kept := [it.name for it in pools if it.protected]:
            yield (
                f"Pulumi rejects it, because adopted node pools are protected: {_names(kept)}. First run the "
                "`pulumi state unprotect` command that `pulumi preview` prints, or set deletionProtection of the "
                "cluster to false and run `pulumi up`."
            )
        if done == "rolled":
            yield _pace(pools)


def _pace(pools: list[NodePoolChange]) -> str:
    """How many nodes GKE recreates at a time, and how long it drains them."""
    slices = [it for it in pools if 1 < it.at_a_time == it.nodes]
    paces = ["All hosts of a multi-host slice at once"] if slices else []
    paces += [f"{counted(it, 'node')} at a time" for it in sorted({it.at_a_time for it in pools if it not in slices})]
    hours = counted(draining_hours() * sum(-(-it.nodes // it.at_a_time) for it in pools), "hour")
    return f"{', other nodes '.join(paces)}; draining takes up to {hours}."


def _names(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, …, {names[-1]} ({len(names)} node pools)"


def _step(change: Change) -> str:
    return f"{_short(change.before)} → {_short(change.after)}"


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _short(value: object) -> str:
    """A value as one short text, such as `[{cidr: 10.0.0.0/20, name: office}]`."""
    text = "none" if value is None else json.dumps(_plain(value), ensure_ascii=False).replace('"', "")
    return text if len(text) <= 80 else f"{text[:79]}…"


def _plain(value: object) -> Any:
    """A value as the file has it."""
    return _ANY.dump_python(value, mode="json", by_alias=True, exclude_unset=True)
