"""The functions that programs call: who am I, and which GKE versions are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.get_cluster import get_cluster
from tpuplane_twin.providers.gcp.session import Session
from tpuplane_twin.providers.values import Secret


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
    project = args.get("project") or session.project
    location = args.get("location") or session.region or session.zone
    if not location:
        raise ProviderError("Cannot determine location: set location in this data source or at provider-level")
    url = f"{session.container}projects/{project}/locations/{location}/serverConfig"
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


_FUNCTIONS: Final[dict[str, Callable[[Session, Mapping[str, Any]], Properties]]] = {
    "gcp:organizations/getClientConfig:getClientConfig": _client_config,
    "gcp:container/getCluster:getCluster": get_cluster,
    "gcp:container/getEngineVersions:getEngineVersions": _engine_versions,
}
