"""The status and events that a kubelet reports of a pod and its first container, sent until they are accepted."""

import asyncio
import contextlib
import logging

import aiohttp

from tpuplane_twin.cluster.api import Api, ApiError, ClusterError, Object, event, path, timestamp

logger = logging.getLogger(__name__)

AWAY = (ClusterError, aiohttp.ClientError, TimeoutError)
"""How a request fails: the API server rejects it, does not answer for long, or cuts its answer off."""

_READY = ("ContainersReady", "Ready")
_AGAIN_SECONDS = 0.5


def terminated(code: int, started: str) -> Object:
    """How a container ended."""
    reason = "Completed" if code == 0 else "Error"
    state: Object = {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": timestamp()}
    return state | ({"signal": code - 128} if code > 128 else {})


class Report:
    """Reports about `pod`. A rejected report is not sent again: the pod, or its namespace, is being deleted."""

    def __init__(self, api: Api, pod: Object) -> None:
        self._api = api
        self._pod = pod
        metadata = pod["metadata"]
        self._url = path("Pod", metadata["name"], metadata["namespace"])

    async def waiting(self, reason: str, message: str, restarts: int, last: Object | None = None) -> None:
        """The container does not run, and is to."""
        state = {"waiting": {"reason": reason, "message": message}}
        await self._status("Running" if restarts else "Pending", state, restarts, last=last)

    async def running(self, since: str, restarts: int, *, ready: bool, last: Object | None = None) -> None:
        """The container runs."""
        await self._status("Running", {"running": {"startedAt": since}}, restarts, ready=ready, last=last)

    async def ended(self, end: Object, restarts: int) -> None:
        """The container has ended for good."""
        phase = "Succeeded" if end["exitCode"] == 0 else "Failed"
        await self._status(phase, {"terminated": end}, restarts)

    async def event(self, kind: str, reason: str, message: str) -> None:
        """Something happened to it; `kind` is Normal or Warning. Sent once: nothing waits for an event."""
        metadata, host = self._pod["metadata"], self._pod["spec"].get("nodeName", "")
        about = {"apiVersion": "v1", "kind": "Pod", **{key: metadata[key] for key in ("name", "namespace", "uid")}}
        body = event(about, kind, reason, message[:1024], component="kubelet", host=host)
        with contextlib.suppress(*AWAY):
            await self._api.create(body)

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

    async def _status(
        self, phase: str, state: Object, restarts: int, *, ready: bool = False, last: Object | None = None
    ) -> None:
        first, *others = self._pod["spec"]["containers"]
        mine: Object = {
            "name": first["name"],
            "image": first["image"],
            "imageID": "",
            "ready": ready,
            "started": "running" in state,
            "restartCount": restarts,
            "state": state,
            "lastState": {"terminated": last} if last else {},
        }
        # The twin runs the first container; the others are simulated, and have its status.
        theirs = [{**mine, "name": other["name"], "image": other["image"]} for other in others]
        reason = {} if ready else {"reason": "PodCompleted" if phase == "Succeeded" else "ContainersNotReady"}
        transition = {"status": str(ready), "lastTransitionTime": timestamp(), **reason}
        status = {
            "phase": phase,
            "containerStatuses": [mine, *theirs],
            "conditions": [{"type": kind, **transition} for kind in _READY],
        }
        body = {"metadata": {"uid": self._pod["metadata"]["uid"]}, "status": status}
        await self._request("PATCH", f"{self._url}/status", body, "application/strategic-merge-patch+json")

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
