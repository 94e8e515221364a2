"""The output of `tpuplane diff`: in a terminal, as Markdown for a comment, and as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from tpuplane.cli.render import code, markdown_rows
from tpuplane.cost import PlatformCost
from tpuplane.diff import Change, Diff, NodePoolChange, Opening, citation, classes
from tpuplane.plan import PlatformPlan
from tpuplane.quantities import counted
from tpuplane.spec.core.errors import dotted
from tpuplane.spec.core.rules import spec_data

Costs = tuple[PlatformCost, PlatformCost]
"""Before and after."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def diff_as_text(found: Diff, costs: Costs) -> Iterator[str]:
    """A line for each change, by class, with its node pools; then the changes that open or close access."""
    yield _summary(found, costs)
    for kind, changes in groupby(found.changes, key=lambda change: change.kind):
        yield f"\n{kind}: {classes()[kind]}"
        for change in changes:
            yield f"  {dotted(change.path)}: {_step(change)}"
            yield f"    {' '.join([change.why, *_reached(change)])} [{change.source}]"
    for title, _, rows in _sections(found):
        yield f"\n{title}"
        yield from (f"  {': '.join(row)}" for row in rows)
    if found.changes:
        yield ""
    yield from (f"[{source}] {citation(source)}" for source in dict.fromkeys(change.source for change in found.changes))


def diff_as_markdown(found: Diff, costs: Costs) -> Iterator[str]:
    """The same as tables."""
    yield f"### {_summary(found, costs)}\n"
    if found.changes:
        rows = (
            (code(dotted(change.path)), code(_step(change)), change.kind, " ".join([change.why, *_reached(change)]))
            for change in found.changes
        )
        yield from markdown_rows(("field", "change", "class", "what happens"), rows)
    for title, columns, cells in _sections(found):
        yield ""
        yield from markdown_rows((title, *columns), ((*map(code, values), text) for *values, text in cells))


def _sections(found: Diff) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """What follows the changes: titles, names of columns after the path, and rows, which end with a sentence."""
    for mark, openings in found.marks.items():
        yield mark, ("to", "why"), [(dotted(own.path), _short(own.value), own.why) for own in openings]
    if found.rejected:
        yield "rejected", ("why",), [(dotted(own.path), str(own)) for own in found.rejected]
    if found.advice:
        yield "without the loss of work", ("steps",), [(dotted(own.path), own.steps) for own in found.advice]


def diff_as_json(found: Diff, costs: Costs) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "ok": True,
        "before": _side(found.before.plan, costs[0]),
        "after": _side(found.after.plan, costs[1]),
        "changes": [
            {
                "path": dotted(change.path),
                "before": _plain(change.before),
                "after": _plain(change.after),
                "class": change.kind,
                "why": change.why,
                "source": citation(change.source),
                "nodePools": [_camel(asdict(pool)) for pool in change.node_pools],
                "claims": [asdict(claim) for claim in change.claims],
                "heldBy": change.held_by,
            }
            for change in found.changes
        ],
        "opens": [_opening(opening) for opening in found.opens],
        "closes": [_opening(opening) for opening in found.closes],
        "rejected": [
            _camel(_ANY.dump_python({**asdict(rejection), "path": dotted(rejection.path)}, mode="json"))
            for rejection in found.rejected
        ],
        "advice": [{"path": dotted(advice.path), "steps": advice.steps} for advice in found.advice],
    }


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    return {to_camel(name): value for name, value in fields.items()}


def _opening(opening: Opening) -> dict[str, Any]:
    return {"path": dotted(opening.path), "value": _plain(opening.value), "why": opening.why}


def _side(platform: PlatformPlan, cost: PlatformCost) -> dict[str, Any]:
    usd = cost.total.max
    per_hour = round(usd.usd_per_hour, 2) if usd.known else None
    sums = {"chips": platform.chips, "gpus": platform.gpus, "usdPerHour": per_hour}
    return {"name": platform.name, **sums, "missing": list(usd.missing)}


