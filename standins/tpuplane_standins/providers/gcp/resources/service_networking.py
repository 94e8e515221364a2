# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Service Networking: the connection of a network with those of Google's services."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.api import Deadline, explaining
from tpuplane_standins.providers.gcp.resources.base import Update, touched
from tpuplane_standins.providers.gcp.resources.rest import LongRunning

_DELETED = "servicenetworking-googleapis-com"
"""The connection in the path of a deletion, whichever its service is: the body names the network."""
_FORCED_UPDATE = {"updateMask": "reservedPeeringRanges", "force": "true"}


class Connection(LongRunning):
    """A connection; its id is `NETWORK:SERVICE`, both quoted. The API names a network by the number of its project."""

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        with explaining("creating Service Networking Connection"):
            answer = self.api.call("POST", self.url(self.collection(planned)), self.body(planned))
            self.wait(answer, planned, "Create Service Networking Connection", deadline)
        return self.created(":".join(quote(str(planned[name]), safe="") for name in ("network", "service")), planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        network, service = (unquote(part) for part in resource_id.split(":"))
        place = {**prior, "network": network, "service": service}
        query = {"network": self._network(place)}
        listed = self.api.call("GET", self.url(self.collection(place)), query=query).get("connections", [])
        found = next((item for item in listed if item["network"] == query["network"]), None)
        return None if found is None else self.state(found, place)

    def update(self, update: Update) -> Properties:
        if touched(update.changed, "reservedPeeringRanges"):
            url = self.url(f"{self.collection(update.planned)}/-")
            answer = self.api.call("PATCH", url, self.body(update.planned), query=_FORCED_UPDATE)
            self.wait(answer, update.planned, "Update Service Networking Connection", update.deadline)
        return self.read(update.resource_id, update.planned) or update.planned

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        with explaining("removing Service Networking Connection"):
            url = self.url(f"{self.collection(state)}/{_DELETED}")
            answer = self.api.call("POST", url, {"consumerNetwork": self._network(state)})
            self.wait(answer, state, "Delete Service Networking Connection", deadline)

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        return {"network": self._network(properties), "reservedPeeringRanges": properties["reservedPeeringRanges"]}

    def _network(self, properties: Mapping[str, Any]) -> str:
        *path, name = str(properties["network"]).split("/")
        project = path[path.index("projects") + 1] if "projects" in path else self.session.project
        url = f"{self.session.endpoints['resourceManager']}projects/{project}"
        return f"projects/{self.api.call('GET', url)['projectNumber']}/global/networks/{name}"
