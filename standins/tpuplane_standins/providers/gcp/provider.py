"""The provider: routes the engine's calls to the resource types and keeps what the engine stores in shape."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tpuplane_standins.providers.contract import (
    Change,
    Checked,
    Difference,
    InitFailed,
    Properties,
    ProviderError,
    Request,
    Urn,
)
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


class GcpProvider:
    """One configured provider. Every method may run in many threads at once.

    They raise `ProviderError`, and `InitFailed` where the resource exists.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._resources: dict[str, Resource] = {}

    def check_config(self, urn: Urn, news: Properties) -> Checked:
        """Check the provider's own configuration."""
        cause = "could not validate provider configuration: Invalid or unknown key."
        return Checked(news, [("", f"{cause} Examine values at '{urn.name}.{key}'.") for key in unknown_keys(news)])

    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        """What a changed configuration means for the provider, and for all that it created."""
        # As with the official plugin: neither the provider nor what it created is replaced.
        names = {*olds, *news} - {"version"}
        return _difference({name: Change("update") for name in names if olds.get(name) != news.get(name)})

    def configure(self, args: Properties) -> None:
        """Read the configuration."""
        session = self._session = start_session(args, sorted({load(name).service for name in _TYPES}))
        made = [kind(session, name) for name, kind in _TYPES.items()]
        self._resources = {resource.table.token: resource for resource in made}

    def cancel(self) -> None:
        """Stop waiting within a few seconds: operations under way end with an error and keep their state."""
        if self._session is not None:
            self._session.api.cancelled.set()

    def invoke(self, token: str, args: Properties) -> Properties:
        """The result of a function."""
        return invoke(self._configured(), token, args)

    def check(self, request: Request) -> Checked:
        """Inputs with name and defaults filled in, or what is wrong with them."""
        return check(self._resource(request.urn).table, request)

    def diff(self, request: Request) -> Difference:
        """What an update with these inputs would change."""
        resource = self._resource(request.urn)
        prior, planned = _planned(resource, request)
        return _difference(resource.diff(prior, planned), _delete_first(resource.table, request.news))

    def create(self, request: Request) -> tuple[str, Properties]:
        """The new resource's id and state; in a preview, what it would look like."""
        urn, resource = request.urn, self._resource(request.urn)
        planned = resource.plan(request.news, None)
        if request.preview:
            return "", planned
        try:
            resource_id, state = resource.create(planned, _deadline(resource.table, "create", request.timeout))
        except InitFailed as error:
            state = _with_meta(resource.table, error.state)
            reason = f"creating {urn.type} {urn.name}: {_listed(error)}"
            raise InitFailed(reason, error.resource_id, state, request.news) from error
        except ProviderError as error:
            raise ProviderError(_listed(error)) from error
        return resource_id, _with_meta(resource.table, state)

    def read(self, request: Request) -> tuple[str, Properties, Properties]:
        """Id, inputs and state as they are now, for a refresh or an import; the id is empty where nothing exists."""
        resource, resource_id = self._resource(request.urn), request.id
        refresh = bool(request.olds)
        prior = _without_meta(request.olds) if refresh else resource.import_properties(resource_id)
        if not refresh:
            resource_id = resource.canonical_id(resource_id, prior)
        with _listing("refreshing", request.urn):
            found = resource.read(resource_id, prior)
        if found is None:
            return "", {}, {}
        news = refreshed(request.news, found) if refresh else imported(resource.table.fields, found)
        return resource_id, news, _with_meta(resource.table, found)

    def update(self, request: Request) -> Properties:
        """The state after a change in place; in a preview, what it would look like."""
        resource = self._resource(request.urn)
        prior, planned = _planned(resource, request)
        if request.preview:
            return planned
        deadline = _deadline(resource.table, "update", request.timeout)
        try:
            with _listing("updating", request.urn):
                found = resource.update(Update(request.id, prior, planned, resource.diff(prior, planned), deadline))
        except ProviderError as error:
            # Some of the requests may have succeeded: the old state stays, and the next refresh shows the result.
            raise InitFailed(str(error), request.id, _with_meta(resource.table, prior), request.news) from error
        return _with_meta(resource.table, found)

    def delete(self, request: Request) -> None:
        """Delete a resource; one that does not exist is fine."""
        resource, prior = self._resource(request.urn), _without_meta(request.olds)
        with _listing("deleting", request.urn):
            if resource.check_deletion(request.id, prior):
                resource.delete(request.id, prior, _deadline(resource.table, "delete", request.timeout))

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


def _planned(resource: Resource, request: Request) -> tuple[Properties, Properties]:
    """The state, and what it will be; what the user ignores stays as it is."""
    prior = _without_meta(request.olds)
    return prior, keep_ignored(resource.plan(request.news, prior), prior, request.ignore)


def _difference(changes: Mapping[str, Change], delete_first: bool = False) -> Difference:
    """The changes, with the top-level properties that the engine names for them."""
    top = {path: path.split(".", 1)[0].split("[", 1)[0] for path in changes}
    replaced = sorted({top[path] for path, change in changes.items() if change.replaces})
    return Difference(changes, replaced, sorted(set(top.values())), delete_first)


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


def _without_meta(state: Properties) -> Properties:
    return {name: value for name, value in state.items() if name != _META}


def _with_meta(table: Table, state: Properties) -> Properties:
    """The state with Terraform's own notes, so that the official plugin can take the stack over."""
    nanoseconds = {what: minutes * 60 * 10**9 for what, minutes in table.timeouts.items()}
    meta = {_TIMEOUTS_KEY: nanoseconds} if nanoseconds else {}
    if table.schema_version:
        meta["schema_version"] = str(table.schema_version)  # type: ignore[assignment]
    return {**state, _META: json.dumps(meta, separators=(",", ":"))} if meta else state
