"""Reports about one process pod to the API server. Its status and its end are sent until they are accepted."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import aiohttp

from tpuplane_twin.cluster.api import Api, ApiError, ClusterError, Object
from tpuplane_twin.cluster.runner import status

logger = logging.getLogger(__name__)

AWAY = (ClusterError, aiohttp.ClientError, TimeoutError)
"""How a request fails: the API server rejects it, does not answer for long, or cuts its answer off."""

_AGAIN_SECONDS = 0.5


class Report:
    """Reports about `pod`. A rejected report is not sent again: the pod, or its namespace, is being deleted."""

    def __init__(self, api: Api, pod: Object) -> None:
        self._api = api
        self._pod = pod
        metadata = pod["metadata"]
        self._namespace = f"/api/v1/namespaces/{metadata['namespace']}"
        self._url = f"{self._namespace}/pods/{metadata['name']}"

    async def status(self, said: Object) -> None:
        """Report the pod's status."""
        body = {"metadata": {"uid": self._pod["metadata"]["uid"]}, "status": said}
        await self._request("PATCH", f"{self._url}/status", body, "application/strategic-merge-patch+json")

    async def event(self, kind: str, reason: str, message: str) -> None:
        """Something happened to it; `kind` is Normal or Warning. Sent once: nothing waits for an event."""
        body = status.event(self._pod, kind, reason, message)
        with contextlib.suppress(*AWAY):
            await self._api.request("POST", f"{self._namespace}/events", body=body)

    async def delete(self) -> None:
        """Delete the pod from the API: nothing of it is left."""
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "gracePeriodSeconds": 0,
            # Another pod may have the name now.
            "preconditions": {"uid": self._pod["metadata"]["uid"]},
        }
        await self._request("DELETE", self._url, body)

    async def _request(self, method: str, url: str, body: Object, content_type: str = "application/json") -> None:
        while True:
            try:
                await self._api.request(method, url, body=body, content_type=content_type)
                return
            except AWAY as error:
                logger.debug("%s %s: %s", method, url, error)
                # Without etcd it answers 500 and above.
                if isinstance(error, ApiError) and error.status < 500 and error.status != 429:
                    return
            await asyncio.sleep(_AGAIN_SECONDS)
