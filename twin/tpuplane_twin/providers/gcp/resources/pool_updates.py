"""An update of a node pool as the requests of the official plugin: one per group of changes, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tpuplane_twin.providers.contract import Change, Properties, ProviderError
from tpuplane_twin.providers.gcp.bodies import dig
from tpuplane_twin.providers.gcp.resources.base import known, touched
from tpuplane_twin.providers.gcp.resources.gke import Call, GkeResource

TO_CLUSTER: Final = "cluster"
"""The target of a request that changes a pool through its cluster."""


def calls(resource: GkeResource, planned: Properties, changed: Mapping[str, Change]) -> Iterator[Call]:
    """The requests for these changes."""
    if touched(changed, "autoscaling"):
        scaling = resource.value("autoscaling", planned)
        desired = {"enabled": True, **scaling} if scaling is not None else {}
        yield _through_cluster(planned, {"desiredNodePoolAutoscaling": desired})
    yield from _node_config(resource, planned, changed)
    yield from _size_and_management(planned, changed)
    yield from _pool(resource, planned, changed)


def _through_cluster(planned: Properties, update: Mapping[str, Any]) -> Call:
    return Call("PUT", TO_CLUSTER, {"update": {"desiredNodePoolId": planned["name"], **update}}, "node pool")


def _node_config(resource: GkeResource, planned: Properties, changed: Mapping[str, Change]) -> Iterator[Call]:
    for key in ("name", "nodePoolId"):
        for step in resource.table.steps:
            if step.by != key or not touched(changed, *step.watch):
                continue
            if step.field:
                body = step.body(resource.value(step.watch[0], planned))
            else:
                body = _machine(resource, step.watch, planned, changed)
            if body is not None:
                name = step.watch[0].rpartition(".")[2]
                yield Call("PUT", "", {key: planned["name"], **body}, f"node pool {name}")
        if key == "name" and touched(changed, "nodeConfig.imageType"):
            yield _through_cluster(planned, {"desiredImageType": dig(planned, "nodeConfig.imageType")})


def _size_and_management(planned: Properties, changed: Mapping[str, Change]) -> Iterator[Call]:
    if touched(changed, "nodeCount"):
        size = {"nodeCount": planned["nodeCount"]} if planned.get("nodeCount") else {}
        yield Call("POST", ":setSize", size, "node pool size")
    if touched(changed, "management"):
        block = planned.get("management") or {}
        management = {key: bool(block.get(key)) for key in ("autoRepair", "autoUpgrade")}
        yield Call("POST", ":setManagement", {"management": management}, "node pool management")


def _pool(resource: GkeResource, planned: Properties, changed: Mapping[str, Change]) -> Iterator[Call]:
    name = planned["name"]
    if touched(changed, "version"):
        body = {"nodePoolId": name, "nodeVersion": planned.get("version")}
        yield Call("PUT", "", body, "node pool version")
    if touched(changed, "nodeLocations"):
        yield Call("PUT", "", {"locations": planned.get("nodeLocations", [])}, "node pool node locations")
    if touched(changed, "upgradeSettings"):
        body = {"upgradeSettings": _upgrade_settings(resource, planned)}
        yield Call("PUT", "", body, "node pool upgrade settings")
    if touched(changed, "networkConfig.enablePrivateNodes", "networkConfig.networkPerformanceConfig"):
        body = {"nodePoolId": name, "nodeNetworkConfig": resource.value("networkConfig", planned) or {}}
        yield Call("PUT", "", body, "node pool network_config")
    if touched(changed, "nodeDrainConfigs"):
        body = {"nodeDrainConfig": resource.value("nodeDrainConfigs", planned) or {}}
        yield Call("PUT", "", body, "node pool node_drain_config")


def _upgrade_settings(resource: GkeResource, planned: Properties) -> Any:
    settings = planned.get("upgradeSettings") or {}
    if settings.get("strategy", "SURGE") != "SURGE" and (settings.get("maxSurge") or settings.get("maxUnavailable")):
        raise ProviderError("Surge upgrade settings may not be changed when surge strategy is not enabled")
    return resource.value("upgradeSettings", planned) or {}


def _machine(
    resource: GkeResource, watch: Sequence[str], planned: Properties, changed: Mapping[str, Change]
) -> dict[str, Any]:
    """Machine and disk go together; of the two ways to say a disk's type and size only the changed one is sent."""
    properties = {"nodeConfig": known(planned.get("nodeConfig") or {})}
    body = {path.rpartition(".")[2]: resource.value(path, properties) for path in watch}
    boot = body.get("bootDisk")
    if boot is not None:
        for top, inner in (("diskType", "diskType"), ("diskSizeGb", "sizeGb")):
            if not touched(changed, f"nodeConfig.{top}"):
                body.pop(top)
            if not touched(changed, f"nodeConfig.bootDisk.{inner}"):
                boot.pop(inner, None)
    if body.get("diskSizeGb"):
        body["diskSizeGb"] = str(body["diskSizeGb"])  # an int64 of this message, so a string in JSON
    return {name: value for name, value in body.items() if value or (name == "bootDisk" and value is not None)}
