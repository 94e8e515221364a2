"""The rules of node pools: `data/pool_rules.yaml` lists them with their sources, and describes its conditions."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

from tpuplane_twin.gcp.container.pool_context import PoolContext
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class _Messages(Formatter):
    """Messages with values of `pool`; lists with commas."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else format(value, format_spec)


def rejection(rule: Json, context: PoolContext) -> str | None:
    """GKE's message if the pool breaks a rule of the file, else None."""
    for case in rule.get("cases", [rule]):
        if any(all(_holds(context, *item) for item in conditions.items()) for conditions in case["when"]):
            return _Messages().format(case["message"], pool=context)
    return None


def value_at(found: Any, path: str) -> Any:
    """The value at a dotted path of attributes and keys; None below what does not exist."""
    for name in path.split("."):
        if found is not None:
            found = found.get(name) if isinstance(found, Mapping) else getattr(found, name)
    return found


def check(context: PoolContext) -> None:
    """Reject a pool that breaks a rule."""
    for rule in data("pool_rules")["rules"]:
        message = rejection(rule, context)
        if message is not None:
            raise invalid(message)


def rejected_by_compute_engine(store: Store, cluster: str, pool: Json) -> str | None:
    """The error of the pool's operation, None if Compute Engine accepts the pool."""
    context = PoolContext.of(store, cluster, pool)
    return next(filter(None, (rejection(rule, context) for rule in data("pool_rules")["late_rules"])), None)


def check_size(context: PoolContext, nodes: int) -> None:
    """Reject another size of a slice: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/tpus."""
    if context.multi_host and nodes != context.nodes_per_zone:
        raise invalid(
            f'Node pool "{context.name}" is a multi-host TPU slice with topology {context.topology}:'
            " it cannot be resized. Create a node pool with the new topology instead."
        )


def check_machine(before: PoolContext, after: PoolContext) -> None:
    """Reject a machine type without TPUs for a pool of TPUs with a topology."""
    if before.tpu is not None and after.tpu is None and after.topology:
        raise invalid(
            f'Invalid TPU topology "{after.topology}" for machine type "{after.machine_type}": the machine type has no'
            " TPUs."
        )


def _holds(context: PoolContext, path: str, condition: Any) -> bool:
    found = value_at(context, path)
    tests = condition if isinstance(condition, dict) else {"is": condition}
    return all(_compare(name, found, _value(context, value)) for name, value in tests.items())


def _compare(test: str, found: Any, value: Any) -> bool:
    if test in ("below", "above"):
        if found is None or value is None:
            return False
        return bool(found < value if test == "below" else found > value)
    if isinstance(value, bool):
        equal = bool(found) is value
    else:
        equal = found in value if isinstance(value, tuple | Mapping) else found == value
    return {"is": equal, "not": not equal}[test]


def _value(context: PoolContext, value: Any) -> Any:
    """A value of a condition: as it is written, or that of the pool which `pool.…` names."""
    return value_at(context, value.removeprefix("pool.")) if str(value).startswith("pool.") else value
