# ruff: noqa: D102 - the methods in capitals are the engine's, and described by its protocol
"""The provider: routes the engine's calls to the resource types and keeps what the engine stores in shape.

The SDK's `pulumi.provider.experimental` has no way to say "created, but in an error state", prints a traceback for
every rejection and drops unknown values, so the provider is written on the SDK's generated classes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as pb

from tpuplane_standins.providers.contract import Change, InitFailed, Properties, ProviderError, Urn
from tpuplane_standins.providers.gcp.api import Deadline
from tpuplane_standins.providers.gcp.check import check
from tpuplane_standins.providers.gcp.inputs import DEFAULTS, imported, refreshed
from tpuplane_standins.providers.gcp.invokes import invoke
from tpuplane_standins.providers.gcp.plan import keep_ignored
from tpuplane_standins.providers.gcp.resources.account import Account, ServiceIdentity
from tpuplane_standins.providers.gcp.resources.artifacts import Repository
from tpuplane_standins.providers.gcp.resources.base import Resource, Update
from tpuplane_standins.providers.gcp.resources.cluster import Cluster
from tpuplane_standins.providers.gcp.resources.iam_member import CryptoKeyIamMember, IamMember, RepositoryIamMember
from tpuplane_standins.providers.gcp.resources.kms import CryptoKey, KeyRing
from tpuplane_standins.providers.gcp.resources.networking import Firewall, GlobalAddress, RouterNat, Subnetwork
from tpuplane_standins.providers.gcp.resources.node_pool import NodePool
from tpuplane_standins.providers.gcp.resources.observability import Dashboard, LogMetric
from tpuplane_standins.providers.gcp.resources.rest import Compute, FilestoreInstance, Identified, Rest
from tpuplane_standins.providers.gcp.resources.service_networking import Connection
from tpuplane_standins.providers.gcp.resources.storage import Bucket, BucketIamMember
from tpuplane_standins.providers.gcp.session import Session, start_session, unknown_keys
from tpuplane_standins.providers.gcp.tables import Table, load
from tpuplane_standins.providers.values import decode_struct, encode_struct, reveal

_META: Final = "__meta"
_TIMEOUTS_KEY: Final = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0"  # where Terraform's SDK keeps a resource's timeouts
_DEFAULT_MINUTES: Final = 20

# Table of a resource type → the class that makes its requests.
_TYPES: Final[dict[str, type[Resource]]] = {
    "account": Account,
    "alert_policy": Rest,
    "bucket": Bucket,
    "bucket_iam_member": BucketIamMember,
    "cluster": Cluster,
    "crypto_key": CryptoKey,
    "crypto_key_iam_member": CryptoKeyIamMember,
    "dashboard": Dashboard,
    "filestore_instance": FilestoreInstance,
    "firewall": Firewall,
    "global_address": GlobalAddress,
    "iam_member": IamMember,
    "key_ring": KeyRing,
    "log_metric": LogMetric,
    "lustre_instance": Identified,
    "network": Compute,
    "node_pool": NodePool,
    "repository": Repository,
    "repository_iam_member": RepositoryIamMember,
    "resource_policy": Compute,
    "router": Compute,
    "router_nat": RouterNat,
    "service_identity": ServiceIdentity,
    "service_networking_connection": Connection,
    "subnetwork": Subnetwork,
}


class GcpProvider(provider_pb2_grpc.ResourceProviderServicer):
    """One configured provider. Every method may run in many threads at once.

    They raise `ProviderError`, and `InitFailed` where the resource exists.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._resources: dict[str, Resource] = {}

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        # The SDK's: the engine warns of a plugin older than the SDK that asks for it.
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi-gcp"))

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self.cancel()
        return empty_pb2.Empty()

    def GetMapping(self, request: Any, context: Any) -> Any:
        return pb.GetMappingResponse()  # no other tool's resources are mapped

    def GetMappings(self, request: Any, context: Any) -> Any:
        return pb.GetMappingsResponse()

    def GetSchema(self, request: Any, context: Any) -> Any:
        _not_offered(context, "a schema")

    def Parameterize(self, request: Any, context: Any) -> Any:
        _not_offered(context, "parameterization (typed custom resources)")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        news, name = _plain(request.news), Urn.parse(request.urn).name
        cause = "could not validate provider configuration: Invalid or unknown key."
        return _checked(news, [f"{cause} Examine values at '{name}.{key}'." for key in unknown_keys(news)])

    def DiffConfig(self, request: Any, context: Any) -> Any:
        # As with the official plugin: neither the provider nor what it created is replaced.
        olds, news = _plain(request.olds), _plain(request.news)
        names = {*olds, *news} - {"version"}
        return _difference({name: Change("update") for name in names if olds.get(name) != news.get(name)})

    def Configure(self, request: Any, context: Any) -> Any:
        services = sorted({load(name).service for name in _TYPES})
        session = self._session = start_session(_plain(request.args), services)
        made = [kind(session, name) for name, kind in _TYPES.items()]
        self._resources = {resource.table.token: resource for resource in made}
        return pb.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    def Invoke(self, request: Any, context: Any) -> Any:
        result = invoke(self._configured(), request.tok, _plain(request.args))
        response = pb.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(result))  # a keyword of Python
        return response

    def Check(self, request: Any, context: Any) -> Any:
        return _checked(*check(self._resource(Urn.parse(request.urn)).table, request))

    def Diff(self, request: Any, context: Any) -> Any:
        resource, news = self._resource(Urn.parse(request.urn)), _plain(request.news)
        prior, planned = _planned(resource, request)
        return _difference(resource.diff(prior, planned), _delete_first(resource.table, news))

    def Create(self, request: Any, context: Any) -> Any:
        urn, news = Urn.parse(request.urn), _plain(request.properties)
        resource = self._resource(urn)
        planned = resource.plan(news, None)
        if request.preview:
            return pb.CreateResponse(properties=encode_struct(planned))
        try:
            resource_id, state = resource.create(planned, _deadline(resource.table, "create", request.timeout))
        except InitFailed as error:
            state = _with_meta(resource.table, error.state)
            reason = f"creating {urn.type} {urn.name}: {_listed(error)}"
            raise InitFailed(reason, error.resource_id, state, news) from error
        except ProviderError as error:
            raise ProviderError(_listed(error)) from error
        return pb.CreateResponse(id=resource_id, properties=encode_struct(_with_meta(resource.table, state)))

    def Read(self, request: Any, context: Any) -> Any:
        """For a refresh or, without a state, an import. An empty answer where nothing exists."""
        urn, prior, resource_id = Urn.parse(request.urn), _without_meta(request.properties), request.id
        resource, refresh = self._resource(urn), bool(prior)
        if not refresh:
            prior = resource.import_properties(resource_id)
            resource_id = resource.canonical_id(resource_id, prior)
        with _listing("refreshing", urn):
            found = resource.read(resource_id, prior)
        if found is None:
            return pb.ReadResponse()
        inputs = refreshed(_plain(request.inputs), found) if refresh else imported(resource.table.fields, found)
        state = encode_struct(_with_meta(resource.table, found))
        return pb.ReadResponse(id=resource_id, inputs=encode_struct(inputs), properties=state)

    def Update(self, request: Any, context: Any) -> Any:
        urn = Urn.parse(request.urn)
        resource = self._resource(urn)
        prior, planned = _planned(resource, request)
        if request.preview:
            return pb.UpdateResponse(properties=encode_struct(planned))
        deadline = _deadline(resource.table, "update", request.timeout)
        try:
            with _listing("updating", urn):
                found = resource.update(Update(request.id, prior, planned, resource.diff(prior, planned), deadline))
        except ProviderError as error:
            # Some of the requests may have succeeded: the old state stays, and the next refresh shows the result.
            state = _with_meta(resource.table, prior)
            raise InitFailed(str(error), request.id, state, _plain(request.news)) from error
        return pb.UpdateResponse(properties=encode_struct(_with_meta(resource.table, found)))

    def Delete(self, request: Any, context: Any) -> Any:
        urn, prior = Urn.parse(request.urn), _without_meta(request.properties)
        resource = self._resource(urn)
        with _listing("deleting", urn):
            if resource.check_deletion(request.id, prior):
                resource.delete(request.id, prior, _deadline(resource.table, "delete", request.timeout))
        return empty_pb2.Empty()

    def cancel(self) -> None:
        """Stop waiting within a few seconds: operations under way end with an error and keep their state."""
        if self._session is not None:
            self._session.api.cancelled.set()

    def _configured(self) -> Session:
        if self._session is None:
            raise ProviderError("the gcp provider has not been configured")
        return self._session

    def _resource(self, urn: Urn) -> Resource:
        self._configured()
        try:
            return self._resources[urn.type]
        except KeyError:
            served = ", ".join(sorted(self._resources))
            raise ProviderError(
                f"unrecognized resource type: {urn.type}; this stand-in for the gcp provider serves {served}; for any "
                "other install the official plugin with `pulumi plugin install resource gcp`"
            ) from None


