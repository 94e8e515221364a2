"""What every kind of node pool and every object must know of the cluster that it is made in."""

from typing import NotRequired, TypedDict

import pulumi


class ClusterRef(TypedDict):
    """A cluster, whoever made it, as a node pool must know it. Every change but the version replaces the pool."""

    project: pulumi.Input[str]
    """Project of the cluster."""

    name: pulumi.Input[str]
    """Name of the cluster in Google Cloud."""

    location: str
    """Region or zone of the cluster's control plane. A plain value: the pool's zone hangs on it."""

    service_account: pulumi.Input[str]
    """E-mail address of the account that the nodes run as. It must not be the project's default account."""

    boot_disk_key: NotRequired[pulumi.Input[str]]
    """Cloud KMS key of the nodes' boot disks, its full resource name. Default: Google's own keys."""

    version: NotRequired[str]
    """GKE version of the cluster, such as "1.34" (in quotes): pools that need a newer one are refused. Default: not
    compared."""
