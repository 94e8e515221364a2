# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Service accounts of the IAM API, and the agents that Google's services have in a project."""

from collections.abc import Mapping
from typing import Any

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.api import ApiError, Deadline, explaining
from tpuplane_standins.providers.gcp.resources.base import Resource, Update, known, touched
from tpuplane_standins.providers.gcp.resources.rest import Rest

_CONFIRMATIONS = 3
"""Google's IAM is eventually consistent: the official plugin reads a new account that often before it continues."""


class Account(Rest):
    """A service account; its id is `projects/P/serviceAccounts/EMAIL`."""

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Email and member follow from the account id, so that a preview knows them."""
        planned = super().plan(inputs, prior)
        project, account = planned.get("project"), planned.get("accountId")
        if prior is None and isinstance(project, str) and isinstance(account, str):
            planned["email"] = f"{account}@{project}.iam.gserviceaccount.com"
            planned["member"] = f"serviceAccount:{planned['email']}"
        return planned

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return f"{self.collection(properties)}/{properties['email']}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        collection = self.collection(planned)
        body = {"accountId": planned["accountId"], "serviceAccount": _texts(planned)}
        try:
            found = self.api.call("POST", self.url(collection), body)
        except ApiError as error:
            if error.status != 409 or not planned.get("createIgnoreAlreadyExists"):
                raise ProviderError(f"Error creating service account: {error}") from error
            email = f"{planned['accountId']}@{self.need_project(planned)}.iam.gserviceaccount.com"
            found = self.api.call("GET", self.url(f"{collection}/{email}"))
        return found["name"], self.state(self._confirmed(found["name"], deadline), planned)

    def update(self, update: Update) -> Properties:
        if not set(update.changed) - {"deletionPolicy", "createIgnoreAlreadyExists"}:
            return super().update(update)
        url = self.url(update.resource_id)
        current = self.api.call("GET", url)
        if touched(update.changed, "disabled"):
            self.api.call("POST", f"{url}:{'disable' if update.planned.get('disabled') else 'enable'}", {})
        masks = {"description": "description", "displayName": "display_name"}
        mask = [name for prop, name in masks.items() if touched(update.changed, prop)]
        if not mask:
            return super().update(update)
        account = {**_texts(update.planned), "etag": current.get("etag")}
        self.api.call("PATCH", url, {"serviceAccount": account, "updateMask": ",".join(mask)})
        return self.state(self._confirmed(update.resource_id, update.deadline), update.planned)

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        member = f"serviceAccount:{found['email']}"
        return {**super().state(found, prior), "accountId": found["email"].partition("@")[0], "member": member}

    def _confirmed(self, name: str, deadline: Deadline) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {}
        for _ in range(_CONFIRMATIONS):
            found = self.api.retry(
                deadline, lambda: self.api.call("GET", self.url(name)), lambda error: error.not_found
            )
        return found


def _texts(planned: Properties) -> Properties:
    return {name: planned[name] for name in ("displayName", "description") if planned.get(name)}


class ServiceIdentity(Resource):
    """A service agent; its id is `projects/P/services/S`. The API can make one, and neither read nor delete it."""

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        resource_id = f"projects/{self.need_project(planned)}/services/{planned['service']}"
        with explaining("creating Service Identity"):
            operation = self.api.call("POST", self.url(f"{resource_id}:generateServiceIdentity"), {})
            while not operation.get("done"):
                self.api.pause(self.api.poll_seconds)
                operation = self.api.call("GET", self.url(operation["name"]))
        if failure := operation.get("error"):
            raise ProviderError(f"Error waiting to create Service Identity: {failure.get('message', failure)}")
        found: Mapping[str, Any] = operation.get("response", {})
        email = str(found.get("email", ""))
        state = {**known(planned), "email": email, "member": f"serviceAccount:{email}" if email else ""}
        return resource_id, state

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        return known(prior)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """No request: the agent stays."""
