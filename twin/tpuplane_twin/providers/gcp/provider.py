# ruff: noqa: D102 - the methods are described by `Provider`
"""The provider: routes the engine's calls to the resource types and keeps what the engine stores in shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any, Final

from tpuplane_twin.providers.contract import (
    Autonaming,
    Change,
    Checked,
    Difference,
    InitFailed,
    Properties,
    Provider,
    ProviderError,
    Urn,
)
from tpuplane_twin.providers.gcp import inputs as extract
from tpuplane_twin.providers.gcp.api import Deadline
from tpuplane_twin.providers.gcp.check import check
from tpuplane_twin.providers.gcp.defaults import DEFAULTS
from tpuplane_twin.providers.gcp.diff import without_ignored
from tpuplane_twin.providers.gcp.invokes import invoke
from tpuplane_twin.providers.gcp.resources.account import Account, ServiceIdentity
from tpuplane_twin.providers.gcp.resources.base import CreatedInError, Resource, Update
from tpuplane_twin.providers.gcp.resources.cluster import Cluster
from tpuplane_twin.providers.gcp.resources.iam_member import CryptoKeyIamMember, IamMember
from tpuplane_twin.providers.gcp.resources.kms import CryptoKey, KeyRing
from tpuplane_twin.providers.gcp.resources.networking import Firewall, Network, ResourcePolicy, Router, Subnetwork
from tpuplane_twin.providers.gcp.resources.node_pool import NodePool
from tpuplane_twin.providers.gcp.resources.observability import AlertPolicy, Dashboard, LogMetric
from tpuplane_twin.providers.gcp.resources.router_nat import RouterNat
from tpuplane_twin.providers.gcp.session import Session, start_session, unknown_keys
from tpuplane_twin.providers.gcp.tables import Table

_META: Final = "__meta"
_TIMEOUTS_KEY: Final = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0"  # where Terraform's SDK keeps a resource's timeouts
_DEFAULT_MINUTES: Final = 20

_TYPES: Final[tuple[type[Resource], ...]] = (
    Account,
    AlertPolicy,
    Cluster,
    CryptoKey,
    CryptoKeyIamMember,
    Dashboard,
    Firewall,
    IamMember,
    KeyRing,
    LogMetric,
    Network,
    NodePool,
    ResourcePolicy,
    Router,
    RouterNat,
    ServiceIdentity,
    Subnetwork,
)


class GcpProvider(Provider):
    """One configured provider. Every method may run in many threads at once."""

    title = "gcp"

    def __init__(self) -> None:
        self._session: Session | None = None
        self._resources: dict[str, Resource] = {}

    @cached_property
    def version(self) -> str:
        return metadata.version("pulumi-gcp")

    def check_config(self, urn: Urn, news: Properties) -> Checked:
        failures = [
            (
                "",
                "could not validate provider configuration: Invalid or unknown key. "
                f"Examine values at '{urn.name}.{key}'.",
            )
            for key in unknown_keys(news)
        ]
        return Checked(news, failures)

    def diff_config(self, olds: Properties, news: Properties) -> Difference:
        # As with the official plugin: neither the provider nor what it created is replaced.
        names = {*olds, *news} - {"version"}
        return _difference({name: Change("update") for name in names if olds.get(name) != news.get(name)})

    def configure(self, args: Properties, variables: Mapping[str, str]) -> None:
        self._session = start_session(args)
        self._resources = {}
        for kind in _TYPES:
            resource = kind(self._session)
            self._resources[resource.table.token] = resource

    def cancel(self) -> None:
        if self._session is not None:
            self._session.api.cancelled.set()

    def invoke(self, token: str, args: Properties) -> Properties:
        return invoke(self._configured(), token, args)

    def check(
        self, urn: Urn, olds: Properties, news: Properties, seed: bytes, autonaming: Autonaming | None
    ) -> Checked:
        return check(self._resource(urn).table, urn.name, olds, news, seed, autonaming)

    def diff(
        self, urn: Urn, resource_id: str, state: Properties, news: Properties, ignore: Sequence[str]
    ) -> Difference:
        resource = self._resource(urn)
        prior = _without_meta(state)
        changes = without_ignored(resource.diff(prior, resource.plan(_plain(news), prior)), ignore)
        return _difference(changes, _delete_first(resource.table, news))

    def create(self, urn: Urn, inputs: Properties, timeout: float, preview: bool) -> tuple[str, Properties]:
        resource = self._resource(urn)
        planned = resource.plan(_plain(inputs), None)
        if preview:
            return "", planned
        try:
            resource_id, state = resource.create(planned, _deadline(resource.table, "create", timeout))
        except CreatedInError as error:
            state = _with_meta(resource.table, error.state)
            reason = f"creating {urn.type} {urn.name}: {_listed(error)}"
            raise InitFailed(reason, error.resource_id, state, inputs) from error
        except ProviderError as error:
            raise ProviderError(_listed(error)) from error
        return resource_id, _with_meta(resource.table, state)

    def read(
        self, urn: Urn, resource_id: str, inputs: Properties, state: Properties
    ) -> tuple[str, Properties, Properties]:
        resource = self._resource(urn)
        refresh = bool(state)
        prior = _without_meta(state) if refresh else resource.import_properties(resource_id)
        if not refresh:
            resource_id = resource.canonical_id(resource_id, prior)
        try:
            found = resource.read(resource_id, prior)
        except ProviderError as error:
            raise ProviderError(f"refreshing {urn.type} {urn.name}: {_listed(error)}") from error
        if found is None:
            return "", {}, {}
        fields = resource.table.fields
        new_inputs = extract.refreshed(inputs, found) if refresh else extract.imported(fields, found)
        return resource_id, new_inputs, _with_meta(resource.table, found)

    def update(
        self,
        urn: Urn,
        resource_id: str,
        state: Properties,
        news: Properties,
        timeout: float,
        preview: bool,
        ignore: Sequence[str] = (),
    ) -> Properties:
        resource = self._resource(urn)
        prior = _without_meta(state)
        planned = resource.plan(_plain(news), prior)
        if preview:
            return planned
        deadline = _deadline(resource.table, "update", timeout)
        try:
            found = resource.update(Update(resource_id, prior, planned, resource.diff(prior, planned), deadline))
        except ProviderError as error:
            # Some of the requests may have succeeded: the old state stays, and the next refresh shows the result.
            reason = f"updating {urn.type} {urn.name}: {_listed(error)}"
            raise InitFailed(reason, resource_id, _with_meta(resource.table, prior), news) from error
        return _with_meta(resource.table, found)

    def delete(self, urn: Urn, resource_id: str, state: Properties, timeout: float) -> None:
        resource = self._resource(urn)
        try:
            prior = _without_meta(state)
            if resource.check_deletion(resource_id, prior):
                resource.delete(resource_id, prior, _deadline(resource.table, "delete", timeout))
        except ProviderError as error:
            raise ProviderError(f"deleting {urn.type} {urn.name}: {_listed(error)}") from error

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
    return Deadline.after(timeout or table.timeouts.get(what, _DEFAULT_MINUTES) * 60)


def _listed(error: Exception) -> str:
    """Terraform's list of errors, which the official plugin shows even for one."""
    return f"1 error occurred:\n\t* {error}\n\n"


def _plain(value: Any) -> Any:
    """Inputs without the bookkeeping of defaults."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if key != DEFAULTS}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _without_meta(state: Properties) -> Properties:
    return {name: value for name, value in state.items() if name != _META}


def _with_meta(table: Table, state: Properties) -> Properties:
    """The state with Terraform's own notes, so that the official plugin can take the stack over."""
    nanoseconds = {what: minutes * 60 * 10**9 for what, minutes in table.timeouts.items()}
    meta = {_TIMEOUTS_KEY: nanoseconds} if nanoseconds else {}
    if table.schema_version:
        meta["schema_version"] = str(table.schema_version)  # type: ignore[assignment]
    return {**state, _META: json.dumps(meta, separators=(",", ":"))} if meta else state
