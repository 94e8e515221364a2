"""The control plane's own client: the few verbs and kinds it needs, without discovery, on one connection pool."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import aiohttp

from tpuplane_twin.cluster.errors import ClusterError

Object = dict[str, Any]

FIELD_MANAGER = "tpuplane-twin"
_CONNECTIONS = 32
_PATIENCE = 120.0  # seconds for which a server that was killed may be away: on a busy machine its start takes a minute

# kind: (prefix, plural, namespaced). The kinds of the operators' manifests and of the twin's own objects.
_KINDS = {
    "APIService": ("apis/apiregistration.k8s.io/v1", "apiservices", False),
    "ClusterRole": ("apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "ClusterQueue": ("apis/kueue.x-k8s.io/v1beta2", "clusterqueues", False),
    "ComputeClass": ("apis/cloud.google.com/v1", "computeclasses", False),
    "ConfigMap": ("api/v1", "configmaps", True),
    "CSIDriver": ("apis/storage.k8s.io/v1", "csidrivers", False),
    "CustomResourceDefinition": ("apis/apiextensions.k8s.io/v1", "customresourcedefinitions", False),
    "Deployment": ("apis/apps/v1", "deployments", True),
    "LocalQueue": ("apis/kueue.x-k8s.io/v1beta2", "localqueues", True),
    "MutatingWebhookConfiguration": (
        "apis/admissionregistration.k8s.io/v1",
        "mutatingwebhookconfigurations",
        False,
    ),
    "EndpointSlice": ("apis/discovery.k8s.io/v1", "endpointslices", True),
    "Namespace": ("api/v1", "namespaces", False),
    "Node": ("api/v1", "nodes", False),
    "Pod": ("api/v1", "pods", True),
    "PodTemplate": ("api/v1", "podtemplates", True),
    "ProvisioningRequest": ("apis/autoscaling.x-k8s.io/v1", "provisioningrequests", True),
    "RayJob": ("apis/ray.io/v1", "rayjobs", True),
    "Role": ("apis/rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("apis/rbac.authorization.k8s.io/v1", "rolebindings", True),
    "Secret": ("api/v1", "secrets", True),
    "Service": ("api/v1", "services", True),
    "ServiceAccount": ("api/v1", "serviceaccounts", True),
    "StorageClass": ("apis/storage.k8s.io/v1", "storageclasses", False),
    "ValidatingWebhookConfiguration": (
        "apis/admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
        False,
    ),
    "Workload": ("apis/kueue.x-k8s.io/v1beta2", "workloads", True),
}
KINDS = frozenset(_KINDS)


class ApiError(ClusterError):
    """The API server refused a request; the message is its own."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Api:
    """A client of one API server. Use it as an async context manager, or call `close`."""

    def __init__(self, server: str, *, tls: ssl.SSLContext, token: str) -> None:
        self._server = server
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls, limit=_CONNECTIONS),
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        )

    async def __aenter__(self) -> Api:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give back the connections."""
        await self._session.close()

    async def get(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None where there is none."""
        try:
            return await self.request("GET", path(kind, name, namespace))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    async def list(self, kind: str, namespace: str | None = None, **selectors: str) -> list[Object]:
        """All objects of `kind` that match `labelSelector` and `fieldSelector`."""
        answer = await self.request("GET", path(kind, None, namespace), params=selectors)
        items: list[Object] = answer["items"]
        return items

    async def create(self, item: Object) -> None:
        """Create `item`; nothing happens where it exists."""
        try:
            await self.request("POST", path(item["kind"], None, item["metadata"].get("namespace")), body=item)
        except ApiError as error:
            if error.status != 409:
                raise

    async def apply(self, item: Object) -> Object:
        """Create `item` or take over what it says, by server-side apply."""
        metadata = item["metadata"]
        return await self.request(
            "PATCH",
            path(item["kind"], metadata["name"], metadata.get("namespace")),
            body=item,
            params={"fieldManager": FIELD_MANAGER, "force": "true"},
            content_type="application/apply-patch+yaml",
        )

    async def merge(self, kind: str, name: str, patch: Object) -> Object:
        """Merge `patch` (RFC 7386) into a cluster-scoped object."""
        return await self.request(
            "PATCH", path(kind, name, None), body=patch, content_type="application/merge-patch+json"
        )

    async def delete(self, kind: str, name: str, namespace: str | None = None, *, grace: int = 0) -> None:
        """Delete the object, with `grace` seconds for a pod; nothing happens where there is none."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": grace}
        try:
            await self.request("DELETE", path(kind, name, namespace), body=body)
        except ApiError as error:
            if error.status != 404:
                raise

    async def watch(self, kind: str, version: str) -> AsyncIterator[tuple[str, Object]]:
        """The changes to objects of `kind` since that version of the list (ADDED, MODIFIED, DELETED; object).

        Ends when the server ends it, as it does every few minutes. Raises `ApiError` where it refuses, or says that
        the version is too old (then list again), and aiohttp's own errors where it goes away.
        """
        params = {"watch": "1", "resourceVersion": version}
        forever = aiohttp.ClientTimeout(total=None)
        async with self._session.get(
            f"{self._server}{path(kind, None, None)}", params=params, timeout=forever
        ) as answer:
            if answer.status >= 400:
                raise ApiError(answer.status, answer.reason or "", await answer.text())
            rest = b""
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    change = json.loads(line)
                    if change["type"] == "ERROR":
                        status = change["object"]
                        raise ApiError(status.get("code", 500), status.get("reason", ""), status.get("message", ""))
                    yield change["type"], change["object"]

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: Object | None = None,
        params: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        """One request, again while the server is being restarted, also in the middle of its answer; what it says.

        Raises `ApiError` with the server's own words, `ClusterError` when it stays away.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                if self._session.closed:
                    raise ClusterError(f"the API server at {self._server} is being stopped")
                return await self._once(method, url, body, params, content_type)
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError) as error:
                if time.monotonic() > deadline:
                    raise ClusterError(f"the API server at {self._server} does not answer: {error}") from error
                await asyncio.sleep(0.2)

    async def _once(
        self, method: str, url: str, body: Object | None, params: dict[str, str] | None, content_type: str
    ) -> Object:
        async with self._session.request(
            method,
            f"{self._server}{url}",
            data=None if body is None else json.dumps(body),
            params=params,
            headers={"Content-Type": content_type},
        ) as response:
            text = await response.text()
            if response.status < 400:
                answer: Object = json.loads(text)
                return answer
        try:
            status = json.loads(text)
        except ValueError:
            status = {}
        raise ApiError(response.status, status.get("reason", ""), status.get("message") or text.strip())


def path(kind: str, name: str | None, namespace: str | None) -> str:
    """The URL path of an object, or of its collection where `name` is None."""
    prefix, plural, namespaced = _KINDS[kind]
    parts = [prefix, *(["namespaces", namespace] if namespaced and namespace else []), plural]
    return "/" + "/".join([*parts, *([name] if name else [])])
