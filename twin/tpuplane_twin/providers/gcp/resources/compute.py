"""How the official plugin drives an ordinary resource of the Compute API."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import Deadline, OperationError, explaining
from tpuplane_twin.providers.gcp.bodies import expand, flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, Update, known, touched


def in_v1(found: Mapping[str, Any]) -> dict[str, Any]:
    """An API object with its links in v1, as the official plugin keeps them (its ConvertSelfLinkToV1)."""
    text = re.sub(r"/compute/[a-zA-Z0-9]+/projects/", "/compute/v1/projects/", json.dumps(found))
    return dict(json.loads(text))


class ComputeResource(Resource):
    """POST to a collection, poll the operation, GET; updates step by step; DELETE."""

    collection: ClassVar[str]
    """Path template below the API's base: `projects/{project}/regions/{region}/routers`."""
    kind: ClassVar[str]
    """The type's name in error messages."""
    links: ClassVar[Mapping[str, str]] = {}
    """Properties that name another resource → the path template that a bare name means."""

    def variables(self, properties: Mapping[str, Any]) -> dict[str, str]:
        """Values for the path templates."""
        region = str(properties.get("region") or self.session.region).rpartition("/")[2]
        if "{region}" in self.collection and not region:
            raise ProviderError(
                "Cannot determine region: set in this resource, or set provider-level 'region' or 'zone'."
            )
        return {"project": self.need_project(properties), "region": region, "name": str(properties.get("name", ""))}

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"{self.collection.format(**self.variables(properties))}/{properties['name']}"

    def url(self, path: str) -> str:
        """The address of a path below the Compute API's base."""
        return self.session.compute + path

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        collection = self.collection.format(**self.variables(planned))
        resource_id = f"{collection}/{planned['name']}"
        body = self.body(planned)
        try:
            with explaining(f"creating {self.kind}"):
                operation = self.api.call("POST", self.url(collection), body)
                self.wait(operation, planned, f"Creating {self.kind}", deadline)
        except OperationError as error:
            raise ProviderError(f"Error waiting to create {self.kind}: {error}") from error
        return self.created(resource_id, planned, self.kind)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(self.url(resource_id))
        if found is None:
            return None
        return self.state(found, prior)

    def update(self, it: Update) -> Properties:  # noqa: D102
        for step in self.table.steps:
            if not touched(it.changed, *step.watch):
                continue
            body = self.body({name: it.planned.get(name) for name in step.watch})
            url = self.url(it.resource_id)
            with explaining(f'updating {self.kind} "{it.resource_id}"'):
                if step.fingerprint:
                    body["fingerprint"] = self.api.call("GET", url).get("fingerprint")
                method, target = ("POST", f"{url}/{step.verb}") if step.verb else ("PATCH", url)
                operation = self.api.call(method, target, body)
                self.wait(operation, it.planned, f"Updating {self.kind}", it.deadline)
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        operation = None
        with explaining(f"deleting {self.kind}", missing_is_fine=True):
            operation = self.api.call("DELETE", self.url(resource_id))
        if operation is not None:
            self.wait(operation, state, f"Deleting {self.kind}", deadline)

    def wait(
        self, operation: Mapping[str, Any], properties: Mapping[str, Any], activity: str, deadline: Deadline
    ) -> None:
        """Poll a compute operation, in the region that it names or globally."""
        scope = f"regions/{operation['region'].rpartition('/')[2]}" if operation.get("region") else "global"
        path = f"projects/{self.need_project(properties)}/{scope}/operations/{operation['name']}"
        self.api.wait(operation, self.url(path), activity, deadline, gke=False)

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """The API object, links written out in full."""
        body = expand(self.table.fields, known(properties))
        for name, template in {"region": "projects/{project}/regions", **self.links}.items():
            if value := body.get(name):
                body[name] = self.link(value, template, properties)
        return body

    def link(self, value: str, template: str, properties: Mapping[str, Any]) -> str:
        """A bare name as the path it means; a path or URL as it is."""
        if "/" in value:
            return value
        return f"{template.format(**self.variables(properties))}/{value}"

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        """The state for an API object; what exists on the client's side alone is carried over."""
        state = flatten(self.table.fields, in_v1(found))
        for name, rule in self.table.fields.items():
            if rule.api is None and name in prior:
                state[name] = prior[name]
        state["project"] = self.need_project(prior)
        if "region" in self.table.fields:
            state["region"] = str(found.get("region", prior.get("region", ""))).rpartition("/")[2]
        state.setdefault("deletionPolicy", "DELETE")
        return known(state)
