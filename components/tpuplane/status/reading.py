"""Reads a cluster of a kubeconfig with Kubernetes' Python client; every failure has a message of one line."""

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

import yaml

from tpuplane.collection import kept
from tpuplane.status.asking import EVENTS, Ask, Rejected, Starting, within
from tpuplane.status.finding import Absent, Found, find, in_status, only
from tpuplane.status.objects import Item, Pod, Unreadable
from tpuplane.status.snapshot import OF_CLUSTER, Objects

_CONNECTIONS = 64  # each watch of a list has its own; urllib3 warns about more than this


class Unreachable(Exception):
    """The API server does not answer, or rejects the request. The message has the reason and the remedy."""


class NoContext(Exception):
    """The kubeconfig or the context does not exist. The message has the existing contexts."""


class Cluster:
    """The cluster of a context of a kubeconfig.

    As for kubectl, the default of `kubeconfig` is `KUBECONFIG`, else `~/.kube/config`, and the default of `context` is
    the current context.
    """

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        """Find the context, without a request to the cluster. Raises `NoContext`."""
        self._files = _files(kubeconfig)
        names, current = _contexts(self._files)
        chosen = context or current
        if chosen not in names:
            problem = f"no context {chosen!r}" if chosen else "no current context; name one with --context"
            raise NoContext(f"{self._files} has {problem}; allowed: {', '.join(names) or 'none'}")
        self.context: str = chosen

    def read(self) -> Objects:
        """The objects of the cluster. Raises `Unreachable`."""
        with self.asking() as ask, kept():
            return self._read(ask, None, ask.sources())

    def read_job(self, name: str, namespace: str | None = None, kind: str | None = None) -> tuple[Objects, Found]:
        """A job, and the objects that explain its state. Objects that the user may not read are omitted.

        Raises `NoJob` and `Unreachable`.
        """
        with self.asking() as ask, kept():
            sources = ask.sources() | ask.details()
            try:
                found = find(ask.kinds(), ask.named, name, namespace, kind)
                objects = self._read(ask, found.job.namespace, sources)
            except Absent as error:
                try:
                    objects = self._read(ask, namespace, sources)
                except Rejected:
                    raise error from None
                if not (others := in_status(objects.described(), name, namespace, kind)):
                    raise
                found = only(others)
            return replace(objects, ended=ask.failed(found.job.namespace)), found

    def log(self, pod: Pod, container: str, *, lines: int, most: int) -> str:
        """The last lines of the log of a container, at most `most` bytes. Raises `Unreachable`."""
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
                of_team = name not in OF_CLUSTER
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
                raise Unreachable(
                    f"no credentials for context {self.context}: {'; '.join(log.errors)}; "
                    "on GKE: install gke-gcloud-auth-plugin, and run gcloud auth login"
                )
            with client:
                yield Ask(client)
        except Rejected as error:
            raise Unreachable(self._rejection(settings.host, error)) from None
        except Starting:
            raise Unreachable(
                f"the API server at {settings.host} (context {self.context}) has just started, and does not list its "
                "kinds of objects yet; repeat the command in a few seconds"
            ) from None
        except ConfigException as error:
            cause = str(error).rstrip(".")
            raise Unreachable(f"the context {self.context} cannot be used: {cause}; correct the kubeconfig") from None
        except (ApiException, HTTPError, OSError) as error:  # the client makes an ApiException of errors of TLS
            raise Unreachable(
                f"no cluster answers at {settings.host} (context {self.context}): {' '.join(str(error).split())}; "
                "check that the cluster runs and that this machine can reach its control plane, or, on a twin, run "
                "`tpuplane-twin up`"
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
            f"{files} is not a kubeconfig ({why}); name one with --kubeconfig, create one with "
            "`gcloud container clusters get-credentials CLUSTER --location LOCATION`, or, on a twin, "
            'run `eval "$(tpuplane-twin env)"` in this shell'
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
