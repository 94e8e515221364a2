"""The arguments of a component, told apart: its own, and those that a platform's description has as well."""

from collections.abc import Mapping
from typing import Any, cast

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.spec import Mistake, SpecError


def others(args: Mapping[str, Any], *own: str) -> dict[str, Any]:
    """The arguments without those called `own`, and without None, which is how a program leaves one out."""
    return {key: value for key, value in args.items() if key not in own and value is not None}


def require(args: Mapping[str, Any], kind: type) -> None:
    """Refuse arguments that are missing from, or foreign to, the TypedDict `kind`. Raises `SpecError`."""
    known, required = kind.__annotations__, getattr(kind, "__required_keys__", ())
    mistakes = [Mistake((key,), f"unknown field; allowed: {', '.join(known)}") for key in args if key not in known]
    mistakes += [Mistake((key,), f"required by {kind.__name__}") for key in required if key not in args]
    if mistakes:
        raise SpecError(mistakes)


def require_cluster(args: Mapping[str, Any]) -> ClusterRef:
    """The cluster that the arguments name. Raises `SpecError` where it is missing or incomplete."""
    if not isinstance(cluster := args.get("cluster"), Mapping):
        raise SpecError([Mistake(("cluster",), f"required: {', '.join(sorted(ClusterRef.__required_keys__))}")])
    missing = [key for key in sorted(ClusterRef.__required_keys__) if key not in cluster]
    if missing:
        raise SpecError(Mistake(("cluster", key), "required: see ClusterRef") for key in missing)
    return cast(ClusterRef, cluster)
