"""The arguments of a component that a program makes: its cluster, and the part that is not a resource's output."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

import pulumi

from tpuplane.spec import Mistake, SpecError


class ClusterRef(TypedDict):
    """A cluster as a node pool must know it, made by any program. Every change but the version replaces the pool."""

    project: pulumi.Input[str]
    """Project of the cluster."""

    name: pulumi.Input[str]
    """Name of the cluster in Google Cloud."""

    location: str
    """Region or zone of the cluster's control plane. A plain value: the pool's zone depends on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the account that the nodes run as. It must not be the project's default account."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key of the nodes' boot disks, its full resource name. Default: Google's own keys."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes): pools that need a newer one are rejected. Default: not
    compared."""


def require(args: Mapping[str, Any], kind: type) -> None:
    """Reject arguments that are missing from, or foreign to, the TypedDict `kind`. Raises `SpecError`."""
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
