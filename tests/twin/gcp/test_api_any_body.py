"""Any well-typed body gets an answer, never an internal error."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from googleapiclient.discovery_cache import get_static_doc

from tests.support.gcp.twin_api import CLUSTERS, COMPUTE, LOCATION, Api, cluster_body, slice_pool

pytestmark = pytest.mark.twin

BODIES = 150
# Values that come near the truth, so that some bodies get past the first check.
WORDS = [
    "",
    "x",
    "p",
    "net",
    "sub",
    "pods",
    "us-central1-b",
    "ct6e-standard-4t",
    "4x4",
    "10.9.0.0/24",
    "COMPACT",
    "REGULAR",
]
KEY_RINGS = f"/kms/v1/projects/acme/locations/{LOCATION}/keyRings"
REPOSITORIES = f"/artifactregistry/v1/projects/acme/locations/{LOCATION}/repositories"
REQUESTS = [
    ("container", "v1beta1", "CreateClusterRequest", "POST", CLUSTERS),
    ("container", "v1beta1", "UpdateClusterRequest", "PUT", f"{CLUSTERS}/c1"),
    ("container", "v1beta1", "CreateNodePoolRequest", "POST", f"{CLUSTERS}/c1/nodePools"),
    ("container", "v1beta1", "UpdateNodePoolRequest", "PUT", f"{CLUSTERS}/c1/nodePools/slice"),
    ("container", "v1beta1", "SetNodePoolAutoscalingRequest", "POST", f"{CLUSTERS}/c1/nodePools/slice:setAutoscaling"),
    ("container", "v1beta1", "SetLabelsRequest", "POST", f"{CLUSTERS}/c1:setResourceLabels"),
    ("container", "v1beta1", "SetAddonsConfigRequest", "POST", f"{CLUSTERS}/c1:setAddons"),
    ("container", "v1beta1", "SetLegacyAbacRequest", "POST", f"{CLUSTERS}/c1:setLegacyAbac"),
    ("container", "v1beta1", "SetLocationsRequest", "POST", f"{CLUSTERS}/c1:setLocations"),
    ("container", "v1beta1", "SetMaintenancePolicyRequest", "POST", f"{CLUSTERS}/c1:setMaintenancePolicy"),
    ("container", "v1beta1", "SetNetworkPolicyRequest", "POST", f"{CLUSTERS}/c1:setNetworkPolicy"),
    ("compute", "beta", "Network", "POST", f"{COMPUTE}/global/networks"),
    ("compute", "beta", "Firewall", "POST", f"{COMPUTE}/global/firewalls"),
    ("compute", "beta", "Subnetwork", "POST", f"{COMPUTE}/regions/{LOCATION}/subnetworks"),
    ("compute", "beta", "Subnetwork", "PATCH", f"{COMPUTE}/regions/{LOCATION}/subnetworks/sub"),
    ("compute", "beta", "Router", "POST", f"{COMPUTE}/regions/{LOCATION}/routers"),
    ("compute", "beta", "ResourcePolicy", "POST", f"{COMPUTE}/regions/{LOCATION}/resourcePolicies"),
    ("iam", "v1", "CreateServiceAccountRequest", "POST", "/iam/v1/projects/acme/serviceAccounts"),
    ("cloudresourcemanager", "v1", "SetIamPolicyRequest", "POST", "/crm/v1/projects/acme:setIamPolicy"),
    ("artifactregistry", "v1", "Repository", "POST", f"{REPOSITORIES}?repositoryId=images"),
    ("cloudkms", "v1", "KeyRing", "POST", f"{KEY_RINGS}?keyRingId=other"),
    ("cloudkms", "v1", "CryptoKey", "POST", f"{KEY_RINGS}/ring/cryptoKeys?cryptoKeyId=key"),
]


def any_value(schemas: Any, schema: Any, random: Random, depth: int = 0) -> Any:
    """A random value of the schema's type; the deeper, the fewer fields."""
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    kind = schema["type"]
    if kind == "object" and "properties" in schema:
        share = 0.5 if depth < 2 else 0.15
        return {
            key: any_value(schemas, inner, random, depth + 1)
            for key, inner in schema["properties"].items()
            if random.random() < share
        }
    if kind == "object":
        inner = schema.get("additionalProperties", {"type": "any"})
        return {random.choice(WORDS): any_value(schemas, inner, random, depth + 1)}
    if kind == "array":
        return [any_value(schemas, schema["items"], random, depth + 1) for _ in range(random.randrange(3))]
    plain = {
        "boolean": random.random() < 0.5,
        "integer": random.choice([0, 1, 4, 100]),
        "number": random.choice([0, 0.5]),
        "any": None,
        "string": random.choice(WORDS),
    }
    special = {"int64": "4", "uint64": "4", "google-duration": "700s", "byte": "AAAA"}
    if "enum" in schema:
        return random.choice(schema["enum"])
    return special.get(schema.get("format", ""), plain[kind])


@pytest.mark.parametrize(("service", "version", "ref", "method", "path"), REQUESTS)
async def test_never_an_internal_error(
    cluster: Api, service: str, version: str, ref: str, method: str, path: str
) -> None:
    await cluster.done("POST", f"{CLUSTERS}/c1/nodePools", {"nodePool": slice_pool()})
    await cluster.call("POST", f"{KEY_RINGS}?keyRingId=ring", {})
    schemas = json.loads(get_static_doc(service, version))["schemas"]
    for seed in range(BODIES):
        body = any_value(schemas, {"$ref": ref}, Random(seed))
        async with cluster.session.request(method, cluster.url + path, json=body) as response:
            assert response.status != 500, (seed, body, await response.text())


@pytest.mark.parametrize("ref", ["Cluster", "NodePool"])
async def test_any_value_of_one_field_of_a_valid_body(cluster: Api, ref: str) -> None:
    schemas = json.loads(get_static_doc("container", "v1beta1"))["schemas"]
    fields = [name for name in schemas[ref]["properties"] if name != "name"]
    for number, field in enumerate(fields * 3):
        value = any_value(schemas, schemas[ref]["properties"][field], Random(number))
        name = f"n{number}"
        if ref == "Cluster":
            path, body = CLUSTERS, {"cluster": cluster_body(name) | {field: value}}
        else:
            path, body = f"{CLUSTERS}/c1/nodePools", {"nodePool": slice_pool(name) | {field: value}}
        async with cluster.session.post(cluster.url + path, json=body) as response:
            assert response.status != 500, (field, value, await response.text())
            if response.status == 200:
                operation = await cluster.wait(await response.json())
                assert "Internal error" not in operation.get("statusMessage", ""), (field, value)
                await cluster.call("GET", f"{path}/{name}")
