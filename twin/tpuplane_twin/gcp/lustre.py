"""Managed Lustre: instances and their operations. The twin stores no file.

https://docs.cloud.google.com/managed-lustre/docs/reference/rest/v1/projects.locations.instances
"""

import re
from ipaddress import IPv4Network

from tpuplane.spec.file_systems import LUSTRE_CAPACITIES as CAPACITIES
from tpuplane.spec.file_systems import allowed, can_have

from tpuplane_twin.gcp.compute.others import RANGE
from tpuplane_twin.gcp.errors import ApiError, failed_precondition, invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.long_running import LongRunning
from tpuplane_twin.gcp.merge import mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.service_networking import INSTANCES, Connections

_FILESYSTEM = re.compile(r"[A-Za-z][A-Za-z0-9]{0,7}")
_IMMUTABLE = {"dynamicTierOptions", "filesystem", "kmsKey", "name", "network", "perUnitStorageThroughput"}
_BLOCK, _FIRST = 23, 2  # bits of the range that an instance takes, and the place of its address in it


class Instances(LongRunning):
    """projects.locations.instances. Instances are active at once."""

    kind, segment, label = INSTANCES, "instances", "Instance"
    prefix, verbs = "lustre.projects.locations.instances", "create get list patch delete"
    operations, types = "lustre.projects.locations.operations", "google.cloud.lustre.v1"

    def create(self, call: Call) -> Json:
        """Create an instance in a zone and a network that has private services access."""
        if not is_zone(call.params["locationsId"]):
            raise invalid(f"Location {call.params['locationsId']} is not a zone of Managed Lustre.")
        name = self.new_name(call, "instance_id", call.query.get("instanceId", ""))
        filesystem = call.body.get("filesystem", "")
        if not _FILESYSTEM.fullmatch(filesystem):
            raise invalid(f'Invalid filesystem "{filesystem}": it must match {_FILESYSTEM.pattern}.')
        address = self._address(call.body.get("network", ""))
        output = {"name": name, "mountPoint": f"{address}@tcp:/{filesystem}", "state": "ACTIVE", "createTime": now()}
        return self._kept(call, {**call.body, **output})

    def patch(self, call: Call) -> Json:
        """Change the fields of the mask; a field of the mask that the body lacks is cleared."""
        before, mask = self.find(call), mask_paths(call.query.get("updateMask", ""))
        if fixed := _IMMUTABLE & {path.partition(".")[0] for path in mask}:
            raise invalid(f"These fields of an instance cannot be updated: {', '.join(sorted(fixed))}.")
        return self._kept(call, masked(before, call.body, mask), int(before["capacityGib"]))

    def _kept(self, call: Call, made: Json, before: int | None = None) -> Json:
        capacity = int(made.get("capacityGib", 0))
        throughput = int(made.get("perUnitStorageThroughput", 0))
        if throughput not in CAPACITIES:
            known = ", ".join(map(str, sorted(CAPACITIES)))
            raise invalid(f"Invalid per_unit_storage_throughput {throughput}: it must be one of {known}.")
        if not can_have(capacity, CAPACITIES[throughput], before):
            raise invalid(f"Invalid capacity_gib {capacity}: {allowed(CAPACITIES[throughput], before)}.")
        kept = self.put(made["name"], {**made, "updateTime": now()})
        return self.begun(call, "Instance", kept)

    def _address(self, network: str) -> str:
        """The first free address in the ranges of the network's connection, in a block of its own."""
        connection = self._store.get(Connections.kind, network)
        if connection is None:
            raise failed_precondition(
                f"The network {network} has no private services access. Create a private connection of it first."
            )
        taken = {instance["mountPoint"].partition("@")[0] for instance in self._store.values(self.kind)}
        for name in connection["reservedPeeringRanges"]:
            found = self._store.get(RANGE, f"{network.partition('/networks/')[0]}/addresses/{name}")
            if found is None:  # deleted while the connection exists
                continue
            whole = IPv4Network(f"{found['address']}/{found['prefixLength']}")
            for block in whole.subnets(new_prefix=max(_BLOCK, whole.prefixlen)):
                if (address := str(block[min(_FIRST, block.num_addresses - 1)])) not in taken:
                    return address
        raise ApiError("RESOURCE_EXHAUSTED", f"The ranges of the network {network} have no free /{_BLOCK}.")
