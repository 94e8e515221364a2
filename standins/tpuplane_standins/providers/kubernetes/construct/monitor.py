"""Registering a component and its objects with the engine, as a program does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, resource_pb2, resource_pb2_grpc

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.kubernetes import metadata
from tpuplane_standins.providers.kubernetes.construct.manifests import Identity, dependencies
from tpuplane_standins.providers.kubernetes.values import Object, mark_secrets
from tpuplane_standins.providers.values import encode_struct

_NO_DEPENDENCIES = resource_pb2.RegisterResourceRequest.PropertyDependencies()
_KEEP = "helm.sh/resource-policy"

# What a program says of a component, by the same names in both messages.
_OPTIONS = frozenset(
    (
        *("type", "name", "parent", "dependencies", "providers", "aliases", "deletedWith", "replace_with"),
        *("ignoreChanges", "replaceOnChanges", "additionalSecretOutputs", "protect", "retainOnDelete"),
    )
)

Registered = resource_pb2.RegisterResourceResponse


class Monitor:
    """The engine's side of one Construct request."""

    def __init__(self, stub: resource_pb2_grpc.ResourceMonitorStub, version: str) -> None:
        self._stub = stub
        self._version = version

    def component(self, request: provider_pb2.ConstructRequest) -> str:
        """Register the component itself, with all options of the program. Returns its URN."""
        given: dict[str, Any] = {field.name: value for field, value in request.ListFields() if field.name in _OPTIONS}
        registration = resource_pb2.RegisterResourceRequest(
            custom=False, acceptSecrets=True, acceptResources=True, aliasSpecs=True, **given
        )
        registration.object.SetInParent()
        return self._register(registration).urn

    def objects(self, objects: Sequence[Object], parent: str, prefix: str) -> list[Registered]:
        """Register every object, at the same time as far as they need not wait for each other."""
        by_identity = {Identity.of(obj): obj for obj in objects}
        made: dict[Identity, Future[Registered]] = {}

        def register(identity: Identity, before: Sequence[Identity]) -> Registered:
            waited = [made[each].result().urn for each in before]
            return self._object(by_identity[identity], parent, prefix, waited)

        order = dependencies(objects)
        # A worker for each: those that wait for others came after them, so that they never starve them.
        with ThreadPoolExecutor(max_workers=max(1, len(order)), thread_name_prefix="objects") as workers:
            for identity, before in order.items():
                made[identity] = workers.submit(register, identity, before)
        return [future.result() for future in made.values()]

    def _object(self, obj: Object, parent: str, prefix: str, dependencies: Sequence[str]) -> Registered:
        group, _, version = str(obj["apiVersion"]).rpartition("/")
        api_version = f"{group or 'core'}/{version}"
        place = "/".join(filter(None, (metadata.namespace(obj), metadata.name(obj))))
        registration = resource_pb2.RegisterResourceRequest(
            type=f"kubernetes:{api_version}:{obj['kind']}",
            name=f"{prefix}:{place}" if prefix else place,
            parent=parent,
            custom=True,
            object=encode_struct(mark_secrets(obj, {})),
            dependencies=dependencies,
            # Said to be none: else each property would depend on all that the object waits for.
            propertyDependencies=dict.fromkeys(obj, _NO_DEPENDENCIES),
            version=self._version,
            acceptSecrets=True,
            acceptResources=True,
            supportsPartialValues=True,
            supportsResultReporting=True,
            aliasSpecs=True,
            retainOnDelete=metadata.annotation(obj, _KEEP) == "keep" or None,
        )
        return self._register(registration)

    def _register(self, registration: resource_pb2.RegisterResourceRequest) -> Registered:
        try:
            answer: Registered = self._stub.RegisterResource(registration)
        except grpc.RpcError as error:
            # The engine has already reported what is wrong with the object itself.
            raise ProviderError(f"{registration.type} {registration.name}: {error.details()}") from error
        return answer
