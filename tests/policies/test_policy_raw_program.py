"""The pack under the real engine, on programs that use no component of ours, and on the project's own production."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.pulumi_program import Program

pytestmark = pytest.mark.twin

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"

RAW = """
import json, pulumi, pulumi_gcp as gcp, pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource

props = json.loads(pulumi.Config().require("props"))
net = gcp.compute.Network("net", auto_create_subnetworks=False)
gcp.compute.Subnetwork("sub", network=net.id, region="us-central1", ip_cidr_range="10.0.0.0/20", **props["subnetwork"])
cluster = gcp.container.Cluster("raw", location="us-central1", network=net.id, **props["cluster"])
gcp.container.NodePool("slice", cluster=cluster.name, location="us-central1", **props["pool"])
provider = k8s.Provider("k8s", kubeconfig=cluster.endpoint, cluster_identifier="raw")
opts = pulumi.ResourceOptions(provider=provider)
k8s.apps.v1.Deployment("typed", metadata={"namespace": "research"}, opts=opts, spec={
    "selector": {"match_labels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": props["pod"]},
})
jobs = [{"name": "w", "template": {"spec": {"parallelism": 4, "template": {"spec": props["pod"]}}}}]
labels = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
flavor = {"nodeLabels": labels, "topologyName": "gke"}
for name, api_version, kind, metadata, spec in (
    ("custom", "jobset.x-k8s.io/v1alpha2", "JobSet", {"namespace": "default"}, {"replicatedJobs": jobs}),
    ("queue", "kueue.x-k8s.io/v1beta2", "ClusterQueue", {"name": "q"}, props["queue"]),
    ("flavor", "kueue.x-k8s.io/v1beta2", "ResourceFlavor", {"name": "v6e"}, flavor),
):
    CustomResource(name, api_version=api_version, kind=kind, metadata=metadata, spec=spec, opts=opts)
