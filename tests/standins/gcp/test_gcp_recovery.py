"""What a killed engine was making: found again under the id that its inputs give, for every type of the components."""

from __future__ import annotations

import ast
import importlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psutil
import pulumi
import pytest
import tpuplane
from tpuplane.data_files import read_yaml
from tpuplane_twin.cli.recovery import identity
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.machine.paths import TwinPaths

from tests.support.providers.gcp_driver import (
    ACCOUNT,
    CLUSTER,
    FIREWALL,
    IAM_MEMBER,
    NETWORK,
    NODE_POOL,
    RESOURCE_POLICY,
    ROUTER,
    ROUTER_NAT,
    SUBNETWORK,
    Deployed,
    Driver,
    cluster_inputs,
    pool_inputs,
)
from tests.support.providers.google_api import PROJECT, TOKEN, GoogleApi

pytestmark = pytest.mark.twin

RING = "gcp:kms/keyRing:KeyRing"
KEY = "gcp:kms/cryptoKey:CryptoKey"
KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
IDENTITY = "gcp:projects/serviceIdentity:ServiceIdentity"
REGISTRY = "gcp:artifactregistry/repository:Repository"
REGISTRY_MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
RANGE = "gcp:compute/globalAddress:GlobalAddress"
CONNECTION = "gcp:servicenetworking/connection:Connection"
FILESTORE = "gcp:filestore/instance:Instance"
LUSTRE = "gcp:lustre/instance:Instance"
METRIC = "gcp:logging/metric:Metric"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"

