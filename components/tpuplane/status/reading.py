"""Reads a cluster of a kubeconfig by Kubernetes' Python client: read-only, with one line for each failure."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import yaml

from tpuplane.labels import QUEUE_LABEL
from tpuplane.status.holders import outside_queues, pods_by_workload
from tpuplane.status.objects import Object, is_true
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import describe_queues
from tpuplane.status.waiting import JOB_KINDS, Placing, without_workload

_NODES, _PODS, _EVENTS = "/api/v1/nodes", "/api/v1/pods", "/api/v1/events"
_KUEUE = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")  # versions that `describe_queues` reads, the newest first
_KUEUE_KINDS = {
    "queues": "clusterqueues",
    "local_queues": "localqueues",
    "flavors": "resourceflavors",
    "workloads": "workloads",
}
_QUEUED = {"labelSelector": QUEUE_LABEL}
_PAGE = 500  # objects in one response, as for kubectl
_TIMEOUT = (5, 60)  # seconds to connect, and for a page

# Completed pods use no resources.
_ALIVE = "status.phase!=Succeeded,status.phase!=Failed"
# Events about pods without a node, and about jobs without pods.
_EVENT_SELECTORS = ("type=Warning", "type=Normal,source=cluster-autoscaler")


class Unreachable(Exception):
    """The cluster cannot be read. The message has the reason and the remedy."""


class NoContext(Exception):
    """The kubeconfig or the context does not exist. The message has the existing contexts."""


class Cluster:
    """The cluster of a context of a kubeconfig.

    As for kubectl, the default of `kubeconfig` is `KUBECONFIG`, else `~/.kube/config`, and the default of `context` is
    the current context.
    """

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        """Find the context, without a request to the cluster.

        Raises:
            NoContext: if there is no such file or context.

        """
        self._files = str(kubeconfig or os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
        names, current = _contexts(self._files)
        chosen = context or current
        if chosen not in names:
            what = f"no context {chosen!r}" if chosen else "no current context; name one with --context"
            raise NoContext(f"{self._files} has {what}; allowed: {', '.join(names) or 'none'}")
        self.context: str = chosen

    def read(self) -> Objects:
        """The objects of the cluster.

        Raises:
            Unreachable: if the API server does not answer, or rejects the request.

        """
        with self._asking() as ask:
            nodes, pods = list(_pages(ask, _NODES)), list(_pages(ask, _PODS, fieldSelector=_ALIVE))
            kueue = _kueue(ask)
            selectors = _EVENT_SELECTORS if _unplaced(pods, kueue) else ()
            events = [it for selector in selectors for it in _pages(ask, _EVENTS, fieldSelector=selector)]
            return Objects(self.context, ask.client.configuration.host, nodes, pods, kueue, events)

    @contextmanager
    def _asking(self) -> Iterator[_Ask]:
        """The client of the API server. Every failure is an `Unreachable`."""
        from kubernetes.client import Configuration  # noqa: PLC0415
        from kubernetes.config import ConfigException, new_client_from_config  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        settings: Any = Configuration()
        settings.retries = False
        connect: Any = new_client_from_config
        try:
            with _ErrorLog() as log:
                client = connect(self._files, self.context, persist_config=False, client_configuration=settings)
            if log.errors:
                raise Unreachable(f"no credentials for context {self.context}: {'; '.join(log.errors)}")
            with client:
                yield _Ask(client)
        except _Rejected as error:
            raise Unreachable(self._rejection(settings.host, error)) from None
        except ConfigException as error:
            raise Unreachable(f"the context {self.context} cannot be used: {error}") from None
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"no cluster answers at {settings.host} (context {self.context}): {error}. Check that the "
                "cluster runs and that this machine can reach its control plane"
            ) from None

    def _rejection(self, host: str, error: _Rejected) -> str:
        if error.status == HTTPStatus.UNAUTHORIZED:
            return f"{host} rejects the credentials of context {self.context}: {error}; on GKE: gcloud auth login"
        if error.status == HTTPStatus.FORBIDDEN:
            return (
                f"{host} rejects the request: {error}. The user needs permission to read nodes, pods, events, jobs and "
                "Kueue's queues of all namespaces; on GKE use roles/container.viewer"
            )
        return f"{host} answers {error.status}: {error}"


class _Rejected(Exception):
    """The API server rejects the request, with this message."""

    def __init__(self, status: int, body: bytes) -> None:
        try:
            text = str(json.loads(body)["message"])
        except (TypeError, ValueError, KeyError):
            text = "without a message of Kubernetes; is it an API server?"
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a cluster; `kueue` is None if Kueue is not installed."""

    context: str
    server: str
    nodes: list[Object]
    pods: list[Object]
    kueue: dict[str, list[Object]] | None
    events: list[Object]

    def described(self) -> dict[str, Any]:
        """Node pools, queues (None without Kueue), and jobs outside of queues, as plain values."""
        placing = Placing(self.events)
        return {
            "context": self.context,
            "server": self.server,
            "nodePools": describe_pools(self.nodes, self.pods),
            "queues": None
            if self.kueue is None
            else describe_queues(**self.kueue, pods=self.pods, nodes=self.nodes, placing=placing),
            "outsideQueues": outside_queues(self.pods, self.nodes, placing),
        }


