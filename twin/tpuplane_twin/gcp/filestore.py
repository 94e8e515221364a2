"""Filestore: instances and their operations. The twin stores no file.

https://docs.cloud.google.com/filestore/docs/reference/rest/v1/projects.locations.instances
"""

import re
from ipaddress import IPv4Network

from tpuplane.spec.file_systems import FILESTORE_CAPACITIES as CAPACITIES
from tpuplane.spec.file_systems import SHARES, SHRINKING, allowed, can_have

from tpuplane_twin.gcp.compute.networks import blocks_of
from tpuplane_twin.gcp.errors import ApiError, invalid, not_found
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import is_zone
from tpuplane_twin.gcp.long_running import LongRunning
from tpuplane_twin.gcp.merge import mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json

_MUTABLE = {"description", "labels", "fileShares", "performanceConfig"}
_MUTABLE |= {"deletionProtectionEnabled", "deletionProtectionReason"}
# Instances take a range of the network that no subnetwork has. The twin chooses from this one.
_RANGES, _BLOCK, _FIRST = IPv4Network("10.0.0.0/8"), 26, 2


class Instances(LongRunning):
    """projects.locations.instances. Instances are ready at once."""

    kind, segment, label = "file.instances", "instances", "Instance"
    prefix, verbs = "file.projects.locations.instances", "create get list patch delete"
    operations, types = "file.projects.locations.operations", "google.cloud.filestore.v1"

    def create(self, call: Call) -> Json:
        """Create an instance in an existing network of the project, connected by direct peering."""
        name = self.new_name(call, "instance_id", call.query.get("instanceId", ""))
        tier = call.body.get("tier", "")
        if tier not in CAPACITIES:
            raise invalid(f'Tier "{tier}" is not supported; allowed: {", ".join(CAPACITIES)}.')
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
        if fixed := {path.partition(".")[0] for path in mask} - _MUTABLE:
            raise invalid(f"These fields of an instance cannot be updated: {', '.join(sorted(fixed))}.")
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
        if not can_have(capacity, CAPACITIES[tier], before, shrinks=(shrinks := tier in SHRINKING)):
            raise invalid(f"Invalid capacity_gb {capacity}: {allowed(CAPACITIES[tier], before, shrinks=shrinks)}.")
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
        for block in _RANGES.subnets(new_prefix=_BLOCK):
            if (address := str(block[_FIRST])) not in taken and not any(map(block.overlaps, used)):
                return address
        raise ApiError("RESOURCE_EXHAUSTED", f"The network {network} has no free /{_BLOCK}.")
