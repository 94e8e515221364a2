"""What clusters and node pools share: operations, resting states, labels, instance groups."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from tpuplane_standins.providers.contract import InitFailed, Properties, ProviderError
from tpuplane_standins.providers.gcp.api import Deadline, Interrupted
from tpuplane_standins.providers.gcp.bodies import dig, expand_one, flatten
from tpuplane_standins.providers.gcp.resources.base import Resource, known
from tpuplane_standins.providers.gcp.tables import Field
from tpuplane_standins.providers.values import UNKNOWN

_GROUP_MANAGER: Final = re.compile(
    r"projects/(?P<project>[^/]+)/zones/(?P<zone>[^/]+)/instanceGroupManagers/(?P<name>[^/]+)$"
)


class Call(NamedTuple):
    """One request of an update."""

    method: str
    path: str
    body: Any
    what: str


class GkeResource(Resource):
    """Requests to the Container API below one cluster."""

    broken: ClassVar[frozenset[str]]
    """States in which nothing is under way and something is wrong."""

    def location(self, properties: Mapping[str, Any]) -> str:
        """The region or zone: the resource's own, else the provider's."""
        location = properties.get("location") or self.session.region or self.session.zone
        if not location:
            raise ProviderError("Unable to determine location: region/zone not configured in resource/provider config")
        return str(location).rpartition("/")[2]

    def wait(self, operation: Mapping[str, Any], path: str, activity: str, deadline: Deadline) -> None:
        """Poll an operation on a cluster or pool until it is done."""
        place = path.partition("/clusters/")[0]
        url = self.url(f"{place}/operations/{operation['name']}")
        self.api.wait(operation, url, activity, deadline, gke=True)

    def resume(self, prior: Properties, path: str, what: str) -> None:
        """Wait for the operation of an interrupted creation."""
        operation = prior.get("operation")
        if isinstance(operation, str) and operation:
            deadline = Deadline(self.table.timeouts["create"] * 60)
            self.wait({"name": operation}, path, f"resuming GKE {what}", deadline)

    def change(self, call: Call, deadline: Deadline) -> None:
        """Send one request of an update, and wait until it is carried out."""
        operation = self.send(deadline, lambda: self.api.call(call.method, self.url(call.path), call.body))
        self.wait(operation, call.path, f"updating GKE {call.what}", deadline)

    def interrupted(
        self, error: Interrupted, operation: Mapping[str, Any], resource_id: str, planned: Properties, what: str
    ) -> InitFailed:
        """The error that keeps a cluster or pool in the state, so that the next deployment continues its creation."""
        state = {**known(planned), "operation": operation["name"]}
        return InitFailed(f"interrupted while creating GKE {what}: {error}", resource_id, state)

    def rest(self, path: str, deadline: Deadline) -> str:
        """Wait until a cluster or pool rests; its state. Raises `ApiError` when it does not exist."""
        while True:
            found = self.api.call("GET", self.url(path))
            state = str(found.get("status", ""))
            if state == "RUNNING" or state in self.broken:
                return state
            if deadline.passed:
                raise ProviderError(f'"{path}" has state "{state}" with message "{found.get("statusMessage", "")}"')
            self.api.pause(self.api.poll_seconds)

    def made(self, resource_id: str, planned: Properties, deadline: Deadline) -> Properties:
        """The state of what was created, once it rests. Raises `InitFailed` where it rests broken."""
        _, found = self.created(resource_id, planned)
        status = self.rest(resource_id, deadline)
        if status in self.broken:
            message = f'{self.table.kind} {planned["name"]} was created in the error state "{status}"'
            raise InitFailed(message, resource_id, found)
        return found

    def send(self, deadline: Deadline, call: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """A mutating call, repeated while GKE is busy with another operation on the same cluster or pool."""
        return self.api.retry(deadline, call, lambda error: error.busy)

    def value(self, path: str, properties: Mapping[str, Any]) -> Any:
        """The API form of the property at a path without indices; None when it is not set or not known."""
        rule, value = self.rule(path), dig(properties, path)
        return None if value is None or value is UNKNOWN else expand_one(rule, value)

    def rule(self, path: str) -> Field:
        """The table's rule at a property path."""
        first, *rest = path.split(".")
        rule = self.table.fields[first]
        for part in rest:
            rule = rule.fields[part]
        return rule

    def pool_state(self, fields: Mapping[str, Field], found: Mapping[str, Any], prior: Any) -> Properties:
        """The state of a node pool, alone or inside a cluster: with its node count and only the user's own taints."""
        prior = prior if isinstance(prior, Mapping) else {}
        state = flatten(fields, found)
        if not dig(found, "autoscaling.enabled"):
            state.pop("autoscaling", None)
        managers = self._group_managers(found)
        state["instanceGroupUrls"] = list(managers)
        state["managedInstanceGroupUrls"] = [manager["instanceGroup"] for manager in managers.values()]
        size = sum(int(manager.get("targetSize", 0)) for manager in managers.values())
        if prior.get("ignoreNodeCountChanges"):
            state["nodeCount"] = prior.get("nodeCount", found.get("initialNodeCount", 0))
        else:
            state["nodeCount"] = size // len(managers) if managers else 0
        for name in ("namePrefix", "ignoreNodeCountChanges"):
            if isinstance(prior.get(name), str | bool):
                state[name] = prior[name]
        if isinstance(state.get("nodeConfig"), dict):
            keep_own_taints(state["nodeConfig"], prior.get("nodeConfig"))
        return state

    def _group_managers(self, pool: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """The existing instance group managers that a pool names, by their URLs."""
        result = {}
        for url in pool.get("instanceGroupUrls", []):
            match = _GROUP_MANAGER.search(url)
            if match is None:
                raise ProviderError(f"Error reading instance group manage URL '{url}'")
            zone = f"projects/{match['project']}/zones/{match['zone']}/instanceGroupManagers"
            if manager := self.session.group_managers.get(match[0], partial(self._list_managers, zone)):
                result[url] = manager
        return result

    def forget_group_managers(self, properties: Mapping[str, Any]) -> None:
        """After a resize: the sizes that are kept are old."""
        for url in properties.get("instanceGroupUrls") or []:
            if match := _GROUP_MANAGER.search(url):
                self.session.group_managers.drop(match[0])

    def _list_managers(self, zone: str) -> dict[str, Any]:
        found = self.api.find(self.session.endpoints["compute"] + zone) or {}
        return {f"{zone}/{item['name']}": item for item in found.get("items", [])}


def keep_own_taints(state: dict[str, Any], prior: Any) -> None:
    """Leave out of `taints` what GKE added itself; `effectiveTaints` has them all."""
    own = prior.get("taints") if isinstance(prior, Mapping) else None
    wanted = [_taint(item) for item in own or [] if isinstance(item, Mapping)]
    state["taints"] = [item for item in state.get("taints", []) if _taint(item) in wanted]
    state["taints"].sort(key=lambda item: wanted.index(_taint(item)))


def _taint(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return item.get("key"), item.get("value"), item.get("effect")
