"""The program of every stack: it creates the platform of the stack file. Add resources of your own below."""

import pulumi
from tpuplane import Platform

platform = Platform("platform", pulumi.Config("tpuplane").require_object("platform"))
pulumi.export("clusters", platform.clusters)
pulumi.export("nodePools", platform.node_pools)
pulumi.export("kubeconfigs", platform.kubeconfigs)
