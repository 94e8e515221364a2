"""Requests to an API server: lists of objects in pages, and the lists that a status needs."""

import contextlib
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic import ValidationError

from tpuplane.data_files import read_data
from tpuplane.status import detail_objects, kueue_objects, objects
from tpuplane.status.cron_jobs import CronJob
from tpuplane.status.objects import Item, Part, Unreadable, at

_T = TypeVar("_T")
_P = TypeVar("_P", bound=Part)

JOB_KINDS: dict[str, str] = read_data("tpuplane.status", "jobs")["kinds"]
"""The group and plural of each kind of job and of the parts of jobs. Pods also count as jobs."""
WHOLE = (*JOB_KINDS, "Pod", *read_data("tpuplane.status", "jobs")["whole"])
"""Kinds whose pods do not end before the job. The steps of a workflow do."""
SUSPENDED = ("Job", "JobSet", "RayCluster", "RayJob", "TrainJob")
"""Kinds with `spec.suspend`."""

_NODES, _PODS, _EVENTS = "/api/v1/nodes", "/api/v1/pods", "/api/v1/events"
_CRON_JOBS = "/apis/batch/v1/cronjobs"
_KUEUE = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")  # versions whose fields `objects` has, the newest first
KUEUE_KINDS: dict[str, tuple[str, type[Item]]] = {
    "queues": ("clusterqueues", kueue_objects.ClusterQueue),
    "local_queues": ("localqueues", kueue_objects.LocalQueue),
    "flavors": ("resourceflavors", kueue_objects.Flavor),
    "workloads": ("workloads", kueue_objects.Workload),
    "cohorts": ("cohorts", kueue_objects.ClusterQueue),
}
"""The plural and the model of each of Kueue's kinds."""
DETAILS: dict[str, tuple[str, str, type[Item]]] = {
    "claims": ("", "persistentvolumeclaims", detail_objects.Claim),
    "storageClasses": ("storage.k8s.io", "storageclasses", detail_objects.StorageClass),
    "drivers": ("storage.k8s.io", "csidrivers", Item),
    "priorityClasses": ("scheduling.k8s.io", "priorityclasses", Item),
    "computeClasses": ("cloud.google.com", "computeclasses", Item),
    "slices": ("accelerator.gke.io", "slices", detail_objects.DynamicSlice),
}
"""The group, plural and model of further kinds, which only the explanation of one job needs; slices also the status."""
_ALIVE = "status.phase!=Succeeded,status.phase!=Failed"  # completed pods use no resources
EVENTS = {
    "warnings": "type=Warning",
    "scaling": "type=Normal,source=cluster-autoscaler",
    "admission": "type=Normal,source=kueue-admission",
}
"""Field selectors of events about pods without a node, and about jobs without pods or quota."""

SHAPES: dict[str, type[Item]] = {
    "nodes": objects.Node,
    "pods": objects.Pod,
    "CronJob": CronJob,
    **{name: shape for name, (_, shape) in KUEUE_KINDS.items()},
    **{name: shape for name, (_, _, shape) in DETAILS.items()},
    **dict.fromkeys(EVENTS, objects.Event),
}
"""The model of the objects in each list. All other lists contain jobs (`Job`)."""
_PAGE = 500  # objects in one response, as for kubectl
_TIMEOUT = (5, 60)  # seconds to connect, and for a page


def read(name: str, raw: dict[str, Any]) -> Item | Unreadable:
    """Parses an object of the list `name`: one of `Ask.sources` or `Ask.details`, or a kind of jobs."""
    shape = SHAPES.get(name, objects.Job)
    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        kind = name if shape is objects.Job else shape.__name__
        return Unreadable.model_validate(raw).model_copy(update={"kind": kind, "why": why})


class Rejected(Exception):
    """The API server rejects the request, with this message."""

    def __init__(self, status: int, body: bytes) -> None:
        try:
            text = str(json.loads(body)["message"])
        except (TypeError, ValueError, KeyError):
            text = "without a message of Kubernetes; is it an API server?"
        super().__init__(text)
        self.status = status


class Starting(Exception):
    """The API server has just started, and does not list its groups yet: it would look as if it had no jobs."""


class _List(Part):
    items: list[dict[str, Any]] = at("items", default=list)
    version: str = at("metadata.resourceVersion", default="")
    following: str = at("metadata.continue", default="")


class _Group(Part):
    name: str
    preferred: str = at("preferredVersion.groupVersion")
    versions: list[dict[str, str]]


class _Groups(Part):
    groups: list[_Group]


