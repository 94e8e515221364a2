"""The arguments of a component in a program: its cluster, values that are not outputs of resources, and mistakes."""

import functools
from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutine
from typing import Any, NotRequired, TypedDict, TypeVar, cast

import pulumi
from pydantic.alias_generators import to_camel

from tpuplane.spec.core.errors import Mistake, Path, SpecError, shown

_Init = TypeVar("_Init", bound=Callable[..., None])


class DescriptionError(SpecError, pulumi.RunError):
    """The arguments of a component have mistakes. The engine shows a `RunError` without a traceback."""


def in_plain_words(init: _Init) -> _Init:
    """Make the constructor of a component raise `DescriptionError` for `SpecError`, with its name in each line: one for
    each mistake of the arguments, before any resource is registered."""

    @functools.wraps(init)
    def checked(self: pulumi.ComponentResource, name: str, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, name, *args, **kwargs)
        except SpecError as error:
            named = error.located(lambda _: f"{type(self).__name__} {name}")
            raise DescriptionError(named.mistakes, named.unexplained) from None

    return cast("_Init", checked)


class ClusterRef(TypedDict):
    """The cluster of a node pool, from any program. A change replaces the pool, except a change to the version."""

    project: pulumi.Input[str]
    """Project of the cluster."""

    name: pulumi.Input[str]
    """Name of the cluster in Google Cloud."""

    location: str
    """Region or zone of the cluster's control plane. A plain value, because the pool's zone depends on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the service account of the nodes. Do not use the project's default service account."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Full resource name of the Cloud KMS key of the nodes' boot disks. Default: only Google's own encryption."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes). Pools that need a newer version are rejected. Default:
    not compared."""

    multi_networking: NotRequired[bool]
    """Whether pools can have `extra_networks`. With false, they are rejected. Default: not compared."""

    default_compute_class: NotRequired[bool]
    """Whether the class `default` is that of pods without a class. With false, a class of this name is rejected.
    Default: not compared."""


# Arguments whose value can be an output of a resource. Only plain values of them are checked.
_IDENTITIES = ("project", "name", "network", "subnetwork", "service_account", "secrets_key", "boot_disk_key")


def require(args: Mapping[str, Any], kind: type, at: Path = ()) -> None:
    """Reject missing and unknown arguments, by the TypedDict `kind`. Raises `SpecError`."""
    present = given(args)
    known, required = kind.__annotations__, getattr(kind, "__required_keys__", ())
    mistakes = [Mistake((*at, key), f"unknown field; allowed: {', '.join(known)}") for key in args if key not in known]
    mistakes += [Mistake((*at, key), f"required by {kind.__name__}") for key in required if key not in present]
    if mistakes:
        raise SpecError(mistakes)


def given(args: object) -> dict[str, Any]:
    """The arguments without None, which counts as omitted. Raises `SpecError` if they are not a mapping."""
    if not isinstance(args, Mapping):
        raise SpecError([Mistake((), f"{shown(args)} is not a mapping of names of arguments to plain values")])
    return {key: value for key, value in args.items() if value is not None}


def plain(args: Mapping[str, Any], at: Path = ()) -> dict[str, Any]:
    """The arguments to check: without None, which counts as omitted, and without outputs where these are allowed.

    Raises `SpecError` for coroutines, because several resources need the value.
    """
    once = "is a coroutine, whose value can be read only once; pass it in pulumi.Output.from_input(...)"
    if coroutines := [Mistake((*at, key), once) for key in _IDENTITIES if iscoroutine(args.get(key))]:
        raise SpecError(coroutines)
    outputs = {key for key, value in args.items() if isinstance(value, pulumi.Output | Awaitable)}
    return {key: value for key, value in given(args).items() if key not in outputs.intersection(_IDENTITIES)}


def in_cluster(args: Mapping[str, Any], **name: str) -> dict[str, Any]:
    """The description of a component in a cluster. `name` is the default of its name, in either spelling.

    Raises `SpecError` if the cluster is missing or incomplete.
    """
    present = given(args)
    default = {key: value for key, value in name.items() if to_camel(key) not in present}
    return {**default, **present, "cluster": plain(_required_cluster(present.get("cluster")), ("cluster",))}


def _required_cluster(cluster: object) -> dict[str, Any]:
    if not isinstance(cluster, Mapping):
        message = f"required: {', '.join(sorted(ClusterRef.__required_keys__))}"
        if isinstance(cluster, pulumi.Output | Awaitable):
            message = "is an output as a whole; pass a mapping, in which location is a plain value"
        elif isinstance(cluster, pulumi.Resource):
            message = "is the cluster itself; pass its ref"
        raise SpecError([Mistake(("cluster",), message)])
    described = {key: value for key, value in cluster.items() if key != "guard"}  # of `GuardedRef`
    require(described, ClusterRef, ("cluster",))
    return described
