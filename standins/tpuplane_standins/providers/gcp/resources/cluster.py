"""GKE clusters."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tpuplane_standins.providers.contract import Change, InitFailed, Properties, ProviderError
from tpuplane_standins.providers.gcp.api import ApiError, Deadline, Interrupted, OperationError, existing, explaining
from tpuplane_standins.providers.gcp.resources.base import Update, known, planned_labels, touched
from tpuplane_standins.providers.gcp.resources.cluster_bodies import (
    complete,
    create_body,
    endpoints,
    maintenance,
    reject,
    unserved,
)
from tpuplane_standins.providers.gcp.resources.gke import Call, GkeResource
from tpuplane_standins.providers.gcp.tables import Step

# What only the state has; the labels are sent as `effectiveLabels`.
_OWN: Final = frozenset(
    {
        "deletionPolicy",
        "deletionProtection",
        "ignoreNodeCountChanges",
        "removeDefaultNodePool",
        "resourceLabels",
        "skipNodePoolRefresh",
    }
)
ONE_WAY: Final = ("enableFqdnNetworkPolicy", "enableL4IlbSubsetting")
"""Switches that cannot be turned off again in place."""


class Cluster(GkeResource):
    """A cluster; its id is `projects/P/locations/L/clusters/N`."""

    broken = frozenset({"ERROR", "DEGRADED"})

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        project, location = self.need_project(properties), properties["location"]
        return f"projects/{project}/locations/{location}/clusters/{properties['name']}"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Adds the labels the resource will have: the user's, the provider's defaults, and the attribution."""
        planned = super().plan(inputs, prior)
        return {**planned, **planned_labels(self.session, inputs.get("resourceLabels"), prior)}

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        place = f"projects/{self.need_project(planned)}/locations/{self.location(planned)}"
        resource_id = f"{place}/clusters/{planned['name']}"
        with self.session.lock(resource_id):
            # The official plugin looks for a maintenance policy to take over before it creates.
            policy = self._maintenance(resource_id, planned)
            body = create_body(self.table.fields, planned, policy, place)
            operation = self.api.call("POST", self.url(f"{place}/clusters"), {"cluster": body})
            try:
                self.wait(operation, resource_id, "creating GKE cluster", deadline)
                if planned.get("removeDefaultNodePool"):
                    operation = self.api.call("DELETE", f"{self.url(resource_id)}/nodePools/default-pool")
                    self.wait(operation, resource_id, "removing default node pool", deadline)
            except Interrupted as error:
                raise self.interrupted(error, operation, resource_id, planned, "cluster") from error
            except OperationError as error:
                if self.api.find(self.url(resource_id)) is None:
                    raise
                raise InitFailed(str(error), resource_id, known(planned)) from error
        return resource_id, self.made(resource_id, planned, deadline)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        self.resume(prior, resource_id, "cluster")
        found = self.api.find(self.url(resource_id))
        if found is None:
            return None
        state = self.state(found, prior)
        complete(state, found, prior)
        pools = found.get("nodePools", []) if not prior.get("skipNodePoolRefresh") else []
        known_pools = prior.get("nodePools")
        before = known_pools if isinstance(known_pools, list) else []
        fields = self.table.fields["nodePools"].fields
        state["nodePools"] = [
            self.pool_state(fields, pool, before[index] if index < len(before) else None)
            for index, pool in enumerate(pools)
        ]
        state["project"] = resource_id.split("/")[1]
        return state

    def update(self, update: Update) -> Properties:  # noqa: D102
        carried = {*_OWN, *(path for step in self.table.steps for path in step.watch)}
        reject(list(unserved(self.table.fields, update.prior, update.planned, update.changed, carried)))
        if set(update.changed) - {"deletionPolicy"}:
            self.rest(update.resource_id, update.deadline)
            with self.session.lock(update.resource_id):
                for call in self._calls(update):
                    self.change(call, update.deadline)
            self.rest(update.resource_id, update.deadline)
        return super().update(update)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if state.get("deletionProtection", True):
            raise ProviderError(
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion."
            )
        if existing(lambda: self.rest(resource_id, deadline)) is None:
            return
        with self.session.lock(resource_id):
            with explaining("deleting Cluster"):
                operation = self.api.retry(
                    Deadline(30), lambda: self.api.call("DELETE", self.url(resource_id)), lambda error: True
                )
            self.wait(operation, resource_id, "deleting GKE cluster", deadline)

    def diff(self, prior: Properties, planned: Properties) -> dict[str, Change]:
        """The switches of `ONE_WAY`, and the rules of the table."""
        changes = super().diff(prior, planned)
        for name in ONE_WAY:
            if name in changes and prior.get(name) and not planned.get(name):
                changes[name] = Change(changes[name].action, replaces=True)
        return changes

    def send(self, deadline: Deadline, call: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """A change of a cluster, sent once: it rests, so that a rejection is lasting, as that of an old fingerprint."""
        return call()

    def _maintenance(self, resource_id: str, planned: Properties) -> dict[str, Any] | None:
        """The planned maintenance policy on the version that the API has now, which takes a separate request."""
        try:
            current = self.api.call("GET", self.url(resource_id)).get("maintenancePolicy") or {}
        except ApiError:
            current = {}
        return maintenance(known(planned).get("maintenancePolicy"), current)

    def _calls(self, update: Update) -> Iterator[Call]:
        """The requests of the official plugin, in its order."""
        for step in self.table.steps:
            if any(self._changed(path, update) for path in step.watch):
                what = f"cluster {self.rule(step.watch[0]).tf}"
                for body in self._changes(step, update):
                    if step.verb:
                        yield Call("POST", f"{update.resource_id}:{step.verb}", body, what)
                    else:
                        yield Call("PUT", update.resource_id, {"update": body}, what)
        if touched(update.changed, "removeDefaultNodePool") and update.planned.get("removeDefaultNodePool"):
            # On an existing cluster the pool may already be deleted.
            path = f"{update.resource_id}/nodePools/default-pool"
            if self.api.find(self.url(path)) is not None:
                yield Call("DELETE", path, None, "default node pool")

    def _changed(self, path: str, update: Update) -> bool:
        """Whether a property changed, also where the change is that of a block with other properties."""
        before, after = (self.value(path, side) for side in (update.prior, update.planned))
        if self.rule(path).type != "object":  # an empty object is a setting
            before, after = before or None, after or None
        return touched(update.changed, path) and before != after

    def _changes(self, step: Step, update: Update) -> Iterator[dict[str, Any]]:
        planned, value = update.planned, self.value(step.watch[0], update.planned)
        match step.field:
            case "desiredControlPlaneEndpointsConfig":
                yield {step.field: endpoints(known(planned))}
            case "desiredLocations":
                for zones in _zones(self.location(planned), update.prior, planned):
                    yield {step.field: sorted(zones)}
            case "desiredMonitoringService":
                yield {step.field: value, "desiredLoggingService": planned.get("loggingService")}
            case "maintenancePolicy":
                yield {step.field: self._maintenance(update.resource_id, planned)}
            case "resourceLabels":
                fingerprint = planned.get("labelFingerprint")
                yield {"labelFingerprint": fingerprint, step.field: planned["effectiveLabels"]}
            case "desiredMasterVersion" if value and not _newer(value, str(planned.get("masterVersion", ""))):
                return
            case _ if value == {} and step.absent is None:  # a block that turns everything off
                yield step.carry(value)
            case _:
                if (body := step.body(value)) is not None:
                    yield body


def _zones(location: str, prior: Properties, planned: Properties) -> Iterator[set[str]]:
    """Zones are added first and removed in a second request; a zonal cluster's own zone is always among them."""
    own = {location} if location.count("-") == 2 else set()
    if location in planned.get("nodeLocations", []):
        raise ProviderError("for multi-zonal clusters, node_locations should not contain the primary 'zone'")
    wanted = {*planned.get("nodeLocations", []), *own}
    union = wanted | set(prior.get("nodeLocations", []))
    yield union
    if union != wanted:
        yield wanted


def _newer(wanted: str, current: str) -> bool:
    def parts(version: str) -> list[int]:
        return [int(part) for part in version.replace("-gke.", ".").split(".") if part.isdigit()]

    return parts(current) < parts(wanted)