@dataclass(frozen=True, slots=True)
class Ask:
    """Reads paths of the API, without the client's classes for each kind, which take seconds to import."""

    client: Any

    def __call__(self, path: str, shape: type[_P], **query: str) -> _P:
        """The response for a path. Raises `Rejected` unless its status is 200 and it has this shape."""
        answer = self.open(path, **query)
        answer.read()
        if answer.status == HTTPStatus.OK:
            with contextlib.suppress(ValidationError):
                return shape.model_validate_json(answer.data)
        raise Rejected(answer.status, answer.data)

    def open(self, path: str, **query: str) -> Any:
        """The response, before its body is read."""
        return self._sent("GET", path, query_params=list(query.items()), header_params={"Accept": "application/json"})

    def _sent(self, method: str, path: str, **options: Any) -> Any:
        request = self.client.param_serialize(method, path, auth_settings=["BearerToken"], **options)
        return self.client.call_api(*request, _request_timeout=_TIMEOUT)

    def merge(self, path: str, change: Any) -> tuple[int, str]:
        """Merge a change into an object. Returns the status, and the message of a rejection."""
        headers = {"Accept": "application/json", "Content-Type": "application/merge-patch+json"}
        answer = self._sent("PATCH", path, header_params=headers, body=change)
        answer.read()
        return answer.status, "" if answer.status == HTTPStatus.OK else str(Rejected(answer.status, answer.data))

    def items(self, path: str, reader: Callable[[dict[str, Any]], _T], **query: str) -> tuple[list[_T], str]:
        """All objects of a list, read page by page, and the version of the list."""
        collected: list[_T] = []
        following: dict[str, str] = {}
        while True:
            page = self(path, _List, **query, limit=str(_PAGE), **following)
            collected += map(reader, page.items)
            if not page.following:
                return collected, page.version
            following = {"continue": page.following}

    def named(self, kind: str, path: str, name: str | None, namespace: str | None) -> list[Item | Unreadable] | None:
        """The jobs of a kind, by default of all names and namespaces; None if the user may not read them."""
        selector = {} if name is None else {"fieldSelector": f"metadata.name={name}"}
        try:
            return self.listed(kind, within(path, namespace), selector)[0]
        except Rejected as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return None

    def failed(self, namespace: str) -> list[objects.Pod]:
        """The pods of a namespace that have failed. They hold nothing, and the lists of `sources` omit them."""
        pods, _ = self.listed("pods", within(_PODS, namespace), {"fieldSelector": "status.phase=Failed"})
        return [pod for pod in pods if isinstance(pod, objects.Pod)]

    def listed(self, name: str, path: str, query: Mapping[str, str]) -> tuple[list[Item | Unreadable], str]:
        """The objects of a list of `sources` or of a kind, and its version; none and "" if the group lacks the kind.

        It lacks it in another version, or while its operator is installed.
        """
        try:
            return self.items(path, functools.partial(read, name), **query)
        except Rejected as error:
            if error.status != HTTPStatus.NOT_FOUND or path.startswith("/api/"):
                raise
            return [], ""

    def _groups(self) -> dict[str, _Group]:
        """The groups that the API server serves, by name. Raises `Starting`."""
        groups = {group.name: group for group in self("/apis", _Groups).groups}
        if "apps" not in groups:  # a part of every Kubernetes
            raise Starting
        return groups

    def kinds(self) -> dict[str, str]:
        """The paths of the kinds of jobs that the cluster has."""
        return _kinds(self._groups())

    def sources(self) -> dict[str, tuple[str, dict[str, str]]]:
        """The path and the query of each list that the status needs. Events are last."""
        groups = self._groups()
        # Pods come before their owners, and jobs before their workloads: owners that are created meanwhile are read.
        sources: dict[str, tuple[str, dict[str, str]]] = {
            "nodes": (_NODES, {}),
            "pods": (_PODS, {"fieldSelector": _ALIVE}),
            **{kind: (path, {}) for kind, path in _kinds(groups).items() if kind in JOB_KINDS},
        }
        served = {version.get("version") for version in groups[_KUEUE].versions} if _KUEUE in groups else ()
        version = next((version for version in _VERSIONS if version in served), None)
        if version is not None:
            sources |= {name: (f"/apis/{_KUEUE}/{version}/{plural}", {}) for name, (plural, _) in KUEUE_KINDS.items()}
        if slices := groups.get(DETAILS["slices"][0]):
            sources["slices"] = (f"/apis/{slices.preferred}/slices", {})
        return sources | {name: (_EVENTS, {"fieldSelector": selector}) for name, selector in EVENTS.items()}

    def details(self) -> dict[str, tuple[str, dict[str, str]]]:
        """The path and the query of each list that only the explanation of one job needs."""
        groups = self._groups()
        return {
            name: (f"/apis/{groups[group].preferred}/{plural}" if group else f"/api/v1/{plural}", {})
            for name, (group, plural, _) in DETAILS.items()
            if not group or group in groups
        }


def _kinds(groups: Mapping[str, _Group]) -> dict[str, str]:
    places = {kind: place.split("/") for kind, place in JOB_KINDS.items()}
    known = {kind: (groups[group], plural) for kind, (group, plural) in places.items() if group in groups}
    paths = {kind: f"/apis/{group.preferred}/{plural}" for kind, (group, plural) in known.items()}
    return paths | {"CronJob": _CRON_JOBS, "Pod": _PODS}


def within(path: str, namespace: str | None) -> str:
    """The path of a list in one namespace, or in all."""
    group, _, plural = path.rpartition("/")
    return f"{group}/namespaces/{namespace}/{plural}" if namespace else path
