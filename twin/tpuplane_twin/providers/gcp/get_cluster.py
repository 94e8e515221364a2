"""`getCluster`: a cluster that somebody else made, in the form that Terraform's data sources have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.resources.cluster import Cluster
from tpuplane_twin.providers.gcp.session import Session
from tpuplane_twin.providers.gcp.tables import Field
from tpuplane_twin.providers.values import Secret, reveal


def get_cluster(session: Session, args: Mapping[str, Any]) -> Properties:
    """The cluster of this name. Raises `ProviderError` if there is none, or no location to look in."""
    project = args.get("project") or session.project
    location = args.get("location") or session.zone or session.region
    if not location:
        raise ProviderError("Cannot determine location: set location in this data source or at provider-level")
    resource = Cluster(session)
    name = f"projects/{project}/locations/{location}/clusters/{args.get('name', '')}"
    found = resource.read(name, resource.import_properties(name))
    if found is None:
        raise ProviderError(f"{name} not found")
    return {**listed(resource.table.fields, reveal(found)), "id": name}


def listed(fields: Mapping[str, Field], value: Mapping[str, Any]) -> Properties:
    """An object in a data source's form: each object in it is a list of one, by the plural of its name."""
    result: Properties = {}
    for name, rule in fields.items():
        item = value.get(name)
        if rule.type == "object":
            items = [listed(rule.fields, item)] if isinstance(item, Mapping) else []
            result[plural(name)] = Secret(items) if rule.secret else items
        elif rule.element == "object":
            result[name] = [listed(rule.fields, entry) for entry in item or ()]
        elif item is not None:
            result[name] = Secret(item) if rule.secret else item
    return result


def plural(name: str) -> str:
    """The name of a list of these, as Pulumi's bridge makes it: `policy` is `policies`, `dnsConfig` is `dnsConfigs`."""
    if name.endswith("Status"):
        return f"{name}es"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
