"""Runs components against Pulumi's own mocks and keeps every registration as the engine would have received it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pulumi
import pulumi_gcp as gcp
import yaml
from pulumi.runtime import rpc
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import Stack
from tpuplane import Platform, PlatformArgs

Inputs = dict[str, Any]
Hosts = Mapping[str, int | None]

# The SDK loads its packages at first use, and no longer does so once another test has imported a module inside one.
_LOADED = (gcp.compute.Network, gcp.container.Cluster, gcp.projects.IAMMember, gcp.serviceaccount.Account)


@dataclass(frozen=True)
class Registration:
    """One resource as it was registered: inputs in the provider's spelling, options as the engine gets them."""

    urn: str
    inputs: Inputs
    request: resource_pb2.RegisterResourceRequest

    @property
    def type(self) -> str:
        """Type token, such as gcp:container/nodePool:NodePool."""
        return self.request.type

    @property
    def name(self) -> str:
        """Logical name."""
        return self.request.name

    @property
    def custom(self) -> bool:
        """Whether a provider makes it (a component is none)."""
        return self.request.custom


class Google(Mocks):
    """Fills in what Google and Kubernetes know only once a resource exists.

    `hosts` has the existing hosts of node pools by their names: None if the instance group was deleted, and a negative
    number if instance groups cannot be read. Other pools have no instance group yet. The cluster
    `missing` cannot be read.
    """

    def __init__(self, hosts: Hosts | None = None) -> None:
        self._hosts = hosts or {}
        self.zones: list[str] = []
        """The zones whose instance groups were read."""

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        if args.token == "gcp:compute/getInstanceGroups:getInstanceGroups":
            self.zones.append(args.args["zone"])
            groups = [{"name": pool, "size": hosts} for pool, hosts in self._hosts.items() if hosts is not None]
            return (
                ({}, [("", "denied")])
                if min(group["size"] for group in groups) < 0
                else ({"instanceGroups": groups}, [])
            )
        if args.token == "gcp:organizations/getProject:getProject":
            return {**args.args, "number": "123456789012"}, []
        assert args.token == "gcp:container/getCluster:getCluster", f"the components do not call {args.token}"
        if args.args["name"] == "missing":
            return {}, [("", "projects/acme-ml/locations/us-central1/clusters/missing not found")]
        by_name = {"dnsEndpointConfigs": [{"endpoint": f"gke-{args.args['name']}.example.gke.goog"}]}
        return {
            **args.args,
            "endpoint": f"{args.args['name']}.example",
            "masterAuths": [{"clusterCaCertificate": "Q0E="}],
            "controlPlaneEndpointsConfigs": [by_name],
        }, []

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        outputs = dict(args.inputs)
        match args.typ:
            case "gcp:container/cluster:Cluster":
                outputs |= {
                    "endpoint": f"{args.inputs['name']}.example",
                    "masterAuth": {"clusterCaCertificate": "Q0E=", "clientKey": ""},
                    "nodePools": [{"name": pool} for pool in self._hosts if pool == "default-pool"],
                    "privateClusterConfig": {
                        **args.inputs.get("privateClusterConfig", {}),
                        "privateEndpoint": f"private.{args.inputs['name']}.example",
                    },
                    "controlPlaneEndpointsConfig": {
                        "dnsEndpointConfig": {"endpoint": f"gke-{args.inputs['name']}.example.gke.goog"}
                    },
                }
            case "gcp:container/nodePool:NodePool" if (name := args.inputs["name"]) in self._hosts:
                links = [f"{args.inputs['project']}/zones/{zone}" for zone in args.inputs["nodeLocations"]]
                outputs["managedInstanceGroupUrls"] = [f"projects/{link}/instanceGroups/{name}" for link in links]
            case "kubernetes:core/v1:Secret" if args.inputs.get("type") == "kubernetes.io/service-account-token":
                outputs["data"] = {"token": base64.b64encode(f"token of {args.name}".encode()).decode()}
            case "gcp:artifactregistry/repository:Repository":
                outputs["name"] = args.inputs["repositoryId"]
            case "gcp:compute/globalAddress:GlobalAddress":
                outputs["address"] = "10.128.0.0"
            case "gcp:lustre/instance:Instance":
                outputs["mountPoint"] = f"10.128.0.2@tcp:/{args.inputs['filesystem']}"
            case "gcp:filestore/instance:Instance":
                outputs["networks"] = [{**network, "ipAddresses": ["10.0.16.2"]} for network in args.inputs["networks"]]
            case "gcp:kms/keyRing:KeyRing":
                place = f"projects/{args.inputs['project']}/locations/{args.inputs['location']}"
                return f"{place}/keyRings/{args.name}", outputs
            case "gcp:kms/cryptoKey:CryptoKey":
                return f"{args.inputs['keyRing']}/cryptoKeys/{args.inputs['name']}", outputs
            case "gcp:projects/serviceIdentity:ServiceIdentity":
                outputs["email"] = "service-123456789012@container-engine-robot.iam.gserviceaccount.com"
            case "gcp:serviceaccount/account:Account":
                outputs["email"] = f"{args.inputs['accountId']}@{args.inputs['project']}.iam.gserviceaccount.com"
        return f"{args.name}-id", outputs