"""

PROPS: dict[str, Any] = {
    "subnetwork": {"private_ip_google_access": False},
    "cluster": {
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        "enable_shielded_nodes": False,
        "private_cluster_config": {"enable_private_nodes": True, "enable_private_endpoint": False},
        "master_authorized_networks_config": {"cidr_blocks": [{"cidr_block": "0.0.0.0/0"}]},
    },
    "pool": {
        "node_locations": ["us-central1-b"],
        "node_count": 3,
        "placement_policy": {"type": "COMPACT", "tpu_topology": "4x4"},
        "node_config": {
            "machine_type": "ct6e-standard-4t",
            "service_account": "default",
            "shielded_instance_config": {"enable_secure_boot": True},
        },
    },
    "pod": {
        "containers": [
            {
                "name": "a",
                "image": "app:latest",
                "resources": {"limits": {"google.com/tpu": "4"}},
                "securityContext": {"privileged": True},
            }
        ]
    },
    "queue": {
        "namespaceSelector": {"matchLabels": {"team": "a"}},
        "resourceGroups": [
            {
                "coveredResources": ["google.com/tpu"],
                "flavors": [{"name": "v6e", "resources": [{"name": "google.com/tpu", "nominalQuota": 64}]}],
            }
        ],
    },
}


@pytest.fixture(scope="module")
def raw(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("raw")
    made = Program(folder, variables)
    made.describe(toolchain="uv", virtualenv=sys.prefix)
    made.write(RAW)
    made.output("stack", "init", "raw")
    made.output("config", "set", "gcp:project", "acme")
    made.output("config", "set", "props", json.dumps(PROPS))
    return made


@pytest.fixture(scope="module")
def prod(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("prod")
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    for name in ("infra", "stacks"):
        shutil.copytree(ROOT / name, folder / name)
    made = Program(folder, variables)
    made.output("stack", "init", "prod")
    return made


def preview(stack: Program, config: dict[str, Any] | Path, *, fails: bool) -> str:
    path = config if isinstance(config, Path) else stack.folder / "policies.json"
    if isinstance(config, dict):
        path.write_text(json.dumps(config))
    return stack.output("preview", "--diff", "--policy-pack", str(PACK), "--policy-pack-config", str(path), fails=fails)


def plainly(said: str) -> str:
    """The findings, each after its rule and its resource."""
    return re.sub(r"(\w+)  \(\S+: ([^\s)]+)\)\s+", r"\1 \2 ", said)


def test_resources_of_anyone_are_judged(raw: Program) -> None:
    said = preview(raw, {}, fails=True)
    for finding in (
        "GKE002 raw privateClusterConfig.enablePrivateEndpoint is false",
        "GKE003 raw masterAuthorizedNetworksConfig.cidrBlocks[0].cidrBlock is '0.0.0.0/0'",
        "GKE005 slice nodeConfig.serviceAccount is 'default'",
        "TPU003 slice nodeCount is 3: a v6e 4x4 slice has 4 hosts. Remedy: set nodeCount",
        "K8S001 typed spec.template.spec.containers[0].securityContext.privileged is true",
        "K8S001 custom spec.replicatedJobs[0].template.spec.template.spec.containers[0]",
        "K8S005 custom spec.replicatedJobs[0].template.spec.template.spec.containers[0].image is 'app:latest'",
        "K8S006 custom metadata.namespace is 'default'",
        "JOB001 custom metadata.annotations.alpha.jobset.sigs.k8s.io/exclusive-topology is not set",
        "KQ001 flavor spec.tolerations is not set",
        "quota for 64 chips of tpu-v6e-slice 4x4; the pools grow to 12",
        "KQ003 queue spec.resourceGroups[0].coveredResources",
        "PRJ002 sub privateIpGoogleAccess is false",
    ):
        assert finding in plainly(said), finding


def test_what_is_safe_is_put_right_where_a_stack_asks_for_it(raw: Program) -> None:
    assert "[remediate]" not in preview(raw, {"all": "advisory"}, fails=False)
    said = preview(
        raw,
        {
            "all": "advisory",
            "GKE006": "remediate",
            "PRJ002": "remediate",
            "GKE021": {"enforcementLevel": "remediate", "labels": ["environment"], "values": {"environment": "dev"}},
        },
        fails=False,
    )
    for finding in ("GKE006 raw enableShieldedNodes", "PRJ002 sub private", "resourceLabels.environment is not set"):
        assert finding not in plainly(said), finding
    for rule, kind in (("GKE006", "Cluster: raw"), ("GKE021", "NodePool: slice"), ("PRJ002", "Subnetwork: sub")):
        assert any("[remediate]" in line and rule in line and kind in line for line in said.splitlines()), rule
    shown = " ".join(said.split())
    for change in ("enableShieldedNodes : false => true", "privateIpGoogleAccess: false => true"):
        assert change in shown, change


def test_the_first_preview_of_production_passes(prod: Program) -> None:
    said = preview(prod, PACK / "config" / "prod.json", fails=False)
    assert "[mandatory]" not in said
    assert "exemption without a match: K8S005 platform-*-addons-kueue:*" in said


def public_endpoint(clusters: dict[str, Any]) -> None:
    clusters["central"]["controlPlane"]["publicEndpoint"] = True


def no_repair(clusters: dict[str, Any]) -> None:
    clusters["central"]["pools"]["pretrain"]["autoRepair"] = False


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            public_endpoint,
            "GKE002 platform-central privateClusterConfig.enablePrivateEndpoint is false: the control plane has a "
            "public address. Remedy: in the stack file, set controlPlane.publicEndpoint: false (",
        ),
        (no_repair, "GKE012 platform-central-pretrain-0 management.autoRepair is false"),
    ],
)
def test_one_changed_line_fails_productions_gate(
    prod: Program, change: Callable[[dict[str, Any]], None], finding: str
) -> None:
    file = prod.folder / "stacks" / "Pulumi.prod.yaml"
    former = file.read_text()
    content = yaml.safe_load(former)
    change(content["config"]["tpuplane:platform"]["clusters"])
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    try:
        said = preview(prod, PACK / "config" / "prod.json", fails=True)
    finally:
        file.write_text(former)
    assert finding in plainly(said)