def _not_offered(context: grpc.ServicerContext, what: str) -> None:
    reason = f"the twin's gcp provider does not offer {what}; install the official gcp plugin"
    context.abort(grpc.StatusCode.UNIMPLEMENTED, reason)


def _plain(struct: struct_pb2.Struct) -> Properties:
    """The properties of a request with secrets opened."""
    return dict(reveal(decode_struct(struct)))


def _checked(inputs: Properties, failures: Sequence[str]) -> pb.CheckResponse:
    """As with the official plugin, the path is a part of the reason."""
    return pb.CheckResponse(inputs=encode_struct(inputs), failures=[pb.CheckFailure(reason=each) for each in failures])


def _planned(resource: Resource, request: Any) -> tuple[Properties, Properties]:
    """The state, and what it will be; what the user ignores stays as it is."""
    prior = _without_meta(request.olds)
    return prior, keep_ignored(resource.plan(_plain(request.news), prior), prior, request.ignoreChanges)


def _difference(changes: Mapping[str, Change], delete_first: bool = False) -> pb.DiffResponse:
    """The changes, with the top-level properties that the engine names for them."""
    top = {path: re.split(r"[.\[]", path, maxsplit=1)[0] for path in changes}
    replaced = sorted({top[path] for path, change in changes.items() if change.replaces})
    names = {path: f"{change.action}{'_replace' if change.replaces else ''}" for path, change in changes.items()}
    kinds = {path: pb.PropertyDiff.Kind.Value(name.upper()) for path, name in names.items()}
    return pb.DiffResponse(
        changes=pb.DiffResponse.DIFF_SOME if changes else pb.DiffResponse.DIFF_NONE,
        diffs=sorted(set(top.values())),
        replaces=replaced,
        deleteBeforeReplace=delete_first and bool(replaced),
        detailedDiff={path: pb.PropertyDiff(kind=kind) for path, kind in kinds.items()},
        hasDetailedDiff=bool(changes),
    )