class RecordingMonitor(MockMonitor):
    """Pulumi's mock monitor, with the requests kept."""

    def __init__(self, hosts: Hosts | None = None) -> None:
        self.google = Google(hosts)
        super().__init__(self.google)
        self.registrations: dict[str, Registration] = {}
        self.outputs: dict[str, Inputs] = {}

    def RegisterResource(self, request: resource_pb2.RegisterResourceRequest) -> resource_pb2.RegisterResourceResponse:
        response = super().RegisterResource(request)
        if request.type == "pulumi:pulumi:Stack":  # made once for all tests, by whichever runs first
            return response
        assert response.urn not in self.registrations, f"registered twice, which the engine rejects: {response.urn}"
        inputs = rpc.deserialize_properties(request.object)
        self.registrations[response.urn] = Registration(response.urn, inputs, request)
        return response

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> Any:
        self.outputs[request.urn] = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)


@dataclass(frozen=True)
class Deployment:
    """What a program registered."""

    registrations: Mapping[str, Registration]
    component_outputs: Mapping[str, Inputs]
    exports: Mapping[str, object]

    def all(self, kind: str) -> list[Registration]:
        """Every resource whose type ends in `kind`, such as ":NodePool", in order of registration."""
        return [registration for registration in self.registrations.values() if registration.type.endswith(kind)]

    def inputs(self, kind: str) -> dict[str, Inputs]:
        """Inputs of every resource of this kind, by logical name."""
        return {resource.name: resource.inputs for resource in self.all(kind)}

    def one(self, kind: str, name: str | None = None) -> Registration:
        """The only resource of this kind (and name)."""
        found = [resource for resource in self.all(kind) if name in (None, resource.name)]
        assert len(found) == 1, f"{kind} {name}: {[resource.name for resource in self.all(kind)]}"
        return found[0]

    def custom(self) -> Iterator[Registration]:
        """Every resource that a provider makes, the providers themselves left out."""
        return (
            registration
            for registration in self.registrations.values()
            if registration.custom and not registration.type.startswith("pulumi:providers")
        )

    def parent(self, resource: Registration) -> Registration | None:
        """The resource that owns this one; None for the stack."""
        return self.registrations.get(resource.request.parent)

    def outputs(self, resource: Registration) -> Inputs:
        """What a component registered as its outputs."""
        return self.component_outputs[resource.urn]


def _have_event_loop() -> None:
    """Pulumi runs on the event loop of its thread."""
    asyncio.set_event_loop(asyncio.new_event_loop())


# The SDK sends the call stack of each resource. In a thread, it does not contain the forty frames of pytest, which take
# a quarter of the time.
_PROGRAMS = ThreadPoolExecutor(1, initializer=_have_event_loop)


def deploy(
    program: Callable[[], object],
    *,
    preview: bool = False,
    hosts: Hosts | None = None,
    monitor: RecordingMonitor | None = None,
) -> Deployment:
    """Run `program` to its end and return what it registered. `hosts` has the existing hosts of node pools.

    A `monitor` also has the registrations of a program that fails.
    """
    return _PROGRAMS.submit(copy_context().run, _deploy, program, preview, monitor or RecordingMonitor(hosts)).result()


def known(value: object) -> pulumi.Output[Any]:
    """An output with a value, on the thread of programs."""
    return _PROGRAMS.submit(pulumi.Output.from_input, value).result()


def _deploy(program: Callable[[], object], preview: bool, monitor: RecordingMonitor) -> Deployment:
    pulumi.runtime.set_mocks(monitor.mocks, project="tpuplane", stack="test", preview=preview, monitor=monitor)
    stack = pulumi.runtime.get_root_resource()
    assert isinstance(stack, Stack)
    pulumi.runtime.test(lambda: program() and None)()
    exports = dict(stack.outputs)
    stack.outputs.clear()
    return Deployment(monitor.registrations, monitor.outputs, exports)


def shipped(stack: Path) -> Inputs:
    """The platform of a stack file, with the stack's project."""
    config = yaml.safe_load(stack.read_text())["config"]
    return {"project": config["gcp:project"], **config["tpuplane:platform"]}


def deploy_platform(description: Inputs, *, preview: bool = False, hosts: Hosts | None = None) -> Deployment:
    """Deploy a whole platform."""
    return deploy(lambda: Platform("platform", cast(PlatformArgs, description)), preview=preview, hosts=hosts)
