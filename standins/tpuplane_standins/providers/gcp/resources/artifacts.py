# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Artifact Registry: repositories, created and deleted by long-running operations."""

from collections.abc import Mapping
from typing import Any

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.api import Deadline, OperationError
from tpuplane_standins.providers.gcp.resources.rest import Labelled


class Repository(Labelled):
    """A repository; its id is `projects/P/locations/L/repositories/N`. The API has policies by their ids."""

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return f"{self.collection(properties)}/{properties['repositoryId']}"

    def query(self, planned: Properties) -> dict[str, str]:
        return {"repository_id": planned["repositoryId"]}

    def id_of(self, answer: Mapping[str, Any], planned: Properties) -> str:
        return self.canonical_id("", planned)

    def wait(
        self, operation: Mapping[str, Any], properties: Mapping[str, Any], activity: str, deadline: Deadline
    ) -> None:
        """Poll the operation; the answer to an update is the repository itself."""
        while "/operations/" in operation.get("name", "") and not operation.get("done"):
            if deadline.passed:
                raise OperationError(f"Error waiting for {activity}: timeout")
            self.api.pause(self.api.poll_seconds)
            operation = self.api.call("GET", self.url(operation["name"]))
        if problem := operation.get("error"):
            raise OperationError(f"Error code {problem.get('code')}, message: {problem.get('message')}")

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
