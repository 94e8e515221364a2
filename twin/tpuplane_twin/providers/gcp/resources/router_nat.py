"""Cloud NAT: an entry in its router's `nats`, so every change is a PATCH of the router."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import Deadline, OperationError, explaining
from tpuplane_twin.providers.gcp.resources.base import Update
from tpuplane_twin.providers.gcp.resources.compute import ComputeResource


class RouterNat(ComputeResource):
    """A NAT gateway of a Cloud Router; its id is `project/region/router/name`."""

    table_name = "router_nat"
    collection = "projects/{project}/regions/{region}/routers"
    kind = "RouterNat"

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        values = self.variables(properties)
        return f"{values['project']}/{values['region']}/{properties['router']}/{properties['name']}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        values = self.variables(planned)
        with self.session.lock(self._router(planned)):
            nats = self._nats(planned)
            if any(nat["name"] == planned["name"] for nat in nats):
                raise ProviderError(f"Unable to create RouterNat, existing object already found: {planned['name']}")
            self._patch(planned, [*nats, self.body(planned)], "create", deadline)
        resource_id = f"{values['project']}/{values['region']}/{self._name(planned)}/{planned['name']}"
        return self.created(resource_id, planned, "RouterNat")

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        project, region, router, name = resource_id.rsplit("/", 3)
        place = {**prior, "project": project, "region": region, "router": prior.get("router", router)}
        found = next((nat for nat in self._nats(place) if nat["name"] == name), None)
        return None if found is None else self.state(found, place)

    def update(self, it: Update) -> Properties:  # noqa: D102
        if set(it.changed) - {"deletionPolicy"}:
            with self.session.lock(self._router(it.planned)):
                nats = self._nats(it.planned)
                if not any(nat["name"] == it.planned["name"] for nat in nats):
                    raise ProviderError(f'Unable to update RouterNat "{it.resource_id}" - not found in list')
                settable = {rule.api for rule in self.table.fields.values() if rule.api and not rule.force_new}
                changed_nats = [
                    {**{k: v for k, v in nat.items() if k not in settable}, **self.body(it.planned)}
                    if nat["name"] == it.planned["name"]
                    else nat
                    for nat in nats
                ]
                self._patch(it.planned, changed_nats, "update", it.deadline)
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        with self.session.lock(self._router(state)):
            nats = self._nats(state)
            left = [nat for nat in nats if nat["name"] != state["name"]]
            if len(left) < len(nats):
                self._patch(state, left, "delete", deadline)

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:  # noqa: D102
        body = super().body(properties)
        for item in body.get("subnetworks", []):
            item["name"] = self.link(item["name"], "projects/{project}/regions/{region}/subnetworks", properties)
        return body

    def _name(self, properties: Mapping[str, Any]) -> str:
        return str(properties["router"]).rpartition("/")[2]

    def _router(self, properties: Mapping[str, Any]) -> str:
        return f"{self.collection.format(**self.variables(properties))}/{self._name(properties)}"

    def _nats(self, properties: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The NAT gateways of the router; none where it does not exist."""
        return list((self.api.find(self.url(self._router(properties))) or {}).get("nats", []))

    def _patch(self, properties: Mapping[str, Any], nats: list[dict[str, Any]], what: str, deadline: Deadline) -> None:
        doing = f"{what[:-1].capitalize()}ing"
        try:
            with explaining(f"{doing.lower()} RouterNat"):
                operation = self.api.call("PATCH", self.url(self._router(properties)), {"nats": nats})
                self.wait(operation, properties, f"{doing} RouterNat", deadline)
        except OperationError as error:
            raise ProviderError(f"Error waiting to {what} RouterNat: {error}") from error
