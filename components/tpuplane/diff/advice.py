"""How a user loses no work or node pool by a change: the steps, for each pool whose node pools it would delete."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from tpuplane.data_files import read_data
from tpuplane.diff.compare import value_at, with_value
from tpuplane.diff.node_pools import WHOLE, NodePoolChange, Platform, pools_at, unnamed
from tpuplane.spec import PlatformSpec
from tpuplane.spec.checks import check
from tpuplane.spec.core.errors import Path

_ROOM = ("quota", "reservation-size", "cube-sub-block", "pool-nodes", "cluster-nodes")
_RANGES = ("nodesCidr", "podsCidr")
"""Rules of room, and the fields of address ranges that can be too small."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The steps of a user, instead of `pulumi up` or before it."""

    path: Path
    """The pool."""
    steps: str


def advice(
    changes: Collection[tuple[Path, str, Iterable[NodePoolChange]]], before: Platform, after: PlatformSpec
) -> Iterator[Advice]:
    """The steps for each former pool of TPUs or GPUs that loses node pools by changes of its own.

    A pool of a cluster that is replaced has none. `changes` are paths with their classes and node pools,
    those first that interrupt most.
    """
    reached: dict[tuple[Path, str], dict[str, str]] = {}
    whole = [path[:2] for path, kind, _ in changes if kind in WHOLE]
    for path, _, node_pools in changes:
        replaced = any(path[: len(above)] == above or above[0] != "clusters" for above in whole)
        if len(path) > 3 and path[2] in ("pools", "gpuPools") and not replaced:
            key = str(path[3])
            former = before.renames.get((path[1], key), key) if len(path) > 4 else key
            own = reached.setdefault((path[:4], former), {})
            own |= {each.name: each.done for each in node_pools if each.name not in own}
    for (path, former), done in reached.items():
        if gone := sorted(name for name in done if done[name] in ("deleted", "replaced")):
            fewer = set(done.values()) == {"deleted"}
            steps = _steps(path, former, f"`tpuplane drain {' '.join(gone)}`", before, after, fewer=fewer)
            pools = pools_at(path[:2], before).values()
            cubes = any(pool.name in gone and pool.dynamic_slicing for pool in pools)
            yield Advice(path, f"{steps} {read_data('tpuplane.diff', 'slice_controller')['cubes']}" if cubes else steps)


def _steps(path: Path, key: str, drain: str, before: Platform, after: PlatformSpec, *, fewer: bool) -> str:
    """The steps. `key` is that of the former pool, `drain` the command, `fewer` whether there is no new node pool."""
    above, name = path[:3], path[3]
    others, later = value_at(before.spec, above), value_at(after, above)
    if name not in later:
        former = others[key]
        for other, pool in later.items():
            if other not in others and unnamed(pool) == unnamed(former):
                return (
                    f"GKE cannot rename node pools. To keep them under the new key, add "
                    f"`formerly: {former.formerly or key}` to {other}."
                )
    first = f"To let running work end first, run {drain} before `pulumi up`."
    if fewer:
        return first
    other = f"{key}-next" if name in others else name
    # The former pool next to the new one: its name does not matter.
    kept = others[key].model_copy(update={"formerly": None, "adopted": None})
    mistakes = check(with_value(after, (*above, other), kept))
    if full := next((mistake for mistake in mistakes if mistake.rule in _ROOM or mistake.path[-1] in _RANGES), None):
        return f"There is no room for both the former and the new node pools: {full}. {first}"
    return (
        f"To create the new node pools before the former ones are deleted: 1. Keep {key}, add the new pool "
        f"under another key, such as {other}, with its quotas of teams, and run `pulumi up`. 2. Run {drain}. "
        f"3. Remove {key} with its quotas, and run `pulumi up`."
    )
