"""Service Networking: private connections of networks with those of Google's services.

https://docs.cloud.google.com/service-infrastructure/docs/service-networking/reference/rest/v1/services.connections
"""

from tpuplane_twin.gcp.compute.networks import CONNECTION, PEERING
from tpuplane_twin.gcp.compute.others import RANGE
from tpuplane_twin.gcp.compute.peerings import Peerings
from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.handlers import Call, LongRunning
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json

INSTANCES = "lustre.instances"


class Connections(LongRunning):
    """services.connections: one for each network, with its name as the key."""

    kind, segment = CONNECTION, "connections"
    prefix, verbs = "servicenetworking.services.connections", "create list patch deleteConnection"
    operations, types = "servicenetworking.operations", "google.cloud.servicenetworking.v1"

    def create(self, call: Call) -> Json:
        """Connect a network, or connect it again with the same ranges."""
        before = self._store.get(self.kind, self._network(call.body.get("network", "")))
        if before is not None and before["reservedPeeringRanges"] != call.body.get("reservedPeeringRanges"):
            raise invalid("Cannot modify allocated ranges in CreateConnection. Please use UpdateConnection.")
        return self.patch(call)

    def list(self, call: Call) -> Json:
        """The connection of a network; none of a network that does not exist."""
        network = call.query.get("network")
        return {self.segment: [found for found in self._store.values(self.kind) if found["network"] == network]}

    def patch(self, call: Call) -> Json:
        """Replace the ranges of a network's connection, all of which are reserved in the network."""
        service, network = call.params["servicesId"], self._network(call.body.get("network", ""))
        ranges = call.body.get("reservedPeeringRanges", [])
        if not ranges:
            raise invalid("The reserved_peering_ranges must name at least one allocated IP range.")
        for name in ranges:
            found = self._store.get(RANGE, f"projects/{network.split('/')[1]}/global/addresses/{name}")
            if found is None or not found["network"].endswith(network):
                raise invalid(f"The network has no allocated IP range '{name}'.")
        peering = {"peering": PEERING, "service": f"services/{service}"}
        made = self.put(network, {"network": call.body["network"], "reservedPeeringRanges": ranges, **peering})
        Peerings(self._store).connect(network)
        return self.begun(call, "Connection", made)

    def delete_connection(self, call: Call) -> Json:
        """Remove the connection of a network, unless an instance uses it."""
        network = self._network(call.body.get("consumerNetwork", ""))
        if any(instance["network"] == network for instance in self._store.values(INSTANCES)):
            why = "Producer services (e.g. CloudSQL, Cloud Memstore, etc.) are still using this connection."
            raise ApiError("FAILED_PRECONDITION", f"Failed to delete connection; {why}")
        self._store.delete(self.kind, network)
        Peerings(self._store).disconnect(network)
        return self.begun(call)

    def _network(self, link: str) -> str:
        """The resource name of a network, which a request names by the number of its project."""
        for name, _ in self._store.items("compute.networks"):
            project = name.split("/")[1]
            if name.replace(project, project_number(project), 1) == link:
                return name
        raise ApiError("NOT_FOUND", f"The network {link} was not found; its name has the number of its project.")
