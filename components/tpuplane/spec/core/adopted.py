"""Existing resources that a stack has adopted: their names, and the properties that stay as they are."""

from typing import Annotated

from tpuplane.spec.core.fields import Name, Spec, text

PropertyPath = Annotated[str, *text("property")]
"""A property of a resource, as in Pulumi's option `ignoreChanges`."""


class AdoptedSpec(Spec):
    """What `tpuplane import` notes of a resource that it did not create."""

    ignore_changes: tuple[PropertyPath, ...] = ()
    """Properties that stay as they are, as in Pulumi's option `ignoreChanges`, such as nodeConfig.oauthScopes. Default:
    none. A change to fewer properties can replace what had them."""


def kept(adopted: AdoptedSpec | None) -> tuple[str, ...]:
    """The properties that stay as they are; none of a resource that tpuplane creates."""
    return adopted.ignore_changes if adopted else ()


class AdoptedClusterSpec(AdoptedSpec):
    """A cluster that the stack has adopted. tpuplane creates no service account for its nodes: without
    `nodeServiceAccount`, new pools use the project's default one."""

    name: Name | None = None
    """Name of the cluster in Google Cloud. Default: `<platform>-<name>`. A change replaces the cluster."""


class AdoptedPoolSpec(AdoptedSpec):
    """Node pools that the stack has adopted."""

    names: tuple[Name, ...] = ()
    """Names of the GKE node pools, in the order of the slices. Default: the names that new node pools get. A change
    replaces the pool."""

    def named(self, own: str) -> str:
        """The name of the only node pool, given the one that a new one would get."""
        return self.names[0] if self.names else own