PLACED = {"project": PROJECT, "region": "us-central1"}
RESERVED: dict[str, Any] = {"purpose": "VPC_PEERING", "addressType": "INTERNAL", "prefixLength": 20}
FILES = {"filesystem": "files", "capacityGib": "18000", "perUnitStorageThroughput": "500"}
OWN_NETWORK = f"projects/{PROJECT}/global/networks/net"
AGENT = "serviceAccount:service-1@container-engine-robot.iam.gserviceaccount.com"
WORKLOAD = {"workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4"}}
NAT = {"natIpAllocateOption": "AUTO_ONLY", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
QUERY = {"query": 'up{cluster="c1"} == 0', "duration": "0s", "evaluationInterval": "60s"}
CONDITION = {"displayName": "down", "conditionPrometheusQueryLanguage": QUERY}
ALERT: dict[str, Any] = {"project": PROJECT, "displayName": "down", "combiner": "OR", "conditions": [CONDITION]}


def board(title: str) -> str:
    tile = {"width": 24, "height": 16, "widget": {"title": "chips", "text": {"content": "chips"}}}
    return json.dumps({"displayName": title, "mosaicLayout": {"columns": 48, "tiles": [tile]}})


CASES: list[tuple[str, dict[str, Any]]] = [
    (NETWORK, {"project": PROJECT, "name": "other", "autoCreateSubnetworks": False}),
    (SUBNETWORK, {**PLACED, "name": "other", "network": "net", "ipCidrRange": "10.1.0.0/20"}),
    (ROUTER, {**PLACED, "name": "other", "network": "net"}),
    (ROUTER_NAT, {**PLACED, "name": "nat", "router": "router", **NAT}),
    (RESOURCE_POLICY, {**PLACED, "name": "cube", **WORKLOAD}),
    (ACCOUNT, {"project": PROJECT, "accountId": "other-nodes"}),
    (IAM_MEMBER, {"project": PROJECT, "role": "roles/logging.logWriter", "member": AGENT}),
    (CLUSTER, cluster_inputs(project=PROJECT, name="c2")),
    (NODE_POOL, pool_inputs(project=PROJECT)),
    (RING, {"project": PROJECT, "location": "us-central1", "name": "other"}),
    (KEY, {"keyRing": f"projects/{PROJECT}/locations/us-central1/keyRings/ring", "name": "secrets"}),
    (
        KEY_MEMBER,
        {
            "cryptoKeyId": f"projects/{PROJECT}/locations/us-central1/keyRings/ring/cryptoKeys/key",
            "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter",
            "member": AGENT,
        },
    ),
    (REGISTRY, {"project": PROJECT, "location": "us-central1", "repositoryId": "other", "format": "DOCKER"}),
    (
        REGISTRY_MEMBER,
        {
            "repository": f"projects/{PROJECT}/locations/us-central1/repositories/images",
            "role": "roles/artifactregistry.reader",
            "member": AGENT,
        },
    ),
    (BUCKET, {"project": PROJECT, "name": "acme-other", "location": "US-CENTRAL1"}),
    (BUCKET_MEMBER, {"bucket": "acme-data", "role": "roles/storage.objectViewer", "member": AGENT}),
    (FIREWALL, {"project": PROJECT, "name": "lustre", "network": "net", "allows": [{"protocol": "tcp"}]}),
    (RANGE, {"project": PROJECT, "name": "other", "network": OWN_NETWORK, **RESERVED}),
    (
        CONNECTION,
        {
            "network": f"projects/{PROJECT}/global/networks/other-net",
            "service": "servicenetworking.googleapis.com",
            "reservedPeeringRanges": ["outer"],
        },
    ),
    (LUSTRE, {"project": PROJECT, "location": "us-central1-b", "instanceId": "files", "network": OWN_NETWORK, **FILES}),
    (
        FILESTORE,
        {
            "project": PROJECT,
            "location": "us-central1-b",
            "name": "home",
            "tier": "ZONAL",
            "fileShares": {"name": "share", "capacityGb": 1024},
            "networks": [{"network": "net", "modes": ["MODE_IPV4"], "connectMode": "DIRECT_PEERING"}],
        },
    ),
    (METRIC, {"project": PROJECT, "name": "tpu/errors", "filter": "severity>=ERROR"}),
    (DASHBOARD, {"project": PROJECT, "dashboardJson": board("TPUs")}),
    (POLICY, ALERT),
]


@pytest.fixture
def client(tmp_path: Path, api: GoogleApi) -> TwinClient:
    """The twin, as its commands see it."""
    paths = TwinPaths("local", tmp_path / "local").make()
    paths.token_file.write_text(TOKEN)
    record = {"pid": os.getpid(), "created": psutil.Process().create_time(), "api": api.url}
    paths.record.write_text(json.dumps(record))
    return TwinClient(paths)


@pytest.fixture
def around(driver: Driver, cluster: Deployed) -> None:
    """What the resources of `CASES` lie in."""
    driver.create(ROUTER, "router", name="router", network="net")
    ring = driver.create(RING, "ring", name="ring", location="us-central1")
    driver.create(KEY, "key", name="key", keyRing=ring.id)
    driver.create(REGISTRY, "images", repositoryId="images", location="us-central1", format="DOCKER")
    driver.create(BUCKET, "data", name="acme-data", location="US-CENTRAL1")
    driver.create(NETWORK, "other-net", name="other-net", autoCreateSubnetworks=False)
    driver.create(RANGE, "outer", name="outer", network="other-net", **RESERVED)
    driver.create(RANGE, "range", name="range", network="net", **RESERVED)
    driver.create(
        CONNECTION,
        "connection",
        network=OWN_NETWORK,
        service="servicenetworking.googleapis.com",
        reservedPeeringRanges=["range"],
    )


@pytest.mark.usefixtures("around")
@pytest.mark.parametrize(("token", "inputs"), CASES, ids=[token.rpartition(":")[2] for token, _ in CASES])
def test_what_was_made_is_found_by_its_inputs(
    driver: Driver, client: TwinClient, token: str, inputs: dict[str, Any]
) -> None:
    made = driver.create(token, "noted", **inputs)
    found = identity({"type": token, "inputs": made.inputs}, client)
    assert found is not None
    read = driver.read(token, found)
    if token == DASHBOARD:  # Google writes its project as a number
        assert read.id.rpartition("/")[2] == made.id.rpartition("/")[2]
    else:
        assert unquote(read.id) == unquote(made.id)
    # The program is as it was: nothing of it is to be replaced.
    changes = driver.changes(Deployed(read.urn, read.id, made.inputs, read.state))
    assert not [path for path, change in changes.items() if change.replaces]


@pytest.mark.parametrize(
    ("token", "inputs", "other"),
    [
        (DASHBOARD, {"dashboardJson": board("TPUs")}, {"dashboardJson": board("Chips")}),
        (POLICY, ALERT, {**ALERT, "conditions": [{**CONDITION, "displayName": "up"}]}),
    ],
)
def test_of_what_google_names_only_what_is_as_noted_is_taken(
    driver: Driver, client: TwinClient, token: str, inputs: dict[str, Any], other: dict[str, Any]
) -> None:
    noted = {"type": token, "inputs": {**inputs, "project": PROJECT}}
    driver.create(token, "other", **other)
    assert identity(noted, client) == ""
    first = driver.create(token, "first", **inputs)
    assert identity(noted, client, taken=[first.id]) == ""
    assert str(identity(noted, client)).rpartition("/")[2] == first.id.rpartition("/")[2]
    driver.create(token, "second", **inputs)
    assert identity(noted, client) is None


def test_every_type_of_the_components_is_known() -> None:
    made = {kind for file in Path(tpuplane.__file__).parent.rglob("*.py") for kind in _types(file)}
    assert {NETWORK, CLUSTER, NODE_POOL, KEY, IDENTITY, DASHBOARD} <= made
    tables = read_yaml(files("tpuplane_twin.cli").joinpath("import_ids.yaml"))
    recovered = {kind for kinds in tables.values() for kind in kinds}
    assert made <= recovered
    assert {token for token, _ in CASES} | {IDENTITY} == recovered


def _types(file: Path) -> set[str]:
    """The types of Google's provider that a module names as `gcp.MODULE.TYPE`."""
    named = {
        (node.value.attr, node.attr)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id == "gcp"
    }
    classes = [getattr(importlib.import_module(f"pulumi_gcp.{module}"), name) for module, name in named]
    return {kind.pulumi_type for kind in classes if isinstance(kind, type) and issubclass(kind, pulumi.CustomResource)}
