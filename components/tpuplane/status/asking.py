"""Requests to an API server: lists of objects in pages, and the lists that a status needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tpuplane.labels import QUEUE_LABEL
from tpuplane.status.kinds import JOB_KINDS
from tpuplane.status.objects import Object

_NODES, _PODS, _EVENTS = "/api/v1/nodes", "/api/v1/pods", "/api/v1/events"
_KUEUE = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")  # versions that `describe_queues` reads, the newest first
KUEUE_KINDS = {
    "queues": "clusterqueues",
    "local_queues": "localqueues",
    "flavors": "resourceflavors",
    "workloads": "workloads",
}
_PAGE = 500  # objects in one response, as for kubectl
_TIMEOUT = (5, 60)  # seconds to connect, and for a page

# Completed pods use no resources.
_ALIVE = "status.phase!=Succeeded,status.phase!=Failed"
EVENTS = {
    "warnings": "type=Warning",
    "scaling": "type=Normal,source=cluster-autoscaler",
    "admission": "type=Normal,source=kueue-admission",
}
"""Field selectors of events about pods without a node, and about jobs without pods or quota."""


class Rejected(Exception):
    """The API server rejects the request, with this message."""

    def __init__(self, status: int, body: bytes) -> None:
        try:
            text = str(json.loads(body)["message"])
        except (TypeError, ValueError, KeyError):
            text = "without a message of Kubernetes; is it an API server?"
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Ask:
    """Reads paths of the API, without the client's classes for each kind, which take seconds to import."""

    client: Any

    def __call__(self, path: str, **query: str) -> Any:
        """The JSON of a path."""
        answer = self.open(path, **query)
        answer.read()
        if answer.status != HTTPStatus.OK or answer.data.lstrip()[:1] != b"{":
            raise Rejected(answer.status, answer.data)
        return json.loads(answer.data)

    def open(self, path: str, **query: str) -> Any:
        """The response, before its body is read."""
        request = self.client.param_serialize(
            "GET",
            path,
            query_params=list(query.items()),
            header_params={"Accept": "application/json"},
            auth_settings=["BearerToken"],
        )
        return self.client.call_api(*request, _request_timeout=_TIMEOUT)

    def items(self, path: str, **query: str) -> tuple[list[Object], str]:
        """All objects of a list, read page by page, and the version of the list."""
        found: list[Object] = []
        following: dict[str, str] = {}
        while True:
            answer = self(path, **query, limit=str(_PAGE), **following)
            found += map(trimmed, answer["items"])
            if not answer["metadata"].get("continue"):
                return found, str(answer["metadata"].get("resourceVersion", ""))
            following = {"continue": answer["metadata"]["continue"]}

    def named(self, path: str, name: str, namespace: str | None) -> list[Object] | None:
        """The objects of a path with this name, in a namespace or in all; None if the user may not read them."""
        try:
            return self.items(within(path, namespace), fieldSelector=f"metadata.name={name}")[0]
        except Rejected as error:
            if error.status == HTTPStatus.NOT_FOUND:  # the group lacks the kind
                return []
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return None

    def kinds(self) -> dict[str, str]:
        """The paths of the kinds of jobs that the cluster has."""
        return _kinds(self("/apis")["groups"])

    def sources(self) -> dict[str, tuple[str, dict[str, str]]]:
        """The path and the query of each list that the status needs. Events are last."""
        groups = self("/apis")["groups"]
        found: dict[str, tuple[str, dict[str, str]]] = {
            "nodes": (_NODES, {}),
            "pods": (_PODS, {"fieldSelector": _ALIVE}),
        }
        kueue: Object = next((it for it in groups if it["name"] == _KUEUE), {})
        served = {it["version"] for it in kueue.get("versions", ())}
        version = next((it for it in _VERSIONS if it in served), None)
        if version is not None:
            # Read jobs first, so that the workload of each of them is read later.
            queued = {"labelSelector": QUEUE_LABEL}
            found |= {kind: (path, queued) for kind, path in _kinds(groups).items() if JOB_KINDS[kind].suspends}
            found |= {name: (f"/apis/{_KUEUE}/{version}/{plural}", {}) for name, plural in KUEUE_KINDS.items()}
        return found | {name: (_EVENTS, {"fieldSelector": selector}) for name, selector in EVENTS.items()}


def _kinds(groups: Iterable[Object]) -> dict[str, str]:
    served = {it["name"]: it["preferredVersion"]["groupVersion"] for it in groups}
    paths = {kind: f"/apis/{served.get(it.group, '')}/{it.plural}" for kind, it in JOB_KINDS.items()}
    return {kind: path for kind, path in paths.items() if JOB_KINDS[kind].group in served} | {"Pod": _PODS}


def within(path: str, namespace: str | None) -> str:
    """The path of a list in one namespace, or in all."""
    group, _, plural = path.rpartition("/")
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else path


def trimmed(item: Any) -> Object:
    """The object without parts that no status shows, which are half of a large cluster's objects."""
    item["metadata"].pop("managedFields", None)
    item.get("status", {}).pop("images", None)
    found: Object = item
    return found
