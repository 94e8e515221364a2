"""What an incident does to the nodes of its hosts, and to the pods on them."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal

from tpuplane.labels import TPU

from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Api, Object, accepting, each, timestamp
from tpuplane_twin.cluster.nodes import FAULT

# As the kubelet writes them: pkg/kubelet/nodeshutdown and pkg/kubelet/kuberuntime of Kubernetes 1.36.
_SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
_ENDED = {"exitCode": 143, "reason": "Error"}
_LOST = {"exitCode": 137, "reason": "ContainerStatusUnknown"}


class Hosts:
    """The nodes called `names` of one cluster. Nodes and pods that no longer exist are left out."""

    def __init__(self, api: Api, names: list[str], kind: str, times: Times) -> None:
        """`kind` is the incident's."""
        self._api = api
        self._names = names
        self._kind = kind
        self._times = times

    async def mark(
        self,
        labels: dict[str, str | None] | None = None,
        annotations: dict[str, str | None] | None = None,
        taints: dict[str, str | None] | None = None,
    ) -> None:
        """Set labels, annotations and taints (by key: the effect); without a value they are removed."""

        async def change(node: Object) -> None:
            patch: Object = {"metadata": {"labels": labels or {}, "annotations": annotations or {}}}
            if taints is not None:
                kept = [taint for taint in node["spec"].get("taints", []) if taint["key"] not in taints]
                added = [{"key": key, "value": "true", "effect": effect} for key, effect in taints.items() if effect]
                patch["spec"] = {"taints": [*kept, *added]}
            await self._patch("Node", node, patch)

        await each(await self._nodes(), change)

    async def condition(self, status: str, reason: str, message: str) -> None:
        """Set Ready; unless it is False also the other conditions: all Unknown, or all healthy."""

        async def change(node: Object) -> None:
            conditions = node["status"].get("conditions", [])
            for found in conditions:
                if found["type"] == "Ready" or (status != "False" and found["type"] != "NetworkUnavailable"):
                    own = "False" if status == "True" and found["type"] != "Ready" else status
                    if found["status"] != own:
                        found["lastTransitionTime"] = timestamp()
                    found |= {"status": own, "reason": reason, "message": message}
            await self._status("Node", node, {"conditions": conditions})

        await self.mark(annotations={FAULT: self._kind})
        await each(await self._nodes(), change)

    async def freeze(self) -> None:
        """No kubelet: the nodes keep their conditions, and their pods stay as they are, also after a deletion."""
        await self.mark(annotations={FAULT: self._kind})
        await each(await self._pods(), partial(self._annotate, self._kind))

    async def end_pods(self, limit: float, acts: Callable[[], AbstractContextManager[None]]) -> None:
        """End all pods as at a graceful shutdown: each within its grace period, at most `limit` seconds of GKE.

        `acts` is entered for what does not wait for the clock.
        """

        async def end(pod: Object) -> None:
            grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
            await self._times.clock.sleep(self._times.real(min(grace, limit)))
            disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
            with acts():
                await self._fail(pod, "Terminated", _SHUTDOWN, _ENDED, [{**disrupted, "message": _SHUTDOWN}])

        with acts():
            pods = await self._pods()
        await asyncio.gather(*(end(pod) for pod in pods if _runs(pod)))

    async def come_back(self) -> None:
        """The kubelet (kwok) reports again, first without chips. Pods that must not restart have failed."""
        for pod in await self._pods():
            if FAULT in pod["metadata"].get("annotations", {}):
                if _runs(pod) and pod["spec"].get("restartPolicy") == "Never":
                    await self._fail(pod, "", "", _LOST, [])
                await self._annotate(None, pod)
        await self.chips(reported=False)
        await self.condition("True", "KubeletReady", "kubelet is posting ready status")
        await self.mark(annotations={FAULT: None})

    async def chips(self, *, reported: bool = True) -> None:
        """The device plugin reports the chips, or none of them."""
        for node in await self._nodes():
            if capacity := node["status"].get("capacity", {}).get(TPU):
                await self._status("Node", node, {"allocatable": {TPU: capacity if reported else "0"}})

    async def asked_to_start(self, label: str) -> bool:
        """Whether a user has set the label on one of the nodes."""
        return any(node["metadata"].get("labels", {}).get(label) == "true" for node in await self._nodes())

    async def _nodes(self) -> list[Object]:
        return await self._api.list_by("Node", "metadata.name", self._names)

    async def _pods(self) -> list[Object]:
        return await self._api.list_by("Pod", "spec.nodeName", self._names)

    async def _annotate(self, value: str | None, pod: Object) -> None:
        await self._patch("Pod", pod, {"metadata": {"annotations": {FAULT: value}}})

    async def _fail(
        self, pod: Object, reason: str, message: str, terminated: dict[str, Any], more: list[dict[str, str]]
    ) -> None:
        moment = timestamp()
        conditions = {found["type"]: found for found in pod["status"].get("conditions", [])}
        failed = [{"type": kind, "status": "False", "reason": "PodFailed"} for kind in ("Ready", "ContainersReady")]
        conditions |= {found["type"]: {**found, "lastTransitionTime": moment} for found in [*failed, *more]}
        containers = [
            {**found, "ready": False, "started": False, "state": {"terminated": {**terminated, "finishedAt": moment}}}
            for found in pod["status"].get("containerStatuses", [])
        ]
        named = {"reason": reason, "message": message} if reason else {}
        state = {"phase": "Failed", "conditions": list(conditions.values()), "containerStatuses": containers}
        await self._status("Pod", pod, {**named, **state})

    async def _status(self, kind: str, item: Object, status: Object) -> None:
        await self._patch(kind, item, {"status": status}, "/status")

    async def _patch(self, kind: str, item: Object, patch: Object, part: Literal["", "/status"] = "") -> None:
        metadata = item["metadata"]
        with accepting(404):
            await self._api.merge(kind, metadata["name"], patch, metadata.get("namespace"), part=part)


def _runs(pod: Object) -> bool:
    return pod["status"].get("phase") not in ("Succeeded", "Failed")
