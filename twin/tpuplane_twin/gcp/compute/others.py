"""Routers with their NATs, resource policies, addresses."""

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.container.names import POOL, group_urls
from tpuplane_twin.gcp.locations import data, region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.views import PoolView


class Routers(Collection):
    """Cloud Routers. A Cloud NAT is an entry of its router."""

    collection, singular = "routers", "router"
    verbs = "insert patch update delete"

    def complete(self, key: str, asked: Json) -> Json:
        """A router of an existing network, its NATs complete."""
        project = key.split("/")[1]
        network = resources.reference(self.store, "compute.networks", "network", asked.get("network"), project)
        router = {**asked, "network": network}
        if "nats" in asked:
            router["nats"] = [self._nat(at, nat, project) for at, nat in enumerate(asked["nats"])]
            names = [nat["name"] for nat in router["nats"]]
            for name in names:
                if names.count(name) > 1:
                    raise resources.bad_value("nats", name, "The NAT name is already used in this router.")
        return router

    def _nat(self, at: int, nat: Json, project: str) -> Json:
        for field in ("name", "natIpAllocateOption", "sourceSubnetworkIpRangesToNat"):
            if not nat.get(field):
                # A private NAT has no addresses.
                if field == "natIpAllocateOption" and nat.get("type") == "PRIVATE":
                    continue
                raise resources.required(f"nats[{at}].{field}")
        complete: Json = {**data("defaults")["compute"]["nats"], **nat}
        if "subnetworks" in nat:
            complete["subnetworks"] = [
                {
                    **entry,
                    "name": resources.reference(
                        self.store, "compute.subnetworks", f"nats[{at}].subnetworks", entry.get("name"), project
                    ),
                }
                for entry in nat["subnetworks"]
            ]
        return complete


class ResourcePolicies(Collection):
    """Resource policies. Workload policies place tpu7x slices."""

    collection, singular = "resourcePolicies", "resourcePolicy"

    def complete(self, key: str, asked: Json) -> Json:
        """A policy of exactly one kind."""
        known = data("kinds")["resource_policies"]
        kinds = [field for field in known if field in asked]
        if len(kinds) != 1:
            raise resources.bad_value("policy", ", ".join(kinds), f"Set exactly one of {', '.join(known)}.")
        return {**asked, "status": "READY"}

    def users(self, key: str, stored: Json) -> list[str]:
        """Managed instance groups of the pools that the policy places."""
        _, project, _, region, _, name = key.split("/")
        found: list[str] = []
        for pool_key, pool in self.store.items(POOL, f"projects/{project}"):
            view = PoolView(pool)
            if view.placement.get("policyName") == name and region_of(view.zones[0]) == region:
                found += [url.removeprefix(resources.BASE) for url in group_urls(pool_key, pool).values()]
        return found
