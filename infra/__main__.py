"""The program: the stack's description in, the platform out.

Every stack runs these lines. What differs between a laptop and production is in the stack's file and in the
environment's credentials and endpoints, never here.
"""

from __future__ import annotations

import pulumi
from tpuplane import Platform


def main() -> None:
    """Make the platform that the stack file describes under `tpuplane:platform`."""
    description = pulumi.Config("tpuplane").require_object("platform")
    platform = Platform("platform", description)
    pulumi.export("clusters", platform.clusters)
    pulumi.export("nodePools", platform.node_pools)
    pulumi.export("gpuNodePools", platform.gpu_node_pools)
    pulumi.export("kubeconfigs", platform.kubeconfigs)


main()
