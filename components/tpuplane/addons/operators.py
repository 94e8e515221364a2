"""The operators of one cluster, each after the operators that it needs."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi

from tpuplane.addons.operator import Operator, OperatorArgs
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.kubernetes_access import kubernetes_provider
from tpuplane.plan.cluster import ClusterPlan


class AddonsArgs(TypedDict):
    """Arguments of `Addons`."""

    cluster: AnyCluster
    """The cluster of the operators, which are deleted with it."""

    plan: ClusterPlan
    """The plan of the cluster, with its add-ons in the order of their installation."""

    after: NotRequired[Sequence[pulumi.Resource]]
    """Resources that must exist before: nodes to run on."""

    chart_mirror: NotRequired[str]
    """Source of charts. Default: the variable TPUPLANE_CHART_MIRROR, else their publishers."""


class Addons(pulumi.ComponentResource):
    """The operators that the platform installs in a cluster. They are removed in the reverse of their order."""

    operators: Mapping[str, Operator]
    """Operators by their key in the user's file, and rayTpuWebhook, which is part of ray."""

    def __init__(self, name: str, args: AddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:Addons", name, {}, opts)
        cluster, operators = args["cluster"], dict[str, Operator]()
        adopting = kubernetes_provider(name, cluster.identifier, cluster.kubeconfig, parent=self, adopting=True)
        for plan in args["plan"].addons:
            arguments: OperatorArgs = {
                "cluster": cluster,
                "plan": plan,
                "adopting": adopting,
                "after": [*args.get("after", ()), *(operators[key].ready for key in plan.after)],
            }
            if "chart_mirror" in args:
                arguments["chart_mirror"] = args["chart_mirror"]
            operators[plan.key] = Operator(f"{name}-{plan.key}", arguments, pulumi.ResourceOptions(parent=self))
        self.operators = operators
        self.register_outputs({})
