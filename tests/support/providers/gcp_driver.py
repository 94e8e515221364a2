"""The engine's side of a provider: check, preview, create, diff, refresh, update and delete, as `pulumi` does them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pulumi.runtime.proto import provider_pb2 as pb
from tpuplane_standins.providers.contract import Change, InitFailed, Urn
from tpuplane_standins.providers.gcp.provider import GcpProvider
from tpuplane_standins.providers.values import decode_struct, encode_struct, reveal

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


class Checked(NamedTuple):
    """What Check answers."""

    inputs: Json
    failures: list[str]


class Difference(NamedTuple):
    """What Diff answers: the changed property paths, and the top-level properties that replace the resource."""

    changes: Mapping[str, Change]
    replaces: list[str]
    delete_before_replace: bool


@dataclass
class Deployed:
    """A resource of a stack: what the engine keeps of it."""

    urn: Urn
    id: str
    inputs: Json
    state: Json


@dataclass
class Driver:
    """One configured provider, asked as the engine asks it. Its answers are plain values with secrets opened."""

    provider: GcpProvider
    url: str = ""
    """Google's API behind it."""

    @classmethod
    def of(cls, config: Json, url: str = "") -> Driver:
        """A new provider with this configuration."""
        driver = cls(GcpProvider(), url)
        driver.configure(config)
        return driver

    def configure(self, config: Json) -> None:
        self.provider.Configure(pb.ConfigureRequest(args=encode_struct(config)), None)

    def invoke(self, token: str, args: Mapping[str, Any]) -> Json:
        """The result of a function."""
        answer = self.provider.Invoke(pb.InvokeRequest(tok=token, args=encode_struct(args)), None)
        return _plain(getattr(answer, "return"))

    def failures(self, token: str, name: str, inputs: Json) -> list[str]:
        """What Check rejects."""
        return self.check(Urn(token, name), {}, inputs).failures

    def check(
        self,
        urn: Urn,
        olds: Json,
        news: Json,
        seed: bytes = b"seed",
        rule: pb.CheckRequest.AutonamingOptions | None = None,
    ) -> Checked:
        request = pb.CheckRequest(
            urn=_text(urn), olds=encode_struct(olds), news=encode_struct(news), randomSeed=seed, autonaming=rule
        )
        answer = self.provider.Check(request, None)
        return Checked(_plain(answer.inputs), [failure.reason for failure in answer.failures])

    def preview(self, token: str, name: str, inputs: Json) -> Json:
        """What a new resource would look like."""
        request = pb.CreateRequest(urn=_text(Urn(token, name)), properties=encode_struct(inputs), preview=True)
        return _plain(self.provider.Create(request, None).properties)

    def create(self, token: str, name: str, /, **inputs: Any) -> Deployed:
        """Check, preview, create."""
        urn = Urn(token, name)
        checked = self.check(urn, {}, inputs)
        assert not checked.failures, checked.failures
        self.preview(token, name, checked.inputs)
        request = pb.CreateRequest(urn=_text(urn), properties=encode_struct(checked.inputs))
        answer = self.provider.Create(request, None)
        return Deployed(urn, answer.id, checked.inputs, _plain(answer.properties))

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
        answer = self.provider.Diff(pb.DiffRequest(**_known(resource, news), ignoreChanges=ignore), None)
        kinds = {path: pb.PropertyDiff.Kind.Name(found.kind).lower() for path, found in answer.detailedDiff.items()}
        changes = {path: Change(kind.partition("_")[0], kind.endswith("_replace")) for path, kind in kinds.items()}
        return Difference(changes, list(answer.replaces), answer.deleteBeforeReplace)

    def changes(self, resource: Deployed, /, **changed: Any) -> Mapping[str, Change]:
        """The changed paths of that preview."""
        return self.diff(resource, **changed).changes

    def update(self, resource: Deployed, /, *ignore: str, **changed: Any) -> Deployed:
        """Send the changes."""
        news = self.inputs(resource, changed)
        answer = self.provider.Update(pb.UpdateRequest(**_known(resource, news), ignoreChanges=ignore), None)
        return Deployed(resource.urn, resource.id, news, _plain(answer.properties))

    def refresh(self, resource: Deployed) -> Deployed | None:
        """Read it again; None when it is gone."""
        found = self._read(resource.urn, resource.id, resource.state, resource.inputs)
        return found if found.id else None

    def read(self, token: str, resource_id: str) -> Deployed:
        """Import."""
        return self._read(Urn(token, "imported"), resource_id, {}, {})

    def _read(self, urn: Urn, resource_id: str, state: Json, inputs: Json) -> Deployed:
        request = pb.ReadRequest(
            urn=_text(urn), id=resource_id, properties=encode_struct(state), inputs=encode_struct(inputs)
        )
        answer = self.provider.Read(request, None)
        return Deployed(urn, answer.id, _plain(answer.inputs), _plain(answer.properties))

    def delete(self, resource: Deployed) -> None:
        request = pb.DeleteRequest(urn=_text(resource.urn), id=resource.id, properties=encode_struct(resource.state))
        self.provider.Delete(request, None)

    def broken(self, token: str, name: str, /, **inputs: Any) -> tuple[Deployed, str]:
        """Create something that comes to be in an error state; what stays in the state, and the message."""
        try:
            self.create(token, name, **inputs)
        except InitFailed as failure:
            kept = reveal(failure.state)
            return Deployed(Urn(token, name), failure.resource_id, failure.inputs or {}, kept), str(failure)
        raise AssertionError("created without an error")


def _text(urn: Urn) -> str:
    return f"urn:pulumi:dev::project::{urn.type}::{urn.name}"


def _plain(struct: Any) -> Json:
    return dict(reveal(decode_struct(struct)))


def _known(resource: Deployed, news: Json) -> Json:
    """What the engine sends of an existing resource."""
    known = {"olds": encode_struct(resource.state), "news": encode_struct(news)}
    return {"urn": _text(resource.urn), "id": resource.id, **known}


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
