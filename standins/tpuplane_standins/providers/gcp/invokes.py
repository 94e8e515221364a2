"""The functions that programs call: the provider's configuration, GKE's versions, existing clusters and groups."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.resources.cluster import Cluster
from tpuplane_standins.providers.gcp.session import Session
from tpuplane_standins.providers.gcp.tables import Field
from tpuplane_standins.providers.values import Secret, reveal


def invoke(session: Session, token: str, args: Mapping[str, Any]) -> Properties:
    """The result of one function. Raises `ProviderError` for one that is not served."""
    try:
        function = _FUNCTIONS[token]
    except KeyError:
        raise ProviderError(
            f"unrecognized data function: {token}; this stand-in for the gcp provider serves {', '.join(_FUNCTIONS)}"
        ) from None
    return function(session, args)


def _client_config(session: Session, args: Mapping[str, Any]) -> Properties:
    """No request: what the provider was configured with."""
    return {
        "accessToken": Secret(session.api.token),
        "defaultLabels": session.default_labels,
        "id": f'projects/"{session.project}"/regions/"{session.region}"/zones/"{session.zone}"',
        "project": session.project,
        "region": session.region,
        "zone": session.zone,
    }


def _engine_versions(session: Session, args: Mapping[str, Any]) -> Properties:
    project, location = _place(args, session.project, session.region or session.zone)
    url = f"{session.endpoints['container']}projects/{project}/locations/{location}/serverConfig"
    found = session.api.call("GET", url)
    prefix = args.get("versionPrefix") or ""
    masters = [version for version in found.get("validMasterVersions", []) if version.startswith(prefix)]
    nodes = [version for version in found.get("validNodeVersions", []) if version.startswith(prefix)]
    channels = found.get("channels", [])
    result: Properties = {
        "defaultClusterVersion": found.get("defaultClusterVersion", ""),
        "id": project,
        "latestMasterVersion": masters[0] if masters else "",
        "latestNodeVersion": nodes[0] if nodes else "",
        "location": location,
        "project": project,
        "releaseChannelDefaultVersion": {item["channel"]: item.get("defaultVersion", "") for item in channels},
        "releaseChannelLatestVersion": {item["channel"]: (item.get("validVersions") or [""])[0] for item in channels},
        "releaseChannelUpgradeTargetVersion": {
            item["channel"]: item.get("upgradeTargetVersion", "") for item in channels
        },
        "validMasterVersions": masters,
        "validNodeVersions": nodes,
    }
    if prefix:
        result["versionPrefix"] = prefix
    return result


def get_cluster(session: Session, args: Mapping[str, Any]) -> Properties:
    """The cluster of this name. Raises `ProviderError` if there is none, or no location to look in."""
    project, location = _place(args, session.project, session.zone or session.region)
    resource = Cluster(session, "cluster")
    name = f"projects/{project}/locations/{location}/clusters/{args.get('name', '')}"
    found = resource.read(name, resource.import_properties(name))
    if found is None:
        raise ProviderError(f"{name} not found")
    return {**listed(resource.table.fields, reveal(found)), "id": name}


def _project(session: Session, args: Mapping[str, Any]) -> Properties:
    """The project of this id, or the provider's."""
    project = args.get("projectId") or session.project
    found = session.api.find(f"{session.endpoints['resourceManager']}projects/{project}")
    if found is None:
        raise ProviderError(f"projects/{project} not found or not in ACTIVE state")
    return {
        "id": f"projects/{project}",
        "projectId": project,
        "name": found["name"],
        "number": found["projectNumber"],
        "effectiveLabels": found.get("labels", {}),
    }


def _instance_groups(session: Session, args: Mapping[str, Any]) -> Properties:
    project, zone = args.get("project") or session.project, args.get("zone") or session.zone
    path = f"projects/{project}/zones/{zone}/instanceGroups"
    groups = session.api.call("GET", session.endpoints["compute"] + path).get("items", ())
    made = {"description": "", "network": "", "namedPorts": [], "size": 0}
    own = [{**made, **{key: group[key] for key in ("name", *made, "selfLink") if key in group}} for group in groups]
    places = {"project": project, "zone": zone}
    return {"id": path, **places, "filter": "", "instanceGroups": [{**group, **places} for group in own]}


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


def _place(args: Mapping[str, Any], project: str, location: str) -> tuple[str, str]:
    """Project and location: the arguments', else the provider's."""
    location = args.get("location") or location
    if not location:
        raise ProviderError("Cannot determine location: set location in this data source or at provider-level")
    return args.get("project") or project, location


_FUNCTIONS: Final[dict[str, Callable[[Session, Mapping[str, Any]], Properties]]] = {
    "gcp:organizations/getClientConfig:getClientConfig": _client_config,
    "gcp:organizations/getProject:getProject": _project,
    "gcp:compute/getInstanceGroups:getInstanceGroups": _instance_groups,
    "gcp:container/getCluster:getCluster": get_cluster,
    "gcp:container/getEngineVersions:getEngineVersions": _engine_versions,
}
