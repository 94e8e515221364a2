# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Artifact Registry: repositories, created and deleted by long-running operations."""

from collections.abc import Mapping
from typing import Any

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.resources.rest import Identified


class Repository(Identified):
    """A repository; its id is `projects/P/locations/L/repositories/N`. The API has policies by their ids."""

    named = "repositoryId"

    def query(self, planned: Properties) -> dict[str, str]:
        return {"repository_id": planned["repositoryId"]}

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(properties)
        named = zip(properties.get("cleanupPolicies") or (), body.pop("cleanupPolicies", ()), strict=True)
        policies = {policy["id"]: {**sent, "id": policy["id"]} for policy, sent in named}
        return {**body, "cleanupPolicies": policies} if policies else body

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        policies: Mapping[str, Any] = found.get("cleanupPolicies", {})
        state = super().state({**found, "cleanupPolicies": list(policies.values())}, prior)
        for name, policy in zip(policies, state["cleanupPolicies"], strict=True):
            policy["id"] = name
        return {**state, "name": str(found["name"]).rpartition("/")[2]}
