"""The configured cluster, reachable or not."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tpuplane_standins.providers.contract import ProviderError, Request
from tpuplane_standins.providers.kubernetes.api import ApiServer, ConnectionFailed, StatusError
from tpuplane_standins.providers.kubernetes.awaiting.wait import Waiter
from tpuplane_standins.providers.kubernetes.discovery import Discovery, NoMatchError, Resource
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.kubeconfig import KubeconfigError, load
from tpuplane_standins.providers.kubernetes.log import ResourceLog
from tpuplane_standins.providers.kubernetes.settings import Settings
from tpuplane_standins.providers.kubernetes.values import Object


@dataclass(frozen=True, slots=True)
class Operation:
    """One request of the engine about one resource."""

    cluster: Cluster
    request: Request
    log: ResourceLog

    @property
    def waiter(self) -> Waiter:
        """Waits for objects of the cluster. Raises `ProviderError` where it cannot be reached."""
        return Waiter(self.cluster.api, self.cluster.discovery, self.cluster.cancelled, self.log)


class Cluster:
    """One cluster, as one provider resource configures it. Safe for use by many threads."""

    def __init__(self, settings: Settings, cancelled: threading.Event) -> None:
        """`cancelled` is set once the engine cancels the provider."""
        self.settings = settings
        self.cancelled = cancelled
        self.default_namespace = settings.namespace
        self.unreachable = ""
        self._crds: dict[tuple[str, str], str] = {}
        self._connection: tuple[ApiServer, Discovery] | None = None
        try:
            credentials = load(settings.kubeconfig, settings.context, settings.cluster, settings.namespace)
            self.default_namespace = credentials.namespace
            api = ApiServer(credentials)
            discovery = Discovery(api)
            discovery.refresh()
            self._connection = (api, discovery)
        except KubeconfigError as error:
            self.unreachable = str(error)
        except (ConnectionFailed, StatusError) as error:
            self.unreachable = f"unable to load schema information from the API server: {error}"

    @property
    def api(self) -> ApiServer:
        """The API server. Raises `ProviderError` where it cannot be reached."""
        return self._connected()[0]

    @property
    def discovery(self) -> Discovery:
        """What the API server serves. Raises `ProviderError` where it cannot be reached."""
        return self._connected()[1]

    def _connected(self) -> tuple[ApiServer, Discovery]:
        if self._connection is None:
            raise ProviderError(f"configured Kubernetes cluster is unreachable: {self.unreachable}")
        return self._connection

    def resource(self, obj: Mapping[str, Any]) -> Resource:
        """Where objects like this one are served. Raises `NoMatchError`, `ProviderError`."""
        return self.discovery.find(Kind.of(obj))

    def serves(self, obj: Mapping[str, Any]) -> bool:
        """Whether the cluster is reachable and knows the object's kind."""
        if self._connection is None:
            return False
        try:
            self.resource(obj)
        except NoMatchError:
            return False
        return True

    def namespaced(self, kind: Kind) -> bool | None:
        """Whether objects of this kind live in namespaces; None where its CRD may only come with the update.

        From the built-in kinds, then from the CRDs that this program defines, then from the API server.
        """
        kind = kind.underlying
        if kind.cluster_scoped is not None:
            return not kind.cluster_scoped
        scope = self._crds.get((kind.group, kind.name))
        if scope is not None:
            return scope == "Namespaced"
        try:
            return self.discovery.find(kind).namespaced
        except (NoMatchError, ProviderError):
            return None

    def remember_crd(self, crd: Object) -> None:
        """Take note of a kind that the program is about to define."""
        spec = crd.get("spec")
        if isinstance(spec, dict) and isinstance(spec.get("names"), dict):
            key = (str(spec.get("group")), str(spec["names"].get("kind")))
            self._crds[key] = str(spec.get("scope"))

    def await_kinds(self, crd: Object) -> None:
        """Return once the API server serves what a CRD that was just written defines."""
        spec = crd.get("spec") or {}
        name = str((spec.get("names") or {}).get("kind"))
        served = [
            Kind(str(spec.get("group")), str(version.get("name")), name)
            for version in spec.get("versions") or ()
            if version.get("served")
        ]
        self.discovery.expect(served, self.cancelled)
