"""The platform of the stack file."""

import pulumi
from tpuplane import Platform

platform = Platform("platform", pulumi.Config("tpuplane").require_object("platform"))
pulumi.export("nodePools", platform.node_pools)
