"""Peerings of networks: https://docs.cloud.google.com/vpc/docs/vpc-peering. The twin sends no packets through them."""

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.networks import CONNECTION, PEERING, Networks, blocks_of
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import Call, Handler, methods
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class Peerings:
    """The entries `peerings` of networks, by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._networks = Networks(store)

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id."""
        return methods("compute.networks", self, "addPeering updatePeering removePeering")

    def add_peering(self, call: Call) -> Json:
        """Peer with a network, which may be in a project that is not on the twin."""
        key, asked = self._networks.key(call), call.body.get("networkPeering", {})
        name, before = resources.check_name(asked.get("name")), self._of(key)
        if not asked.get("network"):
            raise resources.required("networkPeering.network")
        peer = resources.key_of(asked["network"], call.params["project"])
        if peer == key:
            raise invalid(f"The network '{key}' cannot peer with itself.")
        if name in before or any(other["network"] == resources.BASE + peer for other in before.values()):
            raise invalid(f"The network '{key}' already has a peering '{name}', or one with the network '{peer}'.")
        theirs = list(blocks_of(self._store, peer))
        for block in blocks_of(self._store, key):
            if any(map(block.overlaps, theirs)):
                raise invalid(f"The range {block} of the network '{key}' overlaps with one of the network '{peer}'.")
        return self._done(call, before | {name: _peering(asked, peer)})

    def update_peering(self, call: Call) -> Json:
        """Change which routes a peering exchanges."""
        asked: Json = call.body.get("networkPeering", {})
        name, before = self._named(call, asked.get("name"))
        return self._done(call, before | {name: {**before[name], **asked, "network": before[name]["network"]}})

    def remove_peering(self, call: Call) -> Json:
        """Remove a peering. That of private services access takes the connection with it."""
        name, before = self._named(call, call.body.get("name"))
        if name == PEERING:
            self._store.delete(CONNECTION, self._networks.key(call))
        del before[name]
        return self._done(call, before)

    def connect(self, network: str) -> None:
        """Give a network the peering of private services access, if it has none."""
        peer = f"projects/n{project_number(network.split('/')[1])}-tp/global/networks/servicenetworking"
        self._put(network, {PEERING: _peering({"name": PEERING}, peer), **self._of(network)})

    def disconnect(self, network: str) -> None:
        """Remove that peering."""
        self._put(network, {name: peering for name, peering in self._of(network).items() if name != PEERING})

    def _of(self, network: str) -> dict[str, Json]:
        return {peering["name"]: peering for peering in self._networks.find(network).get("peerings", ())}

    def _named(self, call: Call, name: str | None) -> tuple[str, dict[str, Json]]:
        before = self._of(self._networks.key(call))
        if not name or name not in before:
            raise invalid(f"There is no peering '{name}' on the network '{self._networks.key(call)}'.")
        return name, before

    def _put(self, network: str, peerings: dict[str, Json]) -> None:
        self._networks.put(network, {**self._networks.find(network), "peerings": list(peerings.values())})

    def _done(self, call: Call, peerings: dict[str, Json]) -> Json:
        key = self._networks.key(call)
        self._put(key, peerings)
        return resources.done(self._store, call.path.rpartition("/")[2], key, self._networks.find(key)["id"])


def _peering(asked: Json, peer: str) -> Json:
    """A peering with Google's defaults."""
    return {**data("defaults")["compute"]["peerings"], **asked, "network": resources.BASE + peer}
