"""The agent that one of Google's services has in a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError, Deadline
from tpuplane_twin.providers.gcp.resources.base import Resource, known


class ServiceIdentity(Resource):
    """A service agent; its id is `projects/P/services/S`. The API can make one, and neither read nor delete it."""

    table_name = "service_identity"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        resource_id = f"projects/{self.need_project(planned)}/services/{planned['service']}"
        try:
            operation = self.api.call("POST", f"{self.session.service_usage}{resource_id}:generateServiceIdentity", {})
            while not operation.get("done"):
                self.api.pause(self.api.poll_seconds)
                operation = self.api.call("GET", self.session.service_usage + operation["name"])
        except ApiError as error:
            raise ProviderError(f"Error creating Service Identity: {error}") from error
        if failure := operation.get("error"):
            raise ProviderError(f"Error waiting to create Service Identity: {failure.get('message', failure)}")
        found: Mapping[str, Any] = operation.get("response", {})
        email = str(found.get("email", ""))
        state = {**known(planned), "email": email, "member": f"serviceAccount:{email}" if email else ""}
        return resource_id, state

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        return known(prior)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """No request: the agent stays."""
