"""GKE clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tpuplane_twin.providers.contract import Change, Properties, ProviderError
from tpuplane_twin.providers.gcp.api import Deadline, Interrupted, OperationError, explaining
from tpuplane_twin.providers.gcp.resources.base import CreatedInError, Update, known, planned_labels
from tpuplane_twin.providers.gcp.resources.cluster_bodies import create_body, state_of
from tpuplane_twin.providers.gcp.resources.cluster_updates import calls, current_maintenance
from tpuplane_twin.providers.gcp.resources.gke import Call, GkeResource


class Cluster(GkeResource):
    """A cluster; its id is `projects/P/locations/L/clusters/N`."""

    table_name = "cluster"
    resting = frozenset({"RUNNING"})
    broken = frozenset({"ERROR", "DEGRADED"})

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        project, location = self.need_project(properties), properties["location"]
        return f"projects/{project}/locations/{location}/clusters/{properties['name']}"

    def import_properties(self, resource_id: str) -> Properties:
        """An imported cluster is protected until the program says otherwise."""
        return {**super().import_properties(resource_id), "deletionProtection": True}

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Adds the labels the resource will have: the user's, the provider's defaults, and the attribution."""
        planned = super().plan(inputs, prior)
        return {**planned, **planned_labels(self.session, inputs.get("resourceLabels"), prior)}

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        place = f"projects/{self.need_project(planned)}/locations/{self.location(planned)}"
        resource_id = f"{place}/clusters/{planned['name']}"
        url = self.url(resource_id)
        with self.session.lock(resource_id):
            # The official plugin looks for a maintenance policy to take over before it creates.
            policy = current_maintenance(self, resource_id, planned)
            body = create_body(self.table.fields, planned, policy, self.session, place)
            operation = self.api.call("POST", self.url(f"{place}/clusters"), {"cluster": body})
            try:
                self.wait(operation, place, "creating GKE cluster", deadline)
                if planned.get("removeDefaultNodePool"):
                    removal = self.api.call("DELETE", f"{url}/nodePools/default-pool")
                    self.wait(removal, place, "removing default node pool", deadline)
            except Interrupted as error:
                # Into the state with it, for the next deployment to take up: otherwise that would find its name taken.
                state = {**known(planned), "operation": operation["name"]}
                message = f"interrupted while creating GKE cluster: {error}"
                raise CreatedInError(resource_id, state, message) from error
            except OperationError as error:
                if not self.exists(resource_id):
                    raise
                raise CreatedInError(resource_id, known(planned), str(error)) from error
        return resource_id, self.made(resource_id, planned, "Cluster", deadline)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        place = resource_id.partition("/clusters/")[0]
        if isinstance(prior.get("operation"), str) and prior["operation"]:
            deadline = Deadline.after(self.table.timeouts["read"] * 60)
            self.wait({"name": prior["operation"]}, place, "resuming GKE cluster", deadline)
        found = self.api.find(self.url(resource_id))
        if found is None:
            return None
        state = state_of(self.table.fields, found, prior)
        pools = found.get("nodePools", []) if not prior.get("skipNodePoolRefresh") else []
        known_pools = prior.get("nodePools")
        before = known_pools if isinstance(known_pools, list) else []
        fields = self.table.fields["nodePools"].fields
        state["nodePools"] = [
            self.pool_state(fields, pool, before[index] if index < len(before) else None)
            for index, pool in enumerate(pools)
        ]
        state["project"] = place.split("/")[1]
        return state

    def update(self, it: Update) -> Properties:  # noqa: D102
        if set(it.changed) - {"deletionPolicy"}:
            self.rest(it.resource_id, it.deadline)
            with self.session.lock(it.resource_id):
                for call in calls(self, it.resource_id, it.prior, it.planned, it.changed):
                    self._send(it.resource_id, call, it.deadline)
            self.rest(it.resource_id, it.deadline)
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if state.get("deletionProtection", True):
            raise ProviderError(
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion."
            )
        if not self.rests(resource_id, deadline):
            return
        with self.session.lock(resource_id):
            with explaining("deleting Cluster"):
                operation = self.api.retry(
                    Deadline.after(30), lambda: self.api.call("DELETE", self.url(resource_id)), lambda error: True
                )
            self.wait(operation, resource_id.partition("/clusters/")[0], "deleting GKE cluster", deadline)

    def _send(self, resource_id: str, call: Call, deadline: Deadline) -> None:
        url = self.url(resource_id + call.target)
        operation = self.send(deadline, lambda: self.api.call(call.method, url, call.body))
        self.wait(operation, resource_id.partition("/clusters/")[0], f"updating {call.what}", deadline)

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """Two switches cannot be turned off again in place."""
        changes = super().diff(prior, planned)
        for name in ("enableL4IlbSubsetting", "enableFqdnNetworkPolicy"):
            if name in changes and prior.get(name) and not planned.get(name):
                changes[name] = Change(changes[name].action, replaces=True)
        return changes
