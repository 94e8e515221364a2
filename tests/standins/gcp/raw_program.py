"""A program without tpuplane: a VPC, a cluster, a CPU pool and three TPU slices."""

import pulumi_gcp as gcp

PROJECT, REGION = "acme-ml", "us-east5"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]

network = gcp.compute.Network("vpc", name="ml-vpc", auto_create_subnetworks=False, project=PROJECT)
subnetwork = gcp.compute.Subnetwork(
    "sub",
    name="ml-sub",
    region=REGION,
    network=network.id,
    ip_cidr_range="10.10.0.0/20",
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.20.0.0/16"},
        {"range_name": "services", "ip_cidr_range": "10.30.0.0/20"},
    ],
    project=PROJECT,
)
account = gcp.serviceaccount.Account("nodes", account_id="ml-nodes", project=PROJECT)
cluster = gcp.container.Cluster(
    "ml",
    name="ml",
    location=REGION,
    network=network.id,
    subnetwork=subnetwork.id,
    remove_default_node_pool=True,
    initial_node_count=1,
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    maintenance_policy={"daily_maintenance_window": {"start_time": "03:00"}},
    cluster_autoscaling={
        "enabled": True,
        "resource_limits": [{"resource_type": "cpu", "maximum": 100}, {"resource_type": "memory", "maximum": 400}],
    },
    project=PROJECT,
)
gcp.container.NodePool(
    "cpu",
    name="cpu",
    cluster=cluster.name,
    location=REGION,
    node_count=1,
    node_config={"machine_type": "n2-standard-8", "service_account": account.email, "oauth_scopes": SCOPES},
    project=PROJECT,
)
for index in range(3):
    gcp.container.NodePool(
        f"slice-{index}",
        name=f"slice-{index}",
        cluster=cluster.name,
        location=REGION,
        node_locations=["us-east5-a"],
        node_count=4,
        placement_policy={"type": "COMPACT", "tpu_topology": "4x4"},
        node_config={
            "machine_type": "ct6e-standard-4t",
            "spot": True,
            "service_account": account.email,
            "oauth_scopes": SCOPES,
            "labels": {"team": "ml"},
            "taints": [{"key": "dedicated", "value": "ml", "effect": "NO_SCHEDULE"}],
        },
        project=PROJECT,
    )
