"""Firewall rules, and the network `default` with Google's rules."""

from tpuplane_twin.gcp.compute import resources
from tpuplane_twin.gcp.compute.collection import Collection
from tpuplane_twin.gcp.compute.networks import Networks
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


class Firewalls(Collection):
    """Firewall rules."""

    collection, singular, scope = "firewalls", "firewall", "global"
    verbs = "insert patch update delete"

    def complete(self, key: str, asked: Json) -> Json:
        """A rule of an existing network that allows or denies something."""
        network = self.reference("networks", "network", asked.get("network") or "global/networks/default", key)
        if bool(asked.get("allowed")) == bool(asked.get("denied")):
            raise resources.bad_value("allowed", asked.get("allowed", ""), "Set exactly one of allowed and denied.")
        rule = {**asked, "network": network}
        if rule["direction"] == "INGRESS" and not any(
            field in rule for field in ("sourceRanges", "sourceTags", "sourceServiceAccounts")
        ):
            rule["sourceRanges"] = ["0.0.0.0/0"]
        return rule


def give_default_network(store: Store, project: str) -> None:
    """Create the network `default` with Google's firewall rules in a project that is new to the twin.

    https://docs.cloud.google.com/firewall/docs/firewalls#more_rules_default_vpc. Once deleted it stays deleted.
    """
    key = f"projects/{project}"
    networks, firewalls = Networks(store), Firewalls(store)
    if store.get(networks.kind, f"{key}/global/networks/default") is not None:
        return
    networks.make(f"{key}/global/networks/default", {"name": "default", "autoCreateSubnetworks": True})
    for name, given in data("defaults")["firewalls"].items():
        rule = {"name": f"default-allow-{name}", "priority": 65534, **given}
        firewalls.make(f"{key}/global/firewalls/{rule['name']}", rule)
