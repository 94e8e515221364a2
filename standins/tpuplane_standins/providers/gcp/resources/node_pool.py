"""Node pools of a GKE cluster."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.api import ApiError, Deadline, Interrupted, OperationError, existing, explaining
from tpuplane_standins.providers.gcp.bodies import expand
from tpuplane_standins.providers.gcp.resources.base import Update, known, touched
from tpuplane_standins.providers.gcp.resources.gke import Call, GkeResource
from tpuplane_standins.providers.gcp.tables import Step
from tpuplane_standins.providers.values import UNKNOWN

_CLUSTER: Final = re.compile("projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/[^/]+")

# What a pool without nodeConfig runs with; GKE's own default is wider.
DEFAULT_SCOPES: Final = tuple(
    f"https://www.googleapis.com/auth/{scope}"
    for scope in (
        "devstorage.read_only",
        "logging.write",
        "monitoring",
        "service.management.readonly",
        "servicecontrol",
        "trace.append",
    )
)


class NodePool(GkeResource):
    """A node pool; its id is `projects/P/locations/L/clusters/C/nodePools/N`."""

    broken = frozenset({"ERROR", "RUNNING_WITH_ERROR"})

    def parent(self, properties: Mapping[str, Any]) -> str:
        """The cluster's path: from the full id if `cluster` has one, else from its name and the location."""
        cluster = str(properties["cluster"])
        if match := _CLUSTER.search(cluster):
            return match[0]
        return f"projects/{self.need_project(properties)}/locations/{self.location(properties)}/clusters/{cluster}"

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"{self.parent(properties)}/nodePools/{properties['name']}"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Location and project follow from the cluster's id when only that is given."""
        planned = super().plan(inputs, prior)
        cluster = planned.get("cluster")
        if prior is None and isinstance(cluster, str) and (match := _CLUSTER.search(cluster)):
            planned.update({"project": match["project"], "location": inputs.get("location", match["location"])})
        return planned

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        pool, parent = pool_body(self.table.fields, planned), self.parent(planned)
        resource_id = f"{parent}/nodePools/{pool['name']}"
        if self.api.find(self.url(resource_id)) is not None:
            raise ProviderError(f"resource - {resource_id} - already exists")
        try:
            operation = self.send(
                deadline, lambda: self.api.call("POST", self.url(f"{parent}/nodePools"), {"nodePool": pool})
            )
        except ApiError as error:
            raise ProviderError(f"error creating NodePool: {error}") from error
        try:
            self.wait(operation, parent, "creating GKE NodePool", deadline)
        except Interrupted as error:
            raise self.interrupted(error, operation, resource_id, planned, "NodePool") from error
        except OperationError:
            # A pool can exist although its operation failed (a stockout, say): then its own state decides.
            if self.api.find(self.url(resource_id)) is None:
                raise
        return resource_id, self.made(resource_id, planned, deadline)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        _, project, _, location, _, cluster, *_ = resource_id.split("/")
        parent = resource_id.partition("/nodePools/")[0]
        self.resume(prior, resource_id, "node pool")
        found = self.session.node_pools.get(resource_id, lambda: self._list(parent))
        if found is None:
            return None
        state = self.pool_state(self.table.fields, found, prior)
        state.update({"project": project, "location": location, "operation": ""})
        for name, default in (("cluster", cluster), ("deletionPolicy", "DELETE")):
            given = prior.get(name)
            state[name] = given if isinstance(given, str) else default
        return state

    def update(self, update: Update) -> Properties:  # noqa: D102
        if set(update.changed) - {"deletionPolicy"}:
            self.rest(update.resource_id, update.deadline)
            for call in self._calls(update):
                with self.session.lock(update.resource_id):
                    self.change(call, update.deadline)
            if touched(update.changed, "nodeCount"):
                self.forget_group_managers(update.planned)
            self._cluster_rests(update.resource_id, update.deadline)
            self.rest(update.resource_id, update.deadline)
            self.session.node_pools.drop(update.resource_id)
        return super().update(update)

    def _calls(self, update: Update) -> Iterator[Call]:
        """The requests of the official plugin: one per group of changes, in its order."""
        for step in self.table.steps:
            body = self._change(step, update) if touched(update.changed, *step.watch) else None
            if body is None:
                continue
            if step.by:
                body = {step.by: update.planned["name"], **body}
            what = f"node pool {(step.value or step.watch[0]).rpartition('.')[2]}"
            if step.target:
                yield Call("PUT", update.resource_id.partition("/nodePools/")[0], {"update": body}, what)
            elif step.verb:
                yield Call("POST", f"{update.resource_id}:{step.verb}", body, what)
            else:
                yield Call("PUT", update.resource_id, body, what)

    def _change(self, step: Step, update: Update) -> dict[str, Any] | None:
        path = step.value or step.watch[0]
        value, block = self.value(path, update.planned), update.planned.get(path) or {}
        match path:
            case "autoscaling" if value is not None:
                value = {"enabled": True, **value}
            case "management":
                value = {key: bool(block.get(key)) for key in ("autoRepair", "autoUpgrade")}
            case "upgradeSettings":
                surge = block.get("maxSurge") or block.get("maxUnavailable")
                if surge and block.get("strategy", "SURGE") != "SURGE":
                    raise ProviderError("Surge upgrade settings may not be changed when surge strategy is not enabled")
            case _ if not step.field:
                return self._machine(step.watch, update)
        return step.body(value)

    def _machine(self, watch: Sequence[str], update: Update) -> dict[str, Any]:
        """Machine and disk go together; of the two ways to say a disk's type and size only the changed one is sent."""
        properties = {"nodeConfig": known(update.planned.get("nodeConfig") or {})}
        body = {path.rpartition(".")[2]: self.value(path, properties) for path in watch}
        boot = body.get("bootDisk")
        if boot is not None:
            for top, inner in (("diskType", "diskType"), ("diskSizeGb", "sizeGb")):
                if not touched(update.changed, f"nodeConfig.{top}"):
                    body.pop(top)
                if not touched(update.changed, f"nodeConfig.bootDisk.{inner}"):
                    boot.pop(inner, None)
        if body.get("diskSizeGb"):
            body["diskSizeGb"] = str(body["diskSizeGb"])  # an int64 of this message, so a string in JSON
        return {name: value for name, value in body.items() if value or (name == "bootDisk" and value is not None)}

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if existing(lambda: self.rest(resource_id, deadline)) is None:
            return
        with explaining("deleting NodePool"):
            operation = self.send(deadline, lambda: self.api.call("DELETE", self.url(resource_id)))
        self.wait(operation, resource_id, "deleting GKE NodePool", deadline)
        self.session.node_pools.drop(resource_id)

    def _list(self, parent: str) -> dict[str, Any]:
        pools = (self.api.find(self.url(f"{parent}/nodePools")) or {}).get("nodePools", [])
        return {f"{parent}/nodePools/{pool['name']}": pool for pool in pools}

    def _cluster_rests(self, resource_id: str, deadline: Deadline) -> None:
        path = self.url(resource_id.partition("/nodePools/")[0])
        while self.api.call("GET", path).get("status") not in ("RUNNING", "ERROR", "DEGRADED") and not deadline.passed:
            self.api.pause(self.api.poll_seconds)


