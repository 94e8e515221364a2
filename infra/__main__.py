"""The program: the stack's description in, the platform out.

Every stack runs these lines. What differs between a laptop and production is in the stack's file and in the
environment's credentials and endpoints, never here.
"""

from __future__ import annotations

import pulumi
from tpuplane import Platform, SpecError


def main() -> None:
    """Make the platform that the stack file describes under `tpuplane:platform`."""
    description = pulumi.Config("tpuplane").require_object("platform")
    try:
        platform = Platform("platform", description)
    except SpecError as error:
        # RunError is shown as it is, without a traceback: the words of `tpuplane check`.
        raise pulumi.RunError(str(error)) from None
    pulumi.export("clusters", platform.clusters)
    pulumi.export("nodePools", platform.node_pools)
    pulumi.export("gpuNodePools", platform.gpu_node_pools)
    pulumi.export("kubeconfigs", platform.kubeconfigs)


main()
