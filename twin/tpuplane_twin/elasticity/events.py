"""The cluster autoscaler's events on pods and nodes, as `kubectl describe` shows them."""

import datetime as dt
import logging
import secrets
from collections.abc import Callable
from typing import Any

from tpuplane_twin.cluster.api import Api, ClusterError, each
from tpuplane_twin.elasticity.objects import Node, Pod

log = logging.getLogger(__name__)

_SOURCE = "cluster-autoscaler"
# The API server deletes events after an hour; pods that still wait need a newer one.
_AGAIN_SECONDS = 1800.0


class Recorder:
    """Writes events. The same message for an object is repeated only after half an hour."""

    def __init__(self, api: Api, now: Callable[[], float]) -> None:
        """`now` is a clock in seconds."""
        self._api = api
        self._now = now
        self._said: dict[tuple[str, str], tuple[str, float]] = {}
        self._pending: list[dict[str, Any]] = []

    def pod(self, pod: Pod, reason: str, message: str, *, warning: bool = False) -> None:
        """An event of a pod."""
        involved = {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        self._add(involved, pod.namespace, reason, message, warning)

    def node(self, node: Node, reason: str, message: str) -> None:
        """An event of a node; events of objects without namespace are in `default`."""
        involved = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
        self._add(involved, "default", reason, message, False)

    def forget(self, living: set[str]) -> None:
        """Forget the events of all other objects, by uid."""
        self._said = {key: value for key, value in self._said.items() if key[0] in living}

    async def flush(self) -> None:
        """Write the events. An event that the API server rejects (its namespace is being deleted) is dropped."""
        pending, self._pending = self._pending, []
        await each(pending, self._write)

    def _add(self, involved: dict[str, str], namespace: str, reason: str, message: str, warning: bool) -> None:
        key, now = (involved["uid"], reason), self._now()
        said, when = self._said.get(key, ("", 0.0))
        if said == message and now - when < _AGAIN_SECONDS:
            return
        self._said[key] = (message, now)
        stamp = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._pending.append(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{involved['name']}.{secrets.token_hex(8)}", "namespace": namespace},
                "involvedObject": involved,
                "type": "Warning" if warning else "Normal",
                "reason": reason,
                "message": message,
                "source": {"component": _SOURCE},
                "reportingComponent": _SOURCE,
                "firstTimestamp": stamp,
                "lastTimestamp": stamp,
                "count": 1,
            }
        )

    async def _write(self, event: dict[str, Any]) -> None:
        try:
            await self._api.request("POST", f"/api/v1/namespaces/{event['metadata']['namespace']}/events", body=event)
        except ClusterError as error:
            log.debug("event of %s: %s", event["involvedObject"]["name"], error)
