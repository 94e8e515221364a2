"""Carries out the decisions about ProvisioningRequests: it creates their nodes and writes their status."""

import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict
from typing import Any

from tpuplane.labels import GKE_POOL_LABEL

from tpuplane_twin.cluster.api import Api, accepting, each, timestamp
from tpuplane_twin.cluster.nodes import ORDINAL, REQUEST_LABEL
from tpuplane_twin.elasticity.objects import Pod, age
from tpuplane_twin.elasticity.queued import Answer, Provision, Queue
from tpuplane_twin.elasticity.requests import Condition, Request, State, condition, out_of_capacity, pods_of
from tpuplane_twin.gcp.backend import BackendError, Numbers

log = logging.getLogger(__name__)

_REST_SECONDS = 10.0
"""The interval of attempts while there is no capacity."""
_KIND = "ProvisioningRequest"


class Provisioner:
    """The requests of one cluster."""

    def __init__(
        self, api: Api, resize: Callable[[str, Numbers, Numbers], Awaitable[bool]], booking_seconds: float
    ) -> None:
        self._api = api
        self._resize = resize
        self._booking = booking_seconds
        self._pods: dict[str, tuple[Pod, ...]] = {}
        self._since: dict[tuple[str, State], float] = {}
        self._asked: dict[str, float] = {}
        self._tried: dict[str, float] = {}

    async def look(self, requests: Collection[Request], now: float) -> Queue:
        """The current queue, with the pods of the requests."""
        known = {request.uid for request in requests}
        self._pods = {uid: pods for uid, pods in self._pods.items() if uid in known}
        self._since = {key: since for key, since in self._since.items() if key[0] in known}
        self._tried = {uid: tried for uid, tried in self._tried.items() if uid in known and tried + _REST_SECONDS > now}
        self._asked = {uid: asked for uid, asked in self._asked.items() if uid in known}
        wall = time.time()
        for request in requests:
            self._asked.setdefault(request.uid, now - age(request.created, wall))
            if request.provisioned:
                self._since.setdefault((request.uid, "Provisioned"), now - age(request.provisioned, wall))
            # The other states limit the wait for a pool; after a start, pools too are being restored.
            self._since.setdefault((request.uid, request.state), now)
            if request.state in ("Pending", "Accepted") and request.uid not in self._pods:
                await self._read_templates(request)
        resting = frozenset(self._tried)
        return Queue(list(requests), self._pods, dict(self._since), resting, self._booking, dict(self._asked))

    def dues(self) -> list[float]:
        """The times of the next attempts."""
        return [tried + _REST_SECONDS for tried in self._tried.values()]

    async def write(self, answer: Answer) -> None:
        """Write the answer into the request's status, unless it has it already or its state has changed."""
        request = answer.request
        item = await self._api.get(_KIND, request.name, request.namespace)
        fresh = Request.parse(item) if item is not None else None
        if item is None or fresh is None or (fresh.uid, fresh.state) != (request.uid, request.state):
            return
        if set(answer.conditions) <= set(fresh.conditions):
            return
        conditions = {known["type"]: known for known in item.get("status", {}).get("conditions", ())}
        for new in answer.conditions:
            conditions[new.type] = _condition(new, item["metadata"].get("generation", 1))
            log.info("%s/%s: %s %s", request.namespace, request.name, new.type, new.message)
        status: dict[str, Any] = {"conditions": list(conditions.values())}
        if answer.details:
            status["provisioningClassDetails"] = dict(answer.details)
        with accepting(404):  # its job was just deleted
            await self._api.merge(_KIND, request.name, {"status": status}, request.namespace, part="/status")

    async def provide(self, provision: Provision, now: float) -> None:
        """Give a request its nodes, or write the reason into its status."""
        request, group, zone = provision.request, provision.group, provision.zone
        nodes = await self._nodes(provision)
        if len(nodes) < provision.nodes:
            self._tried[request.uid] = now
            after = group.grown(zone, provision.nodes - len(nodes))
            log.info("%s grows for %s/%s", group.key, request.namespace, request.name)
            try:
                await self._resize(group.key, group.numbers, after.numbers)
            except BackendError as error:
                await self.write(Answer(request, (out_of_capacity(str(error)),)))
                return
            nodes = await self._nodes(provision)
        if len(nodes) < provision.nodes:
            return  # the pool was being changed; the next check continues
        label = {"metadata": {"labels": {REQUEST_LABEL: request.resize_request}}}
        await each(nodes[: provision.nodes], lambda name: self._api.merge("Node", name, label))
        await self.write(Answer(request, (condition("provisioned"),)))

    async def _read_templates(self, request: Request) -> None:
        templates = {}
        for name, _ in request.pod_sets:
            found = await self._api.get("PodTemplate", name, request.namespace)
            if found is not None:
                templates[name] = found["template"]
        pods = pods_of(request, templates)
        if pods is not None:
            self._pods[request.uid] = pods

    async def _nodes(self, provision: Provision) -> list[str]:
        """The request's nodes, and those without a label, because their labels could not be written."""
        nodes = await self._api.list("Node", labelSelector=f"{GKE_POOL_LABEL}={provision.group.name}")
        return sorted(
            node["metadata"]["name"]
            for node in nodes
            if node["metadata"]["labels"].get(REQUEST_LABEL) in (None, provision.request.resize_request)
            and node["metadata"].get("annotations", {}).get(ORDINAL, "").startswith(f"{provision.zone}/")
        )


def _condition(new: Condition, generation: int) -> dict[str, Any]:
    return {
        **asdict(new),
        "status": str(new.status),
        "lastTransitionTime": timestamp(),
        "observedGeneration": generation,
    }
