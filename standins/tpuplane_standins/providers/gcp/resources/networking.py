# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Subnetworks, firewall rules, global addresses and NAT gateways, which need more than their tables say."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

from tpuplane_standins.providers.contract import Change, Properties, ProviderError
from tpuplane_standins.providers.gcp.api import Deadline, OperationError, explaining
from tpuplane_standins.providers.gcp.bodies import dig
from tpuplane_standins.providers.gcp.resources.base import Update
from tpuplane_standins.providers.gcp.resources.rest import Call, Compute, Labelled

Nats = list[dict[str, Any]]


class Subnetwork(Compute):
    """A subnetwork of one region."""

    def update(self, update: Update) -> Properties:
        kept = {item.get("rangeName") for item in update.planned.get("secondaryIpRanges") or []}
        if {item.get("rangeName") for item in update.prior.get("secondaryIpRanges") or []} - kept:
            # Removing and adding in one request is rejected, so ranges are removed first.
            url = self.url(update.resource_id)
            current = self.api.call("GET", url)
            ranges = [item for item in current.get("secondaryIpRanges", []) if item["rangeName"] in kept]
            body = {"secondaryIpRanges": ranges, "fingerprint": current.get("fingerprint")}
            with explaining(f'during removal step for Subnetwork "{update.resource_id}"'):
                self.wait(self.api.call("PATCH", url, body), update.planned, "Updating Subnetwork", update.deadline)
        return super().update(update)

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """A range can grow in place; any other new range needs a new subnetwork."""
        changes = super().diff(prior, planned)
        old, new = prior.get("ipCidrRange"), planned.get("ipCidrRange")
        if "ipCidrRange" in changes and isinstance(old, str) and isinstance(new, str) and not _contains(new, old):
            changes["ipCidrRange"] = replace(changes["ipCidrRange"], replaces=True)
        return changes


def _contains(outer: str, inner: str) -> bool:
    wide, narrow = ip_network(outer, strict=False), ip_network(inner, strict=False)
    return wide.version == narrow.version and wide.supernet_of(narrow)  # type: ignore[arg-type]


class Firewall(Compute):
    """A VPC firewall rule."""

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(properties)
        if "logConfig" in body:
            body["logConfig"]["enable"] = True
        return body

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = super().state(found, prior)
        state["enableLogging"] = bool(dig(found, "logConfig.enable"))
        if not state["enableLogging"]:
            state.pop("logConfig", None)
        return state


class GlobalAddress(Labelled, Compute):
    """A global address, or a range of them. Its labels are set again after its creation."""

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        resource_id, state = super().create(planned, deadline)
        if not planned.get("effectiveLabels"):
            return resource_id, state
        labels = {"effectiveLabels": Change("add")}
        return resource_id, self.update(Update(resource_id, state, planned, labels, deadline))

    def calls(self, update: Update) -> Iterator[Call]:
        for method, suffix, body in super().calls(update):
            yield method, suffix, {**body, "labelFingerprint": update.prior["labelFingerprint"]}

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(properties)
        return {**body, "networkTier": "PREMIUM"} if body.get("addressType") == "EXTERNAL" else body


class RouterNat(Compute):
    """A NAT gateway, an entry in its router's `nats`, so that every change is a PATCH of the router.

    Its id is `project/region/router/name`.
    """

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        values = self.variables(properties)
        return f"{values['project']}/{values['region']}/{self._router_name(properties)}/{properties['name']}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        def added(nats: Nats) -> Nats:
            if any(nat["name"] == planned["name"] for nat in nats):
                raise ProviderError(f"Unable to create RouterNat, existing object already found: {planned['name']}")
            return [*nats, self.body(planned)]

        self._patch(planned, added, "create", deadline)
        return self.created(self.canonical_id("", planned), planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        project, region, router, name = resource_id.rsplit("/", 3)
        place = {**prior, "project": project, "region": region, "router": prior.get("router", router)}
        found = next((nat for nat in self._nats(place) if nat["name"] == name), None)
        return None if found is None else self.state(found, place)

    def update(self, update: Update) -> Properties:
        settable = {rule.api for rule in self.table.fields.values() if rule.api and not rule.force_new}

        def changed(nats: Nats) -> Nats:
            old = next((nat for nat in nats if nat["name"] == update.planned["name"]), None)
            if old is None:
                raise ProviderError(f'Unable to update RouterNat "{update.resource_id}" - not found in list')
            kept = {key: value for key, value in old.items() if key not in settable}
            return [{**kept, **self.body(update.planned)} if nat is old else nat for nat in nats]

        if set(update.changed) - {"deletionPolicy"}:
            self._patch(update.planned, changed, "update", update.deadline)
        return super().update(update)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        self._patch(state, lambda nats: [nat for nat in nats if nat["name"] != state["name"]], "delete", deadline)

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(properties)
        for item in body.get("subnetworks", []):
            item["name"] = self.link(item["name"], "projects/{project}/regions/{region}/subnetworks", properties)
        return body

    def _router_name(self, properties: Mapping[str, Any]) -> str:
        return str(properties["router"]).rpartition("/")[2]

    def _router(self, properties: Mapping[str, Any]) -> str:
        return f"{self.collection(properties)}/{self._router_name(properties)}"

    def _nats(self, properties: Mapping[str, Any]) -> Nats:
        """The NAT gateways of the router; none where it does not exist."""
        return list((self.api.find(self.url(self._router(properties))) or {}).get("nats", []))

    def _patch(
        self, properties: Mapping[str, Any], change: Callable[[Nats], Nats], what: str, deadline: Deadline
    ) -> None:
        router, doing = self._router(properties), f"{what[:-1].capitalize()}ing RouterNat"
        with self.session.lock(router):
            nats = self._nats(properties)
            wanted = change(nats)
            if what == "delete" and wanted == nats:
                return
            try:
                with explaining(f"{what[:-1]}ing RouterNat"):
                    operation = self.api.call("PATCH", self.url(router), {"nats": wanted})
                    self.wait(operation, properties, doing, deadline)
            except OperationError as error:
                raise ProviderError(f"Error waiting to {what} RouterNat: {error}") from error
