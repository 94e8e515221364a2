"""Node pools of a GKE cluster."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError, Deadline, Interrupted, OperationError, explaining
from tpuplane_twin.providers.gcp.bodies import expand
from tpuplane_twin.providers.gcp.resources.base import CreatedInError, Update, known, touched
from tpuplane_twin.providers.gcp.resources.gke import Call, GkeResource
from tpuplane_twin.providers.gcp.resources.pool_updates import TO_CLUSTER, calls
from tpuplane_twin.providers.values import UNKNOWN

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

    table_name = "node_pool"
    resting = frozenset({"RUNNING"})
    broken = frozenset({"ERROR", "RUNNING_WITH_ERROR"})

    def parent(self, properties: Mapping[str, Any]) -> str:
        """The cluster's path: from its full id if `cluster` is one, else from its name and the location."""
        cluster = str(properties["cluster"])
        if cluster.startswith("projects/"):
            return cluster
        return f"{self._place(properties)}/clusters/{cluster}"

    def _place(self, properties: Mapping[str, Any]) -> str:
        cluster = str(properties["cluster"])
        if cluster.startswith("projects/"):
            return cluster.partition("/clusters/")[0]
        return f"projects/{self.need_project(properties)}/locations/{self.location(properties)}"

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"{self.parent(properties)}/nodePools/{properties['name']}"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Location and project follow from the cluster's id when only that is given."""
        planned = super().plan(inputs, prior)
        cluster = planned.get("cluster")
        if prior is None and isinstance(cluster, str) and cluster.startswith("projects/"):
            _, project, _, location, *_ = cluster.split("/")
            planned.update({"project": project, "location": inputs.get("location", location)})
        return planned

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        pool = self._body(planned)
        parent, place = self.parent(planned), self._place(planned)
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
            self.wait(operation, place, "creating GKE NodePool", deadline)
        except Interrupted as error:
            state = {**known(planned), "operation": operation["name"]}
            message = f"interrupted while creating GKE NodePool: {error}"
            raise CreatedInError(resource_id, state, message) from error
        except OperationError:
            # A pool can exist although its operation failed (a stockout, say): then its own state decides.
            if not self.exists(resource_id):
                raise
        return resource_id, self.made(resource_id, {**planned, "name": pool["name"]}, "NodePool", deadline)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        parent = resource_id.partition("/nodePools/")[0]
        place, _, cluster = parent.partition("/clusters/")
        _, project, _, location = place.split("/")
        deadline = Deadline.after(self.table.timeouts["create"] * 60)
        if isinstance(prior.get("operation"), str) and prior["operation"]:
            self.wait({"name": prior["operation"]}, place, "resuming GKE node pool", deadline)
        found = self.session.node_pools.get(resource_id, lambda: self._list(parent))
        if found is None:
            return None
        state = self.pool_state(self.table.fields, found, prior)
        state.update({"project": project, "location": location, "operation": ""})
        given = prior.get("cluster")
        state["cluster"] = given if isinstance(given, str) else cluster
        policy = prior.get("deletionPolicy")
        state["deletionPolicy"] = policy if isinstance(policy, str) else "DELETE"
        return state

    def update(self, it: Update) -> Properties:  # noqa: D102
        if set(it.changed) - {"deletionPolicy"}:
            self.rest(it.resource_id, it.deadline)
            for call in calls(self, it.planned, it.changed):
                self._send(it.resource_id, call, it.deadline)
            if touched(it.changed, "nodeCount"):
                self.forget_group_managers(it.planned)
            self._cluster_rests(it.resource_id, it.deadline)
            self.rest(it.resource_id, it.deadline)
            self.session.node_pools.drop(it.resource_id)
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if not self.rests(resource_id, deadline):
            return
        with explaining("deleting NodePool"):
            operation = self.send(deadline, lambda: self.api.call("DELETE", self.url(resource_id)))
        self.wait(operation, resource_id.partition("/clusters/")[0], "deleting GKE NodePool", deadline)
        self.session.node_pools.drop(resource_id)

    def _list(self, parent: str) -> dict[str, Any]:
        pools = (self.api.find(self.url(f"{parent}/nodePools")) or {}).get("nodePools", [])
        return {f"{parent}/nodePools/{pool['name']}": pool for pool in pools}

    def _cluster_rests(self, resource_id: str, deadline: Deadline) -> None:
        path = self.url(resource_id.partition("/nodePools/")[0])
        while self.api.call("GET", path).get("status") not in ("RUNNING", "ERROR", "DEGRADED") and not deadline.passed:
            self.api.pause(self.api.poll_seconds)

    def _body(self, planned: Properties) -> dict[str, Any]:
        pool = pool_body(self.table.fields, planned)
        if "name" not in pool:
            prefix = planned.get("namePrefix")
            stamp = time.strftime("%Y%m%d%H%M%S") + secrets.token_hex(4)
            pool["name"] = (prefix if isinstance(prefix, str) else "pool-") + stamp
        return pool

    def _send(self, resource_id: str, call: Call, deadline: Deadline) -> None:
        parent = resource_id.partition("/nodePools/")[0]
        path = parent if call.target == TO_CLUSTER else resource_id + call.target
        with self.session.lock(resource_id):
            operation = self.send(deadline, lambda: self.api.call(call.method, self.url(path), call.body))
            self.wait(operation, parent.partition("/clusters/")[0], f"updating GKE {call.what}", deadline)


def pool_body(fields: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """The API's NodePool for planned properties of a pool, alone or inside a cluster."""
    properties = known(planned)
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
