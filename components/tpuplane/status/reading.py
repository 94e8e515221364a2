"""Reads a cluster of a kubeconfig with Kubernetes' Python client; every failure has a message of one line."""

from __future__ import annotations

import logging
import os
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import yaml

from tpuplane.collection import kept
from tpuplane.status.asking import DETAILS, EVENTS, JOB_KINDS, KUEUE_KINDS, SUSPENDED, Ask, Rejected, within
from tpuplane.status.detail_objects import DynamicSlice
from tpuplane.status.finding import Found, find
from tpuplane.status.holders import jobs_by_node, outside_queues
from tpuplane.status.kueue_objects import Workload
from tpuplane.status.objects import Event, Item, Job, Node, Pod, Unreadable
from tpuplane.status.owners import Owners
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import describe_queues
from tpuplane.status.waiting import Placing, without_workload

_OF_CLUSTER = frozenset(
    {"nodes", "queues", "flavors", "cohorts", "storageClasses", "drivers", "computeClasses", "slices"}
)
"""Lists of objects without a namespace."""
_CONNECTIONS = 64  # each watch of a list has its own; urllib3 warns about more than this


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
        self._files = _files(kubeconfig)
        names, current = _contexts(self._files)
        chosen = context or current
        if chosen not in names:
            problem = f"no context {chosen!r}" if chosen else "no current context; name one with --context"
            raise NoContext(f"{self._files} has {problem}; allowed: {', '.join(names) or 'none'}")
        self.context: str = chosen

    def read(self) -> Objects:
        """The objects of the cluster.

        Raises:
            Unreachable: if the API server does not answer, or rejects the request.

        """
        with self.asking() as ask, kept():
            return self._read(ask, None, ask.sources())

    def read_job(self, name: str, namespace: str | None = None, kind: str | None = None) -> tuple[Objects, Found]:
        """A job, and the objects that explain its state. Objects that the user may not read are omitted.

        Raises:
            NoJob: if there is no such job, or there are several.
            Unreachable: if the API server does not answer, or rejects the request.

        """
        with self.asking() as ask, kept():
            found = find(ask.kinds(), ask.named, name, namespace, kind)
            objects = self._read(ask, found.job.namespace, ask.sources() | ask.details())
            return replace(objects, ended=ask.failed(found.job.namespace)), found

    def log(self, pod: Pod, container: str, *, lines: int, most: int) -> str:
        """The last lines of the log of a container, at most `most` bytes.

        Raises:
            Unreachable: if the API server does not answer, or rejects the request.

        """
        path = f"{within('/api/v1/pods', pod.namespace)}/{pod.name}/log"
        with self.asking() as ask:
            answer = ask.open(path, container=container, tailLines=str(lines), limitBytes=str(most))
            body: bytes = answer.response.read(most)
            if answer.status != HTTPStatus.OK:
                raise Rejected(answer.status, body)
            return body.decode(errors="replace")

    def _read(self, ask: Ask, namespace: str | None, sources: Mapping[str, tuple[str, dict[str, str]]]) -> Objects:
        """The objects. With a namespace, lists that may not be read of all namespaces are read of this one."""
        lists: dict[str, list[Item | Unreadable]] = {}
        unread: list[str] = []
        for name, (everywhere, query) in sources.items():
            path = within(everywhere, namespace if name in EVENTS else None)
            try:
                lists[name] = ask.listed(name, path, query)[0]
            except Rejected as error:
                if namespace is None or error.status != HTTPStatus.FORBIDDEN:
                    raise
                unread.append(name)
                of_team = name not in _OF_CLUSTER
                lists[name] = ask.listed(name, within(path, namespace), query)[0] if of_team else []
        return Objects.of(self.context, ask.client.configuration.host, lists, unread)

    @contextmanager
    def asking(self) -> Iterator[Ask]:
        """The client of the API server. Every failure is an `Unreachable`."""
        from kubernetes.client import ApiException, Configuration  # noqa: PLC0415
        from kubernetes.config import ConfigException, new_client_from_config  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        settings: Any = Configuration()
        settings.retries = False
        settings.connection_pool_maxsize = _CONNECTIONS
        connect: Any = new_client_from_config
        try:
            with _ErrorLog() as log:
                client = connect(self._files, self.context, persist_config=False, client_configuration=settings)
            if log.errors:
                raise Unreachable(f"no credentials for context {self.context}: {'; '.join(log.errors)}")
            with client:
                yield Ask(client)
        except Rejected as error:
            raise Unreachable(self._rejection(settings.host, error)) from None
        except ConfigException as error:
            raise Unreachable(f"the context {self.context} cannot be used: {error}") from None
        except (ApiException, HTTPError, OSError) as error:  # the client makes an ApiException of errors of TLS
            raise Unreachable(
                f"no cluster answers at {settings.host} (context {self.context}): {' '.join(str(error).split())}. "
                "Check that the cluster runs and that this machine can reach its control plane"
            ) from None

    def _rejection(self, host: str, error: Rejected) -> str:
        if error.status == HTTPStatus.UNAUTHORIZED:
            return f"{host} rejects the credentials of context {self.context}: {error}; on GKE: gcloud auth login"
        if error.status == HTTPStatus.FORBIDDEN:
            return (
                f"{host} rejects the request: {error}. The user needs permission to read nodes, pods, events, jobs and "
                "Kueue's queues of all namespaces; on GKE use roles/container.viewer"
            )
        return f"{host} answers {error.status}: {error}"


