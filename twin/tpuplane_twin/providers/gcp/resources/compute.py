"""Networks, subnetworks, routers, firewalls, resource policies: the Compute API's ordinary resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import Any, ClassVar

from tpuplane_twin.providers.gcp.api import ApiError, Deadline, OperationError
from tpuplane_twin.providers.gcp.bodies import dig, expand, flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, known, touched
from tpuplane_twin.providers.server import Change, Properties, ProviderError


@dataclass(frozen=True, slots=True)
class Step:
    """One request of an update: sent when one of `watch` changed, with the API form of those properties.

    `verb` is a method of the resource (POST), otherwise the resource is PATCHed; `fingerprint` reads it first.
    """

    watch: tuple[str, ...]
    verb: str = ""
    fingerprint: bool = False


class ComputeResource(Resource):
    """POST to a collection, poll the operation, GET; updates step by step; DELETE."""

    collection: ClassVar[str]
    """Path template below the API's base: `projects/{project}/regions/{region}/routers`."""
    kind: ClassVar[str]
    """The type's name in error messages."""
    steps: ClassVar[tuple[Step, ...]] = ()
    links: ClassVar[Mapping[str, str]] = {}
    """Properties that name another resource → the path template a bare name stands for."""

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
            operation = self.api.call("POST", self.url(collection), body)
            self.wait(operation, planned, f"Creating {self.kind}", deadline)
        except ApiError as error:
            raise ProviderError(f"Error creating {self.kind}: {error}") from error
        except OperationError as error:
            raise ProviderError(f"Error waiting to create {self.kind}: {error}") from error
        state = self.read(resource_id, planned)
        if state is None:
            raise ProviderError(f"Error reading {self.kind} {resource_id}: it is gone right after its creation")
        return resource_id, state

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        try:
            found = self.api.call("GET", self.url(resource_id))
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return self.state(found, prior)

    def update(  # noqa: D102
        self,
        resource_id: str,
        prior: Properties,
        planned: Properties,
        changed: Mapping[str, Change],
        deadline: Deadline,
    ) -> Properties:
        for step in self.steps:
            if not touched(changed, *step.watch):
                continue
            body = self.body({name: planned.get(name) for name in step.watch})
            url = self.url(resource_id)
            try:
                if step.fingerprint:
                    body["fingerprint"] = self.api.call("GET", url).get("fingerprint")
                if step.verb:
                    operation = self.api.call("POST", f"{url}/{step.verb}", body)
                else:
                    operation = self.api.call("PATCH", url, body)
                self.wait(operation, planned, f"Updating {self.kind}", deadline)
            except ApiError as error:
                raise ProviderError(f'Error updating {self.kind} "{resource_id}": {error}') from error
        return self.read(resource_id, planned) or known(planned)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if not self.check_deletion(resource_id, state):
            return
        try:
            operation = self.api.call("DELETE", self.url(resource_id))
        except ApiError as error:
            if error.not_found:
                return
            raise ProviderError(f"Error deleting {self.kind}: {error}") from error
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
        """A bare name as the path it stands for; a path or URL as it is."""
        if "/" in value:
            return value
        return f"{template.format(**self.variables(properties))}/{value}"

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        """The state for an API object; what exists on the client's side alone is carried over."""
        state = flatten(self.table.fields, found)
        for name, rule in self.table.fields.items():
            if rule.api is None and name in prior:
                state[name] = prior[name]
        state["project"] = self.need_project(prior)
        if "region" in self.table.fields:
            state["region"] = str(found.get("region", prior.get("region", ""))).rpartition("/")[2]
        state.setdefault("deletionPolicy", "DELETE")
        return known(state)


_NAME = r"(?P<name>[^/]+)"
_PROJECT = r"(?P<project>[^/]+)"
_REGION = r"(?P<region>[^/]+)"


def _global_formats(collection: str) -> tuple[str, ...]:
    return (f"projects/{_PROJECT}/global/{collection}/{_NAME}", f"{_PROJECT}/{_NAME}", _NAME)


def _regional_formats(collection: str) -> tuple[str, ...]:
    return (
        f"projects/{_PROJECT}/regions/{_REGION}/{collection}/{_NAME}",
        f"{_PROJECT}/{_REGION}/{_NAME}",
        f"{_REGION}/{_NAME}",
        _NAME,
    )


class Network(ComputeResource):
    """A VPC network."""

    table_name = "network"
    collection = "projects/{project}/global/networks"
    kind = "Network"
    import_formats = _global_formats("networks")
    steps = (
        Step(
            (
                "routingMode",
                "bgpBestPathSelectionMode",
                "bgpAlwaysCompareMed",
                "bgpInterRegionCost",
                "networkFirewallPolicyEnforcementOrder",
            )
        ),
        Step(("enableUlaInternalIpv6",)),
        Step(("mtu",), fingerprint=True),
    )


