"""Which kinds an API server serves, under which path, in namespaces or not."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from tpuplane_standins.providers.kubernetes.api import ApiServer
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.values import Object

_FRESH_SECONDS: Final = 0.2
_EXPECT_ATTEMPTS: Final = 25
# One request per half of the API instead of one per group and version (served since Kubernetes 1.27).
_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class NoMatchError(LookupError):
    """The API server serves no such kind."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(f'no matches for kind "{kind.name}" in version "{kind.api_version}"')


@dataclass(frozen=True, slots=True)
class Resource:
    """Where a kind's objects are served."""

    kind: Kind
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of one object, or of all in a namespace ("default" where a namespace is needed and none given)."""
        prefix = f"/apis/{self.kind.group}" if self.kind.group else "/api"
        path = f"{prefix}/{self.kind.version}"
        if self.namespaced:
            path += f"/namespaces/{quote(namespace or 'default', safe='')}"
        path += f"/{self.plural}"
        return f"{path}/{quote(name, safe='')}" if name else path


class Discovery:
    """The kinds of one API server, read once and again when a kind is missing. Safe for use by many threads."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._lock = threading.Lock()
        self._found: dict[Kind, Resource] = {}
        self._read_at = 0.0

    def refresh(self) -> None:
        """Read what is served now. Raises as `ApiServer.request` does."""
        found: dict[Kind, Resource] = {}
        for root in ("/api", "/apis"):
            for group in self._api.request("GET", root, accept=_AGGREGATED).get("items") or ():
                found.update(_resources(group))
        self._found, self._read_at = found, time.monotonic()

    def find(self, kind: Kind) -> Resource:
        """Where objects of `kind` are served. Raises `NoMatchError`."""
        resource = self._found.get(kind)
        if resource is None:
            with self._lock:
                # A program may hold hundreds of objects whose kind is still to come.
                if time.monotonic() - self._read_at > _FRESH_SECONDS:
                    self.refresh()
            resource = self._found.get(kind)
        if resource is None:
            raise NoMatchError(kind)
        return resource

    def api_versions(self) -> list[str]:
        """What charts may ask for: every group and version, and every kind of each."""
        versions = {kind.api_version for kind in self._found}
        return sorted(versions | {str(kind) for kind in self._found if kind.name})

    def expect(self, kinds: Sequence[Kind], cancelled: threading.Event) -> None:
        """Return once these kinds are served, or after a few seconds: a CRD that is not accepted never serves any."""
        for _ in range(_EXPECT_ATTEMPTS):
            self.refresh()
            if all(kind in self._found for kind in kinds) or cancelled.is_set():
                return
            cancelled.wait(_FRESH_SECONDS)


def _resources(group: Object) -> dict[Kind, Resource]:
    found = {}
    name = (group.get("metadata") or {}).get("name") or ""
    for version in group.get("versions") or ():
        for entry in version.get("resources") or ():
            response_kind = entry.get("responseKind") or {}
            # A resource may answer with another group's kind (scale); what matters is the path it is served at.
            kind = Kind(name, version["version"], response_kind.get("kind") or "")
            found[kind] = Resource(kind, entry["resource"], entry.get("scope") == "Namespaced")
    return found
