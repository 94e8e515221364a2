"""A cluster as a kubeconfig names it, read by Kubernetes' own client: read-only, and every failure in one line."""

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
from tpuplane.status.placing import Placing
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import describe_queues
from tpuplane.status.unqueued import JOB_KINDS, without_workload

_NODES, _PODS, _EVENTS = "/api/v1/nodes", "/api/v1/pods", "/api/v1/events"
_KUEUE = "kueue.x-k8s.io"
_VERSIONS = ("v1beta2", "v1beta1")  # those that `describe_queues` reads, the newest first
_KUEUE_KINDS = {
    "queues": "clusterqueues",
    "local_queues": "localqueues",
    "flavors": "resourceflavors",
    "workloads": "workloads",
}
_QUEUED = {"labelSelector": QUEUE_LABEL}
_PAGE = 500  # objects of an answer, as kubectl asks for them
_TIMEOUT = (5, 60)  # seconds to connect, and for a page

# Pods that are over hold nothing.
_ALIVE = "status.phase!=Succeeded,status.phase!=Failed"
# What is said of pods without a node, and of jobs without pods.
_TELLING = ("type=Warning", "type=Normal,source=cluster-autoscaler")


class Unreachable(Exception):
    """The cluster could not be asked; the message says why, and what to do."""


class NoContext(Exception):
    """The kubeconfig does not have what is asked for; the message says what it has."""


class Cluster:
    """The cluster of one context of a kubeconfig, as kubectl finds both.

    `kubeconfig` is a file, by default those of `KUBECONFIG`, else `~/.kube/config`; `context` is by default the
    current one.
    """

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        """Find the context; nothing is asked yet.

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
        """What stands in the cluster now.

        Raises:
            Unreachable: if the API server does not answer, or refuses.

        """
        with self._asking() as ask:
            nodes, pods = list(_pages(ask, _NODES)), list(_pages(ask, _PODS, fieldSelector=_ALIVE))
            kueue = _kueue(ask)
            telling = _TELLING if _unplaced(pods, kueue) else ()
            events = [it for selector in telling for it in _pages(ask, _EVENTS, fieldSelector=selector)]
            return Objects(self.context, ask.client.configuration.host, nodes, pods, kueue, events)

    @contextmanager
    def _asking(self) -> Iterator[_Ask]:
        """What asks the API server; every failure of it is an `Unreachable`."""
        from kubernetes.client import Configuration  # noqa: PLC0415
        from kubernetes.config import ConfigException, new_client_from_config  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        settings: Any = Configuration()
        settings.retries = False
        connect: Any = new_client_from_config
        try:
            with _Complaints() as complaints:
                client = connect(self._files, self.context, persist_config=False, client_configuration=settings)
            if complaints.heard:
                raise Unreachable(f"no credentials for context {self.context}: {'; '.join(complaints.heard)}")
            with client:
                yield _Ask(client)
        except _Refused as error:
            raise Unreachable(self._refusal(settings.host, error)) from None
        except ConfigException as error:
            raise Unreachable(f"the context {self.context} cannot be used: {error}") from None
        except (HTTPError, OSError) as error:
            raise Unreachable(
                f"no cluster answers at {settings.host} (context {self.context}): {error}. Is it up, and may this "
                "machine reach its control plane?"
            ) from None

    def _refusal(self, host: str, error: _Refused) -> str:
        if error.status == HTTPStatus.UNAUTHORIZED:
            return f"{host} refuses the credentials of context {self.context}: {error}; on GKE: gcloud auth login"
        if error.status == HTTPStatus.FORBIDDEN:
            return (
                f"{host} refuses: {error}. Reading nodes, pods, events, jobs and Kueue's queues of all namespaces is "
                "needed; on GKE roles/container.viewer has it"
            )
        return f"{host} answers {error.status}: {error}"


class _Refused(Exception):
    """The API server's answer is no; the message is its own."""

    def __init__(self, status: int, body: bytes) -> None:
        try:
            said = str(json.loads(body)["message"])
        except (TypeError, ValueError, KeyError):
            said = "in no words of Kubernetes; is it an API server?"
        super().__init__(said)
        self.status = status


@dataclass(frozen=True, slots=True)
class Objects:
    """Kubernetes' objects of a cluster, as its API server gives them; `kueue` is None where that is not installed."""

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
    """Asks for a path of the API. The client's classes for each kind take seconds to import, and are not needed."""

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
            raise _Refused(answer.status, answer.data)
        return json.loads(answer.data)


def _kueue(ask: _Ask) -> dict[str, list[Object]] | None:
    """Kueue's cluster queues, local queues and workloads; None where it is not installed."""
    groups = {it["name"]: it for it in ask("/apis")["groups"]}
    served = {it["version"] for it in groups.get(_KUEUE, {}).get("versions", ())}
    version = next((it for it in _VERSIONS if it in served), None)
    if version is None:
        return None
    # Jobs first: what comes in between has its workload then.
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
    """Whether something waits for a node, or for its pods, although nothing holds it back."""
    held = pods_by_workload(pods)
    workloads = (kueue or {}).get("workloads", ())
    going = (it["metadata"] for it in workloads if is_true(it, "Admitted") and not is_true(it, "Finished"))
    return any(not it["spec"].get("nodeName") for it in pods) or any(
        (it["namespace"], it["name"]) not in held for it in going
    )


def _pages(ask: _Ask, path: str, **query: str) -> Iterator[Object]:
    """All objects of a list, asked for in parts."""
    following: dict[str, str] = {}
    while True:
        answer = ask(path, **query, limit=str(_PAGE), **following)
        yield from answer["items"]
        if not answer["metadata"].get("continue"):
            return
        following = {"continue": answer["metadata"]["continue"]}


def _contexts(files: str) -> tuple[list[str], str]:
    """The contexts of a kubeconfig, of several files as kubectl merges them, and which is current ("": none)."""
    from kubernetes.config import ConfigException  # noqa: PLC0415 (slow to import)
    from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415

    reader: Any = KubeConfigMerger
    try:
        merged = reader(files).config
        if merged is None:
            raise ConfigException("no such file")
        return [it["name"] for it in merged.value["contexts"]], merged.value.get("current-context") or ""
    # What is no kubeconfig at all is not refused by the client: it trips over it.
    except (ConfigException, yaml.YAMLError, OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        why = " ".join(str(error).split())
        raise NoContext(
            f"{files} is no kubeconfig ({why}); name one with --kubeconfig, or write one with "
            "`gcloud container clusters get-credentials CLUSTER --location LOCATION`"
        ) from None


class _Complaints(logging.Handler):
    """What the client says of a credential plugin that failed: it only logs that, and asks without credentials."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []
        self._thread = threading.get_ident()  # others may ask other clusters

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what is said."""
        if record.thread == self._thread:
            self.heard.append(" ".join(record.getMessage().split()))
