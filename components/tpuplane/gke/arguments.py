"""The arguments of a component that a program makes: what describes it, apart from what the engine may fill in."""

from collections.abc import Mapping
from typing import Any, cast

from tpuplane.gke.cluster_ref import ClusterRef
from tpuplane.spec import Mistake, SpecError


def require(args: Mapping[str, Any], kind: type) -> None:
    """Refuse arguments that are missing from, or foreign to, the TypedDict `kind`. Raises `SpecError`."""
    known, required = kind.__annotations__, getattr(kind, "__required_keys__", ())
    mistakes = [Mistake((key,), f"unknown field; allowed: {', '.join(known)}") for key in args if key not in known]
    mistakes += [Mistake((key,), f"required by {kind.__name__}") for key in required if key not in args]
    if mistakes:
        raise SpecError(mistakes)


def in_cluster(args: Mapping[str, Any], **name: str) -> dict[str, Any]:
    """The description of what is added to a cluster. `name` is its own where the arguments have none.

    None is how a program leaves an argument out. Raises `SpecError` where the cluster is missing or incomplete.
    """
    cluster = _required_cluster(args)
    facts: dict[str, object] = {key: cluster[key] for key in ("name", "project") if isinstance(cluster[key], str)}
    facts["location"] = cluster["location"]
    if cluster.get("version") is not None:
        facts["version"] = cluster["version"]
    return {**name, **{key: value for key, value in args.items() if value is not None}, "cluster": facts}


def _required_cluster(args: Mapping[str, Any]) -> ClusterRef:
    if not isinstance(cluster := args.get("cluster"), Mapping):
        raise SpecError([Mistake(("cluster",), f"required: {', '.join(sorted(ClusterRef.__required_keys__))}")])
    missing = [key for key in sorted(ClusterRef.__required_keys__) if key not in cluster]
    if missing:
        raise SpecError(Mistake(("cluster", key), "required: see ClusterRef") for key in missing)
    return cast(ClusterRef, cluster)