def pool_body(fields: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """The API's NodePool for planned properties of a pool, alone or inside a cluster."""
    properties = known(planned)
    if properties.get("name") and properties.get("namePrefix"):
        raise ProviderError("Cannot specify both name and name_prefix for a node_pool")
    count, initial = properties.get("nodeCount") or 0, properties.get("initialNodeCount") or 0
    if count and initial:
        raise ProviderError(
            f"Cannot set both initial_node_count and node_count on node pool {properties.get('name', '')}"
        )
    pool = expand(fields, properties)
    if count:
        pool["initialNodeCount"] = count
    if "autoscaling" in pool:
        pool["autoscaling"]["enabled"] = True
        for limit in ("minNodeCount", "maxNodeCount", "totalMinNodeCount", "totalMaxNodeCount"):
            pool["autoscaling"].setdefault(limit, 0)
    if "networkConfig" in pool:
        pool["networkConfig"].setdefault("enablePrivateNodes", False)
    pool.setdefault("networkConfig", {})
    if "config" in pool:
        pool["config"].setdefault("loggingConfig", {"variantConfig": {}})
    elif properties.get("nodeConfig") is None and planned.get("nodeConfig") in (None, UNKNOWN):
        pool["config"] = {"oauthScopes": list(DEFAULT_SCOPES)}
    return pool