class Subnetwork(ComputeResource):
    """A subnetwork of one region."""

    table_name = "subnetwork"
    collection = "projects/{project}/regions/{region}/subnetworks"
    kind = "Subnetwork"
    import_formats = _regional_formats("subnetworks")
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}
    steps = (
        Step(("ipCidrRange",), verb="expandIpCidrRange"),
        Step(("privateIpGoogleAccess",), verb="setPrivateIpGoogleAccess"),
        Step(
            (
                "privateIpv6GoogleAccess",
                "stackType",
                "ipv6AccessType",
                "ipCollection",
                "allowSubnetCidrRoutesOverlap",
            ),
            fingerprint=True,
        ),
        Step(("logConfig",), fingerprint=True),
        Step(("purpose",), fingerprint=True),
        Step(("role",), fingerprint=True),
        Step(("secondaryIpRanges",), fingerprint=True),
    )

    def update(  # noqa: D102
        self,
        resource_id: str,
        prior: Properties,
        planned: Properties,
        changed: Mapping[str, Change],
        deadline: Deadline,
    ) -> Properties:
        kept = {item.get("rangeName") for item in planned.get("secondaryIpRanges") or []}
        if {item.get("rangeName") for item in prior.get("secondaryIpRanges") or []} - kept:
            # Removing and adding in one request is refused, so what goes goes first.
            url = self.url(resource_id)
            current = self.api.call("GET", url)
            ranges = [item for item in current.get("secondaryIpRanges", []) if item["rangeName"] in kept]
            body = {"secondaryIpRanges": ranges, "fingerprint": current.get("fingerprint")}
            try:
                self.wait(self.api.call("PATCH", url, body), planned, "Updating Subnetwork", deadline)
            except ApiError as error:
                raise ProviderError(f'Error during removal step for Subnetwork "{resource_id}": {error}') from error
        return super().update(resource_id, prior, planned, changed, deadline)

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """A range can grow in place; any other new range needs a new subnetwork."""
        changes = super().diff(prior, planned)
        old, new = prior.get("ipCidrRange"), planned.get("ipCidrRange")
        if "ipCidrRange" in changes and isinstance(old, str) and isinstance(new, str) and not _contains(new, old):
            changes["ipCidrRange"] = replace(changes["ipCidrRange"], replace=True)
        return changes


def _contains(outer: str, inner: str) -> bool:
    wide, narrow = ip_network(outer, strict=False), ip_network(inner, strict=False)
    return wide.version == narrow.version and wide.supernet_of(narrow)  # type: ignore[arg-type]


class Router(ComputeResource):
    """A Cloud Router."""

    table_name = "router"
    collection = "projects/{project}/regions/{region}/routers"
    kind = "Router"
    import_formats = _regional_formats("routers")
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}
    steps = (Step(("description", "bgp", "md5AuthenticationKeys")),)


class ResourcePolicy(ComputeResource):
    """A resource policy; TPU7x slices need a workload policy."""

    table_name = "resource_policy"
    collection = "projects/{project}/regions/{region}/resourcePolicies"
    kind = "ResourcePolicy"
    import_formats = _regional_formats("resourcePolicies")
    steps = (
        Step(
            (
                "name",
                "description",
                "snapshotSchedulePolicy",
                "groupPlacementPolicy",
                "instanceSchedulePolicy",
                "diskConsistencyGroupPolicy",
                "workloadPolicy",
            )
        ),
    )


class Firewall(ComputeResource):
    """A VPC firewall rule."""

    table_name = "firewall"
    collection = "projects/{project}/global/firewalls"
    kind = "Firewall"
    import_formats = _global_formats("firewalls")
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}
    steps = (
        Step(
            (
                "allows",
                "denies",
                "description",
                "destinationRanges",
                "disabled",
                "logConfig",
                "network",
                "priority",
                "sourceRanges",
                "sourceServiceAccounts",
                "sourceTags",
                "targetServiceAccounts",
                "targetTags",
            )
        ),
    )

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:  # noqa: D102
        body = super().body(properties)
        if "logConfig" in body:
            body["logConfig"]["enable"] = True
        return body

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:  # noqa: D102
        state = super().state(found, prior)
        state["enableLogging"] = bool(dig(found, "logConfig.enable"))
        if not state["enableLogging"]:
            state.pop("logConfig", None)
        return state
