"""The cluster autoscaler's events on pods and nodes, as `kubectl describe` shows them."""

import logging
from collections.abc import Callable

from tpuplane_twin.cluster.api import Api, ClusterError, Object, each, event
from tpuplane_twin.elasticity.objects import Node, Pod

log = logging.getLogger(__name__)

# The API server deletes events after an hour; pods that still wait need a newer one.
_AGAIN_SECONDS = 1800.0


class Recorder:
    """Writes events. The same message for an object is repeated only after half an hour."""

    def __init__(self, api: Api, now: Callable[[], float]) -> None:
        """`now` is a clock in seconds."""
        self._api = api
        self._now = now
        self._said: dict[tuple[str, str], tuple[str, float]] = {}
        self._pending: list[Object] = []

    def pod(self, pod: Pod, reason: str, message: str, *, warning: bool = False) -> None:
        """An event of a pod."""
        involved = {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
        self._add(involved, reason, message, warning)

    def node(self, node: Node, reason: str, message: str) -> None:
        """An event of a node."""
        involved = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
        self._add(involved, reason, message, False)

    def autoscaler(self, reason: str, message: str) -> None:
        """A warning of the cluster autoscaler itself, which GKE has on this ConfigMap."""
        name = "cluster-autoscaler-status"
        involved = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "kube-system", "name": name, "uid": ""}
        self._add(involved, reason, message, True)

    def forget(self, living: set[str]) -> None:
        """Forget the events of all other objects, by uid."""
        self._said = {key: value for key, value in self._said.items() if key[0] in living}

    async def flush(self) -> None:
        """Write the events. An event that the API server rejects (its namespace is being deleted) is dropped."""
        pending, self._pending = self._pending, []
        await each(pending, self._write)

    def _add(self, involved: dict[str, str], reason: str, message: str, warning: bool) -> None:
        key, now = (involved["uid"], reason), self._now()
        said, when = self._said.get(key, ("", 0.0))
        if said == message and now - when < _AGAIN_SECONDS:
            return
        self._said[key] = (message, now)
        self._pending.append(
            event(involved, "Warning" if warning else "Normal", reason, message, component="cluster-autoscaler")
        )

    async def _write(self, said: Object) -> None:
        try:
            await self._api.create(said)
        except ClusterError as error:
            log.debug("event of %s: %s", said["involvedObject"]["name"], error)