@dataclass(frozen=True, slots=True)
class _Ask:
    """Reads a path of the API, without the client's classes for each kind, which take seconds to import."""

    client: Any

    def __call__(self, path: str, **query: str) -> Any:
        request = self.client.param_serialize(
            "GET",
            path,
            query_params=list(query.items()),
            header_params={"Accept": "application/json"},
            auth_settings=["BearerToken"],
        )
        answer = self.client.call_api(*request, _request_timeout=_TIMEOUT)
        answer.read()
        if answer.status != HTTPStatus.OK or answer.data.lstrip()[:1] != b"{":
            raise _Rejected(answer.status, answer.data)
        return json.loads(answer.data)


def _kueue(ask: _Ask) -> dict[str, list[Object]] | None:
    """Kueue's cluster queues, local queues and workloads; None if Kueue is not installed."""
    groups = {it["name"]: it for it in ask("/apis")["groups"]}
    served = {it["version"] for it in groups.get(_KUEUE, {}).get("versions", ())}
    version = next((it for it in _VERSIONS if it in served), None)
    if version is None:
        return None
    # Read jobs first, so that the workload of each of them is read later.
    jobs = {
        kind: list(_pages(ask, f"/apis/{groups[name]['preferredVersion']['groupVersion']}/{plural}", **_QUEUED))
        for name, kinds in JOB_KINDS.items()
        if name in groups
        for kind, plural in kinds.items()
    }
    kueue = {name: list(_pages(ask, f"/apis/{_KUEUE}/{version}/{plural}")) for name, plural in _KUEUE_KINDS.items()}
    known = kueue["workloads"]
    return {**kueue, "workloads": [*known, *(it for kind in jobs for it in without_workload(kind, jobs[kind], known))]}


def _unplaced(pods: Iterable[Object], kueue: dict[str, list[Object]] | None) -> bool:
    """Whether a pod has no node, or an admitted workload has no pods."""
    held = pods_by_workload(pods)
    workloads = (kueue or {}).get("workloads", ())
    admitted = (it["metadata"] for it in workloads if is_true(it, "Admitted") and not is_true(it, "Finished"))
    return any(not it["spec"].get("nodeName") for it in pods) or any(
        (it["namespace"], it["name"]) not in held for it in admitted
    )


def _pages(ask: _Ask, path: str, **query: str) -> Iterator[Object]:
    """All objects of a list, read page by page."""
    following: dict[str, str] = {}
    while True:
        answer = ask(path, **query, limit=str(_PAGE), **following)
        yield from answer["items"]
        if not answer["metadata"].get("continue"):
            return
        following = {"continue": answer["metadata"]["continue"]}


def _contexts(files: str) -> tuple[list[str], str]:
    """The contexts of a kubeconfig, or of several files merged as by kubectl, and the current one ("": none)."""
    from kubernetes.config import ConfigException  # noqa: PLC0415 (slow to import)
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415

    reader: Any = KubeConfigMerger
    try:
        merged = reader(files).config
        if merged is None:
            raise ConfigException("no such file")
        return [it["name"] for it in merged.value["contexts"]], merged.value.get("current-context") or ""
    # The client fails with various exceptions on a file that is not a kubeconfig.
    except (ConfigException, yaml.YAMLError, OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        why = " ".join(str(error).split())
        raise NoContext(
            f"{files} is not a kubeconfig ({why}); name one with --kubeconfig, or create one with "
            "`gcloud container clusters get-credentials CLUSTER --location LOCATION`"
        ) from None


class _ErrorLog(logging.Handler):
    """Errors of credential plugins, which the client only logs before it continues without credentials."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []
        self._thread = threading.get_ident()  # other threads can read other clusters

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        if record.thread == self._thread:
            self.errors.append(" ".join(record.getMessage().split()))
