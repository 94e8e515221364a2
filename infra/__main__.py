"""The program of every stack: it creates the platform of the stack file.

Stacks differ only in their stack files, and in the credentials and endpoints of the environment.
"""

import pulumi
from tpuplane import Platform


def main() -> None:
    """Create the platform that the stack file describes under `tpuplane:platform`."""
    description = pulumi.Config("tpuplane").require_object("platform")
    platform = Platform("platform", description)
    pulumi.export("clusters", platform.clusters)
    pulumi.export("nodePools", platform.node_pools)
    pulumi.export("gpuNodePools", platform.gpu_node_pools)
    pulumi.export("kubeconfigs", platform.kubeconfigs)


main()
