"""A program with its own cluster, without tpuplane. The last lines add TPU slices to the cluster."""

import pulumi
import pulumi_gcp as gcp
from their_cluster import make_cluster
from tpuplane import ClusterRef, TpuNodePool

project = pulumi.Config().require("project")
# The program's provider. It also creates every Google resource of the components.
google = gcp.Provider("google", project=project)
theirs = make_cluster(project, "us-central1", pulumi.ResourceOptions(provider=google))

cluster: ClusterRef = {
    "project": project,
    "name": theirs.cluster.name,
    "location": "us-central1",
    "service_account": theirs.nodes.email,
    "version": "1.35",
}
options = pulumi.ResourceOptions(providers=[google], depends_on=theirs.roles)
trainer = TpuNodePool("trainer", {"cluster": cluster, "generation": "v6e", "topology": "4x4", "slices": 2}, options)
evals = TpuNodePool(
    "evals",
    {
        "cluster": cluster,
        "generation": "v5e",
        "topology": "2x2",
        "zone": "us-central1-a",
        "capacity": "spot",
        "autoscaling": {"max_slices": 4},
        "node_labels": {"acme.example/team": "evals"},
    },
    options,
)

pulumi.export("cluster", theirs.cluster.name)
pulumi.export("nodePools", [*trainer.pool_names, *evals.pool_names])
pulumi.export("chips", trainer.chips + evals.chips)
