"""Existing resources that a stack has adopted: their names, and the properties that stay as they are."""

from typing import Annotated

from pydantic import Field

from tpuplane.spec.core.changes import Change, ReplacesCluster, ReplacesPool, T
from tpuplane.spec.core.fields import Name, Spec, Zone, text

PropertyPath = Annotated[str, *text("property")]
"""A property of a resource, as in Pulumi's option `ignoreChanges`."""


AdoptedNames = Annotated[T, Change(judge="pool_names", source="adopted")]


class AdoptedSpec(Spec):
    """The notes of `tpuplane import` about a resource that tpuplane did not create."""

    ignore_changes: Annotated[tuple[PropertyPath, ...], Change(judge="kept", source="adopted")] = ()
    """Properties that stay as they are, as in Pulumi's option `ignoreChanges`, such as nodeConfig.oauthScopes. Default:
    none."""


def kept(adopted: AdoptedSpec | None) -> tuple[str, ...]:
    """The properties that stay as they are; none of a resource that tpuplane creates."""
    return adopted.ignore_changes if adopted else ()


def is_part(name: str, other: str) -> bool:
    """Whether a property is another one, or a part of it."""
    return f"{name}.".startswith(f"{other}.")


def overlap(name: str, other: str) -> bool:
    """Whether one of two properties is the other one, or a part of it."""
    return is_part(name, other) or is_part(other, name)


def keeps(adopted: AdoptedSpec | None, name: str) -> bool:
    """Whether a property stays as it is, by itself or with another one that contains it."""
    return any(is_part(name, own) for own in kept(adopted))


class AdoptedClusterSpec(AdoptedSpec):
    """A cluster that the stack has adopted. tpuplane creates no service account for its nodes: without
    `nodeServiceAccount`, new pools use the project's default one."""

    name: ReplacesCluster[Name | None] = None
    """Name of the cluster in Google Cloud. Default: `<platform>-<name>`."""


class AdoptedPoolSpec(AdoptedSpec):
    """Node pools that the stack has adopted."""

    names: ReplacesPool[tuple[Name, ...]] = ()
    """Names of the GKE node pools, in the order of the slices. Default: the names that new node pools get."""


def named(adopted: AdoptedPoolSpec | None, new: str) -> str:
    """The name of the only node pool. `new` is the name of one that is not adopted."""
    return adopted.names[0] if adopted and adopted.names else new


class AdoptedSystemPoolSpec(AdoptedPoolSpec):
    """A CPU node pool that the stack has adopted."""

    names: ReplacesPool[Annotated[tuple[Name, ...], Field(max_length=1)]] = ()
    """Name of the GKE node pool. Default: the name that a new node pool gets."""

    zones: Annotated[tuple[Zone, ...], Change(judge="zones", source="resize")] = ()
    """Zones of its nodes. Default: those of a new pool."""