def _delete_first(table: Table, news: Properties) -> bool:
    """Two resources cannot have one name: an explicit name makes a replacement delete the old one first."""
    if table.delete_before_replace:
        return True
    name = table.name_property
    return name is not None and DEFAULTS in news and name in news and name not in news[DEFAULTS]


def _deadline(table: Table, what: str, timeout: float) -> Deadline:
    return Deadline(timeout or table.timeouts.get(what, _DEFAULT_MINUTES) * 60)


@contextmanager
def _listing(doing: str, urn: Urn) -> Iterator[None]:
    """Say in an error what was being done with which resource."""
    try:
        yield
    except ProviderError as error:
        raise ProviderError(f"{doing} {urn.type} {urn.name}: {_listed(error)}") from error


def _listed(error: Exception) -> str:
    """Terraform's list of errors, which the official plugin shows even for one."""
    return f"1 error occurred:\n\t* {error}\n\n"


def _without_meta(state: struct_pb2.Struct) -> Properties:
    return {name: value for name, value in _plain(state).items() if name != _META}


def _with_meta(table: Table, state: Properties) -> Properties:
    """The state with Terraform's own notes, so that the official plugin can take the stack over."""
    nanoseconds = {what: minutes * 60 * 10**9 for what, minutes in table.timeouts.items()}
    meta = {_TIMEOUTS_KEY: nanoseconds} if nanoseconds else {}
    if table.schema_version:
        meta["schema_version"] = str(table.schema_version)  # type: ignore[assignment]
    return {**state, _META: json.dumps(meta, separators=(",", ":"))} if meta else state
