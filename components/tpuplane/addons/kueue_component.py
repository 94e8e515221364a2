"""The base of components with Kueue's objects."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons.kueue_objects import API_VERSION
from tpuplane.gke.existing_cluster import AnyCluster


class KueueComponent(pulumi.ComponentResource):
    """Kueue's objects in one cluster, each after the objects that it refers to."""

    def __init__(self, kind: str, name: str, cluster: AnyCluster, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__(f"tpuplane:index:{kind}", name, {}, opts)
        self._name, self._cluster = name, cluster

    def _object(
        self, kind: str, called: str, spec: Mapping[str, Any], after: Sequence[pulumi.Resource]
    ) -> kubernetes.apiextensions.CustomResource:
        return kubernetes.apiextensions.CustomResource(
            f"{self._name}-{kind.lower()}-{called}",
            api_version=API_VERSION,
            kind=kind,
            metadata={"name": called},
            spec=spec,
            opts=self._after(after),
        )

    def _after(self, resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(
            self._cluster.in_cluster(), pulumi.ResourceOptions(parent=self, depends_on=list(resources))
        )
