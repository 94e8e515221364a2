"""Every component that a program can use alone."""

from __future__ import annotations

import pulumi
from tpuplane import Cluster, ClusterRef, Network, SystemNodePool, TpuNodePool

ACCOUNT = "nodes@acme-ml.iam.gserviceaccount.com"
REF: ClusterRef = {"project": "acme-ml", "name": "theirs", "location": "us-central1", "service_account": ACCOUNT}


def everything(opts: pulumi.ResourceOptions | None = None) -> None:
    """Every part once, on top of each other."""
    network = Network("shared", {"project": "acme-ml", "subnets": {"east": {"region": "us-east5"}}}, opts)
    cluster = Cluster(
        "trainers",
        {
            "project": "acme-ml",
            "network": network.network_id,
            "subnetwork": network.subnetwork_ids["shared-east"],
            "location": "us-east5",
            "release_channel": "RAPID",
            "labels": {"team": "research"},
        },
        opts,
    )
    SystemNodePool("extra", {"cluster": cluster.ref, "min_nodes": 2, "labels": {"team": "research"}}, opts)
    TpuNodePool("trainer", {"cluster": cluster.ref, "generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}, opts)
