"""The engine's side of a provider: check, preview, create, diff, refresh, update and delete, as `pulumi` does them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_standins.providers.contract import Autonaming, Change, Checked, Difference, InitFailed, Request, Urn
from tpuplane_standins.providers.gcp.provider import GcpProvider
from tpuplane_standins.providers.values import reveal

Json = dict[str, Any]

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
FIREWALL = "gcp:compute/firewall:Firewall"
ACCOUNT = "gcp:serviceaccount/account:Account"
IAM_MEMBER = "gcp:projects/iAMMember:IAMMember"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"


@dataclass
class Deployed:
    """A resource of a stack: what the engine keeps of it."""

    urn: Urn
    id: str
    inputs: Json
    state: Json


@dataclass
class Driver:
    """One configured provider. State goes through it with secrets opened, as the engine hands it back."""

    provider: GcpProvider
    url: str = ""
    """Google's API behind it."""

    def failures(self, token: str, name: str, inputs: Json) -> list[str]:
        """What Check rejects."""
        return [reason for _, reason in self.check(Urn(token, name), {}, inputs).failures]

    def check(self, urn: Urn, olds: Json, news: Json, seed: bytes = b"seed", rule: Autonaming | None = None) -> Checked:
        return self.provider.check(Request(urn, olds=olds, news=news, seed=seed, autonaming=rule))

    def create(self, token: str, name: str, /, **inputs: Any) -> Deployed:
        """Check, preview, create."""
        urn = Urn(token, name)
        checked = self.check(urn, {}, inputs)
        assert not checked.failures, checked.failures
        self.provider.create(Request(urn, news=checked.inputs, preview=True))
        resource_id, state = self.provider.create(Request(urn, news=checked.inputs))
        return Deployed(urn, resource_id, checked.inputs, reveal(state))

    def inputs(self, resource: Deployed, changed: Mapping[str, Any]) -> Json:
        """The inputs of the next run of the program; None removes one."""
        given = {**resource.inputs, **changed}
        given = {name: value for name, value in given.items() if value is not None and not name.startswith("__")}
        checked = self.check(resource.urn, resource.inputs, given, b"other")
        assert not checked.failures, checked.failures
        return checked.inputs

    def diff(self, resource: Deployed, /, *ignore: str, **changed: Any) -> Difference:
        """What a preview of the changed program says."""
        news = self.inputs(resource, changed)
        return self.provider.diff(Request(resource.urn, resource.id, resource.state, news, ignore=ignore))

    def changes(self, resource: Deployed, /, **changed: Any) -> Mapping[str, Change]:
        """The changed paths of that preview."""
        return self.diff(resource, **changed).changes

    def update(self, resource: Deployed, /, *ignore: str, **changed: Any) -> Deployed:
        """Send the changes."""
        news = self.inputs(resource, changed)
        state = self.provider.update(Request(resource.urn, resource.id, resource.state, news, ignore=ignore))
        return Deployed(resource.urn, resource.id, news, reveal(state))

    def refresh(self, resource: Deployed) -> Deployed | None:
        """Read it again; None when it is gone."""
        request = Request(resource.urn, resource.id, resource.state, resource.inputs)
        resource_id, inputs, state = self.provider.read(request)
        return Deployed(resource.urn, resource_id, inputs, reveal(state)) if resource_id else None

    def read(self, token: str, resource_id: str) -> Deployed:
        """Import."""
        urn = Urn(token, "imported")
        found, inputs, state = self.provider.read(Request(urn, resource_id))
        return Deployed(urn, found, inputs, reveal(state))

    def delete(self, resource: Deployed) -> None:
        self.provider.delete(Request(resource.urn, resource.id, resource.state))

    def broken(self, token: str, name: str, /, **inputs: Any) -> tuple[Deployed, str]:
        """Create something that comes to be in an error state; what stays in the state, and the message."""
        try:
            self.create(token, name, **inputs)
        except InitFailed as failure:
            kept = reveal(failure.state)
            return Deployed(Urn(token, name), failure.resource_id, failure.inputs or {}, kept), str(failure)
        raise AssertionError("created without an error")


def cluster_inputs(**more: Any) -> Json:
    """A cluster in the default shape of the components."""
    return {
        "name": "c1",
        "location": "us-central1",
        "network": "net",
        "subnetwork": "sub",
        "releaseChannel": {"channel": "REGULAR"},
        "deletionProtection": False,
        "resourceLabels": {"team": "research"},
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
        "networkingMode": "VPC_NATIVE",
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "datapathProvider": "ADVANCED_DATAPATH",
        "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": False},
        "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "192.0.2.0/24", "displayName": "office"}]},
        "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": False}},
        "rbacBindingConfig": {
            "enableInsecureBindingSystemAuthenticated": False,
            "enableInsecureBindingSystemUnauthenticated": False,
        },
        "workloadIdentityConfig": {"workloadPool": "acme.svc.id.goog"},
        "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
        "monitoringConfig": {"enableComponents": ["SYSTEM_COMPONENTS"], "managedPrometheus": {"enabled": True}},
        "addonsConfig": {"rayOperatorConfigs": [{"enabled": True, "rayClusterLoggingConfig": {"enabled": True}}]},
        **more,
    }


def pool_inputs(**more: Any) -> Json:
    """A v6e 4x4 slice, autoscaled as a whole."""
    return {
        "name": "slice",
        "cluster": "c1",
        "location": "us-central1",
        "nodeLocations": ["us-central1-b"],
        "initialNodeCount": 0,
        "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "management": {"autoRepair": True, "autoUpgrade": True},
        "networkConfig": {"enablePrivateNodes": True},
        "nodeConfig": {
            "machineType": "ct6e-standard-4t",
            "diskType": "hyperdisk-balanced",
            "diskSizeGb": 100,
            "labels": {"tpuplane.dev/pool": "trainer"},
            "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        },
        **more,
    }
