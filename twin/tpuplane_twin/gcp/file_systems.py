"""Filestore and Managed Lustre: instances and their operations. The twin stores no file.

https://docs.cloud.google.com/filestore/docs/reference/rest/v1/projects.locations.instances and
https://docs.cloud.google.com/managed-lustre/docs/reference/rest/v1/projects.locations.instances
"""

import re
from ipaddress import IPv4Network

from tpuplane.spec.file_systems import FILESTORE_CAPACITIES, LUSTRE_CAPACITIES, SHARES, SHRINKING, allowed, can_have

from tpuplane_twin.gcp.compute.networks import blocks_of
from tpuplane_twin.gcp.compute.others import RANGE
from tpuplane_twin.gcp.errors import ApiError, failed_precondition, invalid, not_found
from tpuplane_twin.gcp.handlers import Call, LongRunning
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.merge import mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.service_networking import INSTANCES, Connections

_FILESTORE_MUTABLE = {"description", "labels", "fileShares", "performanceConfig"}
_FILESTORE_MUTABLE |= {"deletionProtectionEnabled", "deletionProtectionReason"}
_LUSTRE_FIXED = {"dynamicTierOptions", "filesystem", "kmsKey", "name", "network", "perUnitStorageThroughput"}
_FILESYSTEM = re.compile(r"[A-Za-z][A-Za-z0-9]{0,7}")
# Filestore takes a range of the network that no subnetwork has. The twin chooses from this one.
_RANGES = IPv4Network("10.0.0.0/8")
_FILESTORE_BLOCK, _LUSTRE_BLOCK = 26, 23  # bits of the range that an instance takes
_FIRST = 2  # the place of its address in the range


class FilestoreInstances(LongRunning):
    """projects.locations.instances of Filestore. Instances are ready at once."""

    kind, segment, label = "file.instances", "instances", "Instance"
    prefix, verbs = "file.projects.locations.instances", "create get list patch delete"
    operations, types = "file.projects.locations.operations", "google.cloud.filestore.v1"

    def create(self, call: Call) -> Json:
        """Create an instance in an existing network of the project, connected by direct peering."""
        name = self.new_name(call, "instance_id", call.query.get("instanceId", ""))
        tier = call.body.get("tier", "")
        if tier not in FILESTORE_CAPACITIES:
            raise invalid(f'Tier "{tier}" is not supported; allowed: {", ".join(FILESTORE_CAPACITIES)}.')
        if is_zone(call.params["locationsId"]) == (tier == "REGIONAL"):
            place = "region" if tier == "REGIONAL" else "zone"
            raise invalid(f"Tier {tier} is not supported in location {call.params['locationsId']}: it needs a {place}.")
        address = self._address(call)
        (network,) = call.body["networks"]
        connected = {"connectMode": "DIRECT_PEERING", **network, "ipAddresses": [address]}
        output = {"name": name, "networks": [connected], "state": "READY", "createTime": now()}
        return self._kept(call, {"protocol": "NFS_V3", **call.body, **output})

    def patch(self, call: Call) -> Json:
        """Change the fields of the mask; a field of the mask that the body lacks is cleared."""
        before, mask = self.find(call), mask_paths(call.query.get("updateMask", ""))
        _check_fixed({path.partition(".")[0] for path in mask} - _FILESTORE_MUTABLE)
        return self._kept(call, masked(before, call.body, mask), int(before["fileShares"][0]["capacityGb"]))

    def delete(self, call: Call) -> Json:
        """Delete an instance with its files."""
        if self.find(call).get("deletionProtectionEnabled"):
            raise ApiError("FAILED_PRECONDITION", "The instance has deletion protection.")
        return super().delete(call)

    def _kept(self, call: Call, made: Json, before: int | None = None) -> Json:
        shares, tier = made.get("fileShares", []), made["tier"]
        if len(shares) != 1:
            raise invalid("An instance must have exactly one file share.")
        if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{SHARES[tier] - 1}}}", name := shares[0].get("name", "")):
            raise invalid(
                f'Invalid file share name "{name}": tier {tier} allows 1 to {SHARES[tier]} lower-case letters, digits '
                "and underscores, starting with a letter."
            )
        capacity = int(shares[0].get("capacityGb", 0))
        if not can_have(capacity, FILESTORE_CAPACITIES[tier], before, shrinks=(shrinks := tier in SHRINKING)):
            raise invalid(
                f"Invalid capacity_gb {capacity}: {allowed(FILESTORE_CAPACITIES[tier], before, shrinks=shrinks)}."
            )
        return self.begun(call, "Instance", self.put(made["name"], made))

    def _address(self, call: Call) -> str:
        """An address in the first free block of the instance's network."""
        networks = call.body.get("networks", [])
        if len(networks) != 1:
            raise invalid("An instance must have exactly one network.")
        project = call.params["projectsId"]
        network = f"projects/{project}/global/networks/{networks[0].get('network', '').rpartition('/')[2]}"
        if self._store.get("compute.networks", network) is None:
            raise not_found(f"The network {network} was not found.")
        taken = {own["networks"][0]["ipAddresses"][0] for own in self._store.values(self.kind)}
        used = list(blocks_of(self._store, network))
        for block in _RANGES.subnets(new_prefix=_FILESTORE_BLOCK):
            if (address := str(block[_FIRST])) not in taken and not any(map(block.overlaps, used)):
                return address
        raise ApiError("RESOURCE_EXHAUSTED", f"The network {network} has no free /{_FILESTORE_BLOCK}.")


class LustreInstances(LongRunning):
    """projects.locations.instances of Managed Lustre. Instances are active at once."""

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
        _check_fixed({path.partition(".")[0] for path in mask} & _LUSTRE_FIXED)
        return self._kept(call, masked(before, call.body, mask), int(before["capacityGib"]))

    def _kept(self, call: Call, made: Json, before: int | None = None) -> Json:
        capacity = int(made.get("capacityGib", 0))
        throughput = int(made.get("perUnitStorageThroughput", 0))
        if throughput not in LUSTRE_CAPACITIES:
            known = ", ".join(map(str, sorted(LUSTRE_CAPACITIES)))
            raise invalid(f"Invalid per_unit_storage_throughput {throughput}: it must be one of {known}.")
        if not can_have(capacity, LUSTRE_CAPACITIES[throughput], before):
            raise invalid(f"Invalid capacity_gib {capacity}: {allowed(LUSTRE_CAPACITIES[throughput], before)}.")
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
            for block in whole.subnets(new_prefix=max(_LUSTRE_BLOCK, whole.prefixlen)):
                if (address := str(block[min(_FIRST, block.num_addresses - 1)])) not in taken:
                    return address
        raise ApiError("RESOURCE_EXHAUSTED", f"The ranges of the network {network} have no free /{_LUSTRE_BLOCK}.")


def _check_fixed(fields: set[str]) -> None:
    if fields:
        raise invalid(f"These fields of an instance cannot be updated: {', '.join(sorted(fields))}.")
