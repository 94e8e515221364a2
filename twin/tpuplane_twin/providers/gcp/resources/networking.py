"""The Compute API's resources of a platform: networks, subnetworks, routers, firewalls, resource policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, ClassVar

from tpuplane_twin.providers.contract import Change, Properties
from tpuplane_twin.providers.gcp.api import explaining
from tpuplane_twin.providers.gcp.bodies import dig
from tpuplane_twin.providers.gcp.resources.base import Update
from tpuplane_twin.providers.gcp.resources.compute import ComputeResource


class Network(ComputeResource):
    """A VPC network."""

    table_name = "network"
    collection = "projects/{project}/global/networks"
    kind = "Network"


class Subnetwork(ComputeResource):
    """A subnetwork of one region."""

    table_name = "subnetwork"
    collection = "projects/{project}/regions/{region}/subnetworks"
    kind = "Subnetwork"
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}

    def update(self, it: Update) -> Properties:  # noqa: D102
        kept = {item.get("rangeName") for item in it.planned.get("secondaryIpRanges") or []}
        if {item.get("rangeName") for item in it.prior.get("secondaryIpRanges") or []} - kept:
            # Removing and adding in one request is rejected, so ranges are removed first.
            url = self.url(it.resource_id)
            current = self.api.call("GET", url)
            ranges = [item for item in current.get("secondaryIpRanges", []) if item["rangeName"] in kept]
            body = {"secondaryIpRanges": ranges, "fingerprint": current.get("fingerprint")}
            with explaining(f'during removal step for Subnetwork "{it.resource_id}"'):
                self.wait(self.api.call("PATCH", url, body), it.planned, "Updating Subnetwork", it.deadline)
        return super().update(it)

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


class Router(ComputeResource):
    """A Cloud Router."""

    table_name = "router"
    collection = "projects/{project}/regions/{region}/routers"
    kind = "Router"
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}


class ResourcePolicy(ComputeResource):
    """A resource policy; TPU7x slices need a workload policy."""

    table_name = "resource_policy"
    collection = "projects/{project}/regions/{region}/resourcePolicies"
    kind = "ResourcePolicy"


class Firewall(ComputeResource):
    """A VPC firewall rule."""

    table_name = "firewall"
    collection = "projects/{project}/global/firewalls"
    kind = "Firewall"
    links: ClassVar[Mapping[str, str]] = {"network": "projects/{project}/global/networks"}

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