@dataclass(frozen=True)
class Objects:
    """The objects of a cluster; `kueue` is None if Kueue is not installed."""

    context: str
    server: str
    nodes: list[Node]
    pods: list[Pod]
    jobs: dict[str, list[Job]]
    """Jobs and their parts by kind."""
    kueue: dict[str, list[Any]] | None
    events: list[Event]
    left_out: list[str]
    """Messages about objects that cannot be read, one for all objects of a kind with the same reason."""
    unread: Sequence[str] = ()
    """The lists that the user may not read, or may read only of one namespace."""
    details: Mapping[str, list[Any]] = field(default_factory=dict)
    """The lists that only the explanation of one job needs."""
    ended: Sequence[Pod] = ()
    """Pods of the job's namespace that have failed. They hold nothing."""

    @classmethod
    def of(
        cls, context: str, server: str, lists: Mapping[str, Sequence[Item | Unreadable]], unread: Sequence[str] = ()
    ) -> Self:
        """The objects in the lists of `Ask.sources`."""
        good: dict[str, list[Any]] = {
            name: [item for item in items if isinstance(item, Item)] for name, items in lists.items()
        }
        kueue = None
        if "workloads" in good:
            known = good["workloads"]
            unknown = (workload for kind in SUSPENDED for workload in without_workload(kind, good.get(kind, ()), known))
            kueue = {**{name: good.get(name, []) for name in KUEUE_KINDS}, "workloads": [*known, *unknown]}
        events = [event for name in EVENTS for event in good.get(name, ())]
        alike: dict[tuple[str, str], list[Unreadable]] = defaultdict(list)
        unreadable = (item for items in lists.values() for item in items if isinstance(item, Unreadable))
        for item in unreadable:
            alike[item.kind, item.why].append(item)
        left_out = [f"{first}{f' (and {len(more)} more)' if more else ''}" for first, *more in alike.values()]
        jobs = {kind: good[kind] for kind in JOB_KINDS if kind in good}
        details = {
            name: good[name] for name in DETAILS if name in good and name not in _OF_CLUSTER.intersection(unread)
        }
        return cls(context, server, good["nodes"], good["pods"], jobs, kueue, events, left_out, unread, details)

    def described(self) -> dict[str, Any]:
        """Node pools, queues (None without Kueue), and jobs outside of queues, as plain values."""
        queues = None
        if (known := self.kueue) is not None:
            lists: dict[str, Any] = {name: known[name] for name in ("queues", "local_queues", "workloads", "flavors")}
            queues = describe_queues(
                **lists, pods=self.pods, nodes=self.nodes, placing=self.placing, owners=self.owners
            )
        return {
            "context": self.context,
            "server": self.server,
            "gke": None,
            "poolsFrom": "the nodes of the cluster",
            "declaredIn": "",
            "nodePools": describe_pools(self.nodes, self.holders),
            "queues": queues,
            "slices": [self._slice(found) for found in self.details.get("slices", ())],
            "outsideQueues": outside_queues(self.pods, self.nodes, self.placing, self.owners),
            "problems": self.left_out,
        }

    def _slice(self, found: DynamicSlice) -> dict[str, Any]:
        """A Slice with its state, and the job for which Kueue's slice controller created it."""
        ready, workload = found.condition("Ready"), self.workload(*found.workload)
        job = f"{workload.namespace}/{workload.owner.name}" if workload else ""
        row = {"name": found.name, "topology": found.topology, "partitions": found.partitions, "job": job}
        return {**row, "state": ready.reason, "message": "" if ready.status == "True" else ready.message}

    def workload(self, namespace: str, name: str) -> Workload | None:
        """The workload with this name; None if there is none."""
        return self._workloads.get((namespace, name))

    @cached_property
    def _workloads(self) -> Mapping[tuple[str, str], Workload]:
        return {(workload.namespace, workload.name): workload for workload in (self.kueue or {}).get("workloads", ())}

    @cached_property
    def owners(self) -> Owners:
        """The job of each object."""
        return Owners({"Pod": [*self.pods, *self.ended], **self.jobs})

    @cached_property
    def holders(self) -> Mapping[str, Collection[str]]:
        """The jobs with chips or GPUs of each node."""
        return jobs_by_node(self.pods, self.owners)

    @cached_property
    def placing(self) -> Placing:
        """The events about pods and jobs."""
        return Placing(self.events)


def contexts(kubeconfig: Path | None) -> list[str]:
    """All contexts of a kubeconfig. Raises `NoContext` if there is none."""
    files = _files(kubeconfig)
    names, _ = _contexts(files)
    if not names:
        raise NoContext(f"{files} has no context")
    return names


def _files(kubeconfig: Path | None) -> str:
    # A user of a container may have no home: then the message names the file.
    return str(kubeconfig or os.environ.get("KUBECONFIG") or os.path.expanduser("~/.kube/config"))  # noqa: PTH111


def _contexts(files: str) -> tuple[list[str], str]:
    """The contexts of a kubeconfig, or of several files merged as by kubectl, and the current one ("": none)."""
    from kubernetes.config import ConfigException  # noqa: PLC0415 (slow to import)
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415

    reader: Any = KubeConfigMerger
    try:
        if (merged := reader(files).config) is None:
            raise ConfigException("no such file")
        return [context["name"] for context in merged.value["contexts"]], merged.value.get("current-context") or ""
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
