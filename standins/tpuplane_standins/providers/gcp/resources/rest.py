# ruff: noqa: D102 - the methods are described by `Resource`
"""Resources in a collection of an API, and how the official plugin drives those of the Compute API."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.api import Deadline, OperationError, existing, explaining
from tpuplane_standins.providers.gcp.bodies import expand
from tpuplane_standins.providers.gcp.resources.base import Resource, Update, known, planned_labels, touched
from tpuplane_standins.providers.values import UNKNOWN, Secret

Call = tuple[str, str, dict[str, Any]]
"""A request of an update: its method, what follows the resource's address, its body."""


class Rest(Resource):
    """POST to a collection, GET, PATCH with a mask, DELETE; no operations to wait for."""

    def variables(self, properties: Mapping[str, Any]) -> dict[str, str]:
        """Values for the path templates."""
        region = str(properties.get("region") or self.session.region).rpartition("/")[2]
        if "{region}" in self.table.collection and not region:
            raise ProviderError(
                "Cannot determine region: set in this resource, or set provider-level 'region' or 'zone'."
            )
        texts = {name: str(value) for name, value in properties.items() if isinstance(value, str)}
        return {**texts, "project": self.need_project(properties), "region": region}

    def collection(self, properties: Mapping[str, Any]) -> str:
        """The path of the collection."""
        return self.table.collection.format(**self.variables(properties))

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return f"{self.collection(properties)}/{properties['name']}" if "name" in properties else resource_id

    def path(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        """The path of the resource."""
        return resource_id

    def query(self, planned: Properties) -> dict[str, str]:
        """The parameters of the request that creates it."""
        return {}

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        kind, url = self.table.kind, self.url(self.collection(planned))
        try:
            with explaining(f"creating {kind}"):
                answer = self.api.call("POST", url, self.body(planned), self.query(planned))
                self.wait(answer, planned, f"Creating {kind}", deadline)
        except OperationError as error:
            raise ProviderError(f"Error waiting to create {kind}: {error}") from error
        return self.created(self.id_of(answer, planned), planned)

    def id_of(self, answer: Mapping[str, Any], planned: Properties) -> str:
        """The id of a resource that the API answered for."""
        return str(answer["name"])

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        found = self.api.find(self.url(self.path(resource_id, prior)))
        return None if found is None else self.state(found, prior)

    def update(self, update: Update) -> Properties:
        url = self.url(self.path(update.resource_id, update.planned))
        with explaining(f'updating {self.table.kind} "{update.resource_id}"'):
            for method, suffix, body in self.calls(update):
                answer = self.api.call(method, url + suffix, body)
                self.wait(answer, update.planned, f"Updating {self.table.kind}", update.deadline)
        return super().update(update)

    def calls(self, update: Update) -> Iterator[Call]:
        """The requests of an update."""
        mask = ",".join(step.field for step in self.table.steps if touched(update.changed, *step.watch))
        if mask:
            yield "PATCH", f"?{urlencode({'updateMask': mask})}", self.body(update.planned)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        url = self.url(self.path(resource_id, state))
        with explaining(f"deleting {self.table.kind}"):
            operation = existing(lambda: self.api.call("DELETE", url))
        if operation is not None:
            self.wait(operation, state, f"Deleting {self.table.kind}", deadline)

    def wait(
        self, operation: Mapping[str, Any], properties: Mapping[str, Any], activity: str, deadline: Deadline
    ) -> None:
        """Wait for the operation that a request started; here no request does."""

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """The API object, links written out in full."""
        body = expand(self.table.fields, known(properties))
        for name, template in self.table.links.items():
            if value := body.get(name):
                body[name] = self.link(value, template, properties)
        return body

    def link(self, value: str, template: str, properties: Mapping[str, Any]) -> str:
        """A bare name as the path it means; a path or URL as it is."""
        return value if "/" in value else f"{template.format(**self.variables(properties))}/{value}"


class Labelled(Rest):
    """A resource with labels."""

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Adds the labels that the resource will have."""
        return {**super().plan(inputs, prior), **planned_labels(self.session, inputs.get("labels"), prior)}

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body, labels = super().body(properties), properties.get("effectiveLabels")
        return {**body, "labels": labels} if labels and labels is not UNKNOWN else body

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = super().state(found, prior)
        for name in ("labels", "pulumiLabels"):
            state[name] = {key: found.get("labels", {}).get(key, "") for key in state.get(name) or {}}
        return {**state, "pulumiLabels": Secret(state["pulumiLabels"])}


class LongRunning(Rest):
    """A resource of an API whose requests start operations of google.longrunning."""

    def wait(
        self, operation: Mapping[str, Any], properties: Mapping[str, Any], activity: str, deadline: Deadline
    ) -> None:
        """Poll the operation; some updates answer the resource itself."""
        while "operations/" in operation.get("name", "") and not operation.get("done"):
            if deadline.passed:
                raise OperationError(f"Error waiting for {activity}: timeout")
            self.api.pause(self.api.poll_seconds)
            operation = self.api.call("GET", self.url(operation["name"]))
        if problem := operation.get("error"):
            raise OperationError(f"Error code {problem.get('code')}, message: {problem.get('message')}")


class Identified(LongRunning, Labelled):
    """One whose id the request that creates it has as a parameter, such as a Managed Lustre instance."""

    named: ClassVar[str] = "instanceId"
    """The property with its id."""
    parameter: ClassVar[str] = ""
    """The name of the parameter, if it is not that of the property."""

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return f"{self.collection(properties)}/{properties[self.named]}"

    def query(self, planned: Properties) -> dict[str, str]:
        return {self.parameter or self.named: planned[self.named]}

    def id_of(self, answer: Mapping[str, Any], planned: Properties) -> str:
        return self.canonical_id("", planned)


class FilestoreInstance(Identified):
    """A Filestore instance."""

    named, parameter = "name", "instanceId"


class Compute(Rest):
    """A resource of the Compute API: each request starts an operation, an update takes one request for each step."""

    def id_of(self, answer: Mapping[str, Any], planned: Properties) -> str:
        return self.canonical_id("", planned)

    def calls(self, update: Update) -> Iterator[Call]:
        for step in self.table.steps:
            if touched(update.changed, *step.watch):
                body = self.body({name: update.planned.get(name) for name in step.watch})
                if step.fingerprint:
                    body["fingerprint"] = self.api.call("GET", self.url(update.resource_id)).get("fingerprint")
                yield ("POST", f"/{step.verb}", body) if step.verb else ("PATCH", "", body)

    def wait(
        self, operation: Mapping[str, Any], properties: Mapping[str, Any], activity: str, deadline: Deadline
    ) -> None:
        """Poll a compute operation, in the region that it names or globally."""
        scope = f"regions/{operation['region'].rpartition('/')[2]}" if operation.get("region") else "global"
        path = f"projects/{self.need_project(properties)}/{scope}/operations/{operation['name']}"
        self.api.wait(operation, self.url(path), activity, deadline, gke=False)

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        # Links in v1, as the official plugin keeps them (its ConvertSelfLinkToV1).
        text = re.sub(r"/compute/[a-zA-Z0-9]+/projects/", "/compute/v1/projects/", json.dumps(found))
        state = super().state(json.loads(text), prior)
        if "region" in self.table.fields:
            state["region"] = str(found.get("region", prior.get("region", ""))).rpartition("/")[2]
        return known(state)
