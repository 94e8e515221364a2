"""The subnetworks that clusters can be made in, and what uses their ranges."""

from __future__ import annotations

from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.compute.networks import SUBNETWORK
from tpuplane_twin.gcp.container.names import CLUSTER, POOL
from tpuplane_twin.gcp.links import COMPUTE
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


def usable(store: Store) -> Handler:
    """projects.aggregated.usableSubnetworks.list: those of the project, or of the one that the filter names."""

    def handle(call: Call) -> Json:
        uses = _uses(store)
        parent = f"projects/{call.params['projectsId']}"
        found = store.items(SUBNETWORK, "" if call.query.get("filter") else parent)
        return {"subnetworks": [_shown(key, subnet, uses) for key, subnet in found]}

    return handle


def _shown(key: str, subnet: Json, uses: dict[tuple[str, str], str]) -> Json:
    return {
        # Not shown: what the filter reads.
        "networkProjectId": key.split("/")[1],
        "subnetwork": key,
        "network": subnet["network"].removeprefix(COMPUTE),
        "ipCidrRange": subnet["ipCidrRange"],
        "secondaryIpRanges": [
            {**found, "status": uses.get((key, found["rangeName"]), "UNUSED")}
            for found in subnet.get("secondaryIpRanges", [])
        ],
    }


def _uses(store: Store) -> dict[tuple[str, str], str]:
    """What clusters use the ranges of subnetworks for, by subnetwork and range."""
    uses: dict[tuple[str, str], str] = {}
    for key, cluster in store.items(CLUSTER):
        subnet, policy = cluster["networkConfig"]["subnetwork"], cluster["ipAllocationPolicy"]
        pods = [policy.get("clusterSecondaryRangeName")]
        pods += [pool.get("networkConfig", {}).get("podRange") for pool in store.values(POOL, f"{key}/nodePools")]
        uses |= {(subnet, name): "IN_USE_SHAREABLE_POD" for name in pods if name}
        if name := policy.get("servicesSecondaryRangeName"):
            uses[subnet, name] = "IN_USE_SERVICE"
    return uses
