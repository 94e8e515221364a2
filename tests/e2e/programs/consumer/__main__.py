"""Every component on its own, with a provider, a transform and aliases of the program's."""

from __future__ import annotations

from typing import Any, cast

import pulumi
import pulumi_gcp as gcp
from tpuplane import Cluster, ComputeClass, Network, Slice, TpuNodePool

GOOGLE = gcp.Provider("theirs", project="somebodys")
SUFFIX = "-renamed" if pulumi.Config().get_bool("renamed") else ""


def with_cost_centre(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Label the nodes of every pool, as a company's programs do."""
    if args.type_ != "gcp:container/nodePool:NodePool":
        return None
    node = cast(dict[str, Any], args.props["nodeConfig"])
    labels = {**node["resourceLabels"], "cost-centre": "42"}
    return pulumi.ResourceTransformResult({**args.props, "nodeConfig": {**node, "resourceLabels": labels}}, args.opts)


def options(former: str, *after: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options of a component that was once called `former`."""
    return pulumi.ResourceOptions(
        providers=[GOOGLE], depends_on=list(after), transforms=[with_cost_centre], aliases=[pulumi.Alias(name=former)]
    )


network = Network(
    f"shared{SUFFIX}",
    {"project": "somebodys", "network_name": "shared", "subnets": {"west": {"region": "us-west4"}}},
    options("shared"),
)
cluster = Cluster(
    f"trainers{SUFFIX}",
    {
        "project": "somebodys",
        "cluster_name": "trainers",
        "location": "us-west4-a",
        "network": network.network_id,
        "subnetwork": network.subnetwork_ids["shared-west"],
        "deletion_protection": False,
    },
    options("trainers", network),
)
shape = Slice.of("v5e", "2x2")
pool = TpuNodePool(
    f"trainer{SUFFIX}",
    {
        "cluster": cluster.ref,
        "pool_name": "trainer",
        "generation": shape.generation.name,
        "topology": shape.topology,
        "slices": 2,
    },
    options("trainer"),
)
ComputeClass(
    "spot-first",
    {
        "cluster": cluster.ref,
        "priorities": [
            {"tpu": {"type": "v5e", "topology": "2x2"}, "spot": True},
            {"tpu": {"type": "v5e", "topology": "2x2"}},
        ],
        "node_pool_auto_creation": {"enabled": True},
    },
    cluster.in_cluster(),
)
names: list[pulumi.Output[str]] = pool.pool_names
chips: int = pool.chips
pulumi.export("pools", names)
pulumi.export("chips", chips)
pulumi.export("cluster", cluster.name)