def _summary(found: Diff, costs: Costs) -> str:
    old, new = (_side(side.plan, cost) for side, cost in zip((found.before, found.after), costs, strict=True))

    def step(key: str, form: str = ",") -> str:
        before, after = ("?" if side[key] is None else f"{side[key]:{form}}" for side in (old, new))
        return before if before == after else f"{before} → {after}"

    def units(key: str, unit: str) -> str:
        return f"{step(key)} {unit}{'' if step(key) == '1' else 's'}"

    gpus = f", {units('gpus', 'GPU')}" if old["gpus"] or new["gpus"] else ""
    missing = f"; without a price: {', '.join(new['missing'])}" if new["missing"] else ""
    usd = f"{step('usdPerHour', ',.2f')} USD an hour at full scale{missing}"
    return f"{step('name', '')}: {units('chips', 'chip')}{gpus}, {usd}" + ("" if found.changes else "\n\nNo changes.")


def _reached(change: Change) -> Iterator[str]:
    """The effects on namespaces, node pools and claims: one sentence for each kind of effect."""
    if change.held_by is not None:
        namespaces = ", ".join(dict.fromkeys(name for _, name in change.namespaces))
        named = _names([*change.held_by], "jobs") or "none"
        yield f"Jobs now in {namespaces}, of queues or with chips or GPUs: {named}."
    for (cluster, effect), claims in groupby(change.claims, key=lambda claim: (claim.cluster, claim.done)):
        own = _names([f"{claim.namespace}/{claim.claim}" for claim in claims], "claims")
        yield (
            f"{effect.capitalize()} in {cluster}, each with its PersistentVolume: {own}. End the pods that mount them "
            "first: Kubernetes deletes a claim only after the last pod that uses it, and the update waits until then."
        )
    for (cluster, done), group in groupby(change.node_pools, key=lambda pool: (pool.cluster, pool.done)):
        pools = list(group)
        nodes, names = sum(pool.nodes for pool in pools), _names([pool.name for pool in pools])
        units = {"chip": sum(pool.chips for pool in pools), "GPU": sum(pool.gpus for pool in pools)}
        sums = [counted(total, unit) for unit, total in units.items() if total]
        if done == "resized":
            noun = "node" if nodes == 1 else "nodes"
            chosen = f"; GKE chooses the {noun}" if any(pool.chosen for pool in pools) else ""
            every = counted(sum(pool.of_nodes for pool in pools), "node")
            yield f"Deleted in {cluster}: {nodes:,} of {every} of {names} ({', '.join(sums)}){chosen}."
        else:
            yield f"{done.capitalize()} in {cluster}: {names} ({', '.join([counted(nodes, 'node'), *sums])})."
        if done == "rolled":
            yield _pace(pools)
        if any(pool.held_by is not None for pool in pools):
            jobs = sorted({job for pool in pools for job in pool.held_by or ()})
            yield f"Jobs there now: {_names(jobs, 'jobs') or 'none'}."


def _pace(pools: list[NodePoolChange]) -> str:
    """The number of nodes that GKE recreates at a time, and the longest time to drain them."""
    slices = [pool for pool in pools if 1 < pool.at_a_time == pool.nodes]
    paces = ["All hosts of a multi-host slice at once"] if slices else []
    others = sorted({pool.at_a_time for pool in pools if pool not in slices})
    paces += [f"{counted(number, 'node')} at a time" for number in others]
    steps = sum(-(-pool.nodes // pool.at_a_time) for pool in pools)
    hours = counted(spec_data("changes")["draining_hours"] * steps, "hour")
    return f"{', other nodes '.join(paces)}; draining takes up to {hours}."


def _names(names: list[str], noun: str = "node pools") -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, …, {names[-1]} ({len(names)} {noun})"


def _step(change: Change) -> str:
    """Both values, or of a long list only the items that one side has."""
    old, new = change.before, change.after
    step = f"{_short(old)} → {_short(new)}"
    if isinstance(old, tuple) and isinstance(new, tuple) and "…" in step:
        words = (("adds", new, old), ("removes", old, new))
        missing = ((verb, [item for item in items if item not in others]) for verb, items, others in words)
        return "; ".join(f"{verb} {_short(items)}" for verb, items in missing if items) or step
    return step


def _short(value: object) -> str:
    """A value as one short text, such as `[{cidr: 10.0.0.0/20, name: office}]`."""
    text = "none" if value is None else json.dumps(_plain(value), ensure_ascii=False).replace('"', "")
    if not text.isprintable():  # such as a mark that reverses the rest of the line
        text = json.dumps(text)[1:-1]
    return text if len(text) <= 80 else f"{text[:79]}…"


def _plain(value: object) -> Any:
    """A value in the form of the file."""
    return _ANY.dump_python(value, mode="json", by_alias=True, exclude_unset=True)
