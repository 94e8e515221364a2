"""Service accounts of the IAM API, and the agents that Google's services have in a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError, Deadline, explaining
from tpuplane_twin.providers.gcp.bodies import flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, Update, known, touched
from tpuplane_twin.providers.values import UNKNOWN

_CONFIRMATIONS = 3
"""Google's IAM is eventually consistent: the official plugin reads a new account that often before it continues."""


class Account(Resource):
    """A service account; its id is `projects/P/serviceAccounts/EMAIL`."""

    table_name = "account"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Email and member follow from the account id, so that a preview knows them."""
        planned = super().plan(inputs, prior)
        project, account = planned.get("project"), planned.get("accountId")
        if prior is None and isinstance(project, str) and isinstance(account, str):
            planned["email"] = f"{account}@{project}.iam.gserviceaccount.com"
            planned["member"] = f"serviceAccount:{planned['email']}"
        return planned

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        project = self.need_project(planned)
        texts = {name: planned.get(name) for name in ("displayName", "description") if planned.get(name)}
        body = {"accountId": planned["accountId"], "serviceAccount": texts}
        try:
            found = self.api.call("POST", f"{self.session.iam}projects/{project}/serviceAccounts", body)
        except ApiError as error:
            if error.status != 409 or not planned.get("createIgnoreAlreadyExists"):
                raise ProviderError(f"Error creating service account: {error}") from error
            email = f"{planned['accountId']}@{project}.iam.gserviceaccount.com"
            found = self.api.call("GET", self._url(f"projects/{project}/serviceAccounts/{email}"))
        state = self._confirmed(found["name"], deadline)
        return found["name"], self._state(state, planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(self._url(resource_id))
        return None if found is None else self._state(found, prior)

    def update(self, it: Update) -> Properties:  # noqa: D102
        if not set(it.changed) - {"deletionPolicy", "createIgnoreAlreadyExists"}:
            return super().update(it)
        current = self.api.call("GET", self._url(it.resource_id))
        if touched(it.changed, "disabled"):
            verb = "disable" if it.planned.get("disabled") else "enable"
            self.api.call("POST", self._url(f"{it.resource_id}:{verb}"), {})
        masks = {"description": "description", "displayName": "display_name"}
        mask = [name for prop, name in masks.items() if touched(it.changed, prop)]
        if mask:
            account = {prop: it.planned.get(prop) for prop in ("displayName", "description") if it.planned.get(prop)}
            body = {"serviceAccount": {**account, "etag": current.get("etag")}, "updateMask": ",".join(mask)}
            self.api.call("PATCH", self._url(it.resource_id), body)
            current = self._confirmed(it.resource_id, it.deadline)
        else:
            current = self.api.call("GET", self._url(it.resource_id))
        return self._state(current, it.planned)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        with explaining("deleting service account", missing_is_fine=True):
            self.api.call("DELETE", self._url(resource_id))

    def _url(self, path: str) -> str:
        return self.session.iam + path

    def _confirmed(self, name: str, deadline: Deadline) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {}
        for _ in range(_CONFIRMATIONS):
            found = self.api.retry(
                deadline, lambda: self.api.call("GET", self._url(name)), lambda error: error.not_found
            )
        return found

    def _state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = flatten(self.table.fields, found)
        state["accountId"] = found["email"].partition("@")[0]
        state["member"] = f"serviceAccount:{found['email']}"
        for name in ("createIgnoreAlreadyExists", "deletionPolicy"):
            if prior.get(name) not in (None, UNKNOWN):
                state[name] = prior[name]
        state.setdefault("deletionPolicy", "DELETE")
        return state


class ServiceIdentity(Resource):
    """A service agent; its id is `projects/P/services/S`. The API can make one, and neither read nor delete it."""

    table_name = "service_identity"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        resource_id = f"projects/{self.need_project(planned)}/services/{planned['service']}"
        with explaining("creating Service Identity"):
            operation = self.api.call("POST", f"{self.session.service_usage}{resource_id}:generateServiceIdentity", {})
            while not operation.get("done"):
                self.api.pause(self.api.poll_seconds)
                operation = self.api.call("GET", self.session.service_usage + operation["name"])
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
