"""Keeps the objects of clusters current by watches, as controllers do, and yields them after changes."""

from __future__ import annotations

import functools
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from tpuplane.status.asking import Ask, Rejected, read
from tpuplane.status.objects import Item, Unreadable
from tpuplane.status.reading import Cluster, Objects

_TURN = "50"  # seconds after which a watch begins again; shorter than the timeout of a request
_LOOK_SECONDS = 10.0  # after which new kinds, such as those of a new operator, are looked for
_AGAIN_SECONDS = 3.0  # before the next attempt to reach a cluster


class State(NamedTuple):
    """A cluster now."""

    context: str
    objects: Objects | None
    """The last known objects; None if the cluster was never read."""
    problem: str
    """Why the cluster cannot be read now; otherwise ""."""

    def described(self) -> dict[str, Any]:
        """`Objects.described`, with the problem; without objects only that."""
        status = self.objects.described() if self.objects else {"context": self.context, "problems": []}
        return {**status, "problems": [*filter(None, [self.problem]), *status["problems"]]}


def watch(clusters: Sequence[Cluster], pause: float = 0.5) -> Iterator[list[State]]:
    """The clusters now and after changes. Changes within `pause` seconds are one. Lost connections are made again."""
    changed = threading.Event()
    watched = [_Watched(it, changed.set) for it in clusters]
    for it in watched:
        threading.Thread(target=it.run, daemon=True).start()
    while True:
        changed.wait()
        time.sleep(pause)
        changed.clear()
        states = [it.state() for it in watched]
        if all(it.objects or it.problem for it in states):
            yield states


class _Watched:
    """The objects of one cluster."""

    def __init__(self, cluster: Cluster, changed: Callable[[], None]) -> None:
        self._cluster = cluster
        self._changed = changed
        self._lock = threading.Lock()
        self._lists: dict[str, dict[str, Item | Unreadable]] = {}
        self._wanted: set[str] = set()
        self._server = self._problem = ""

    def state(self) -> State:
        with self._lock:
            lists = {name: list(those.values()) for name, those in self._lists.items()}
        complete = self._wanted and self._wanted <= lists.keys()
        objects = Objects.of(self._cluster.context, self._server, lists) if complete else None
        return State(self._cluster.context, objects, self._problem)

    def run(self) -> None:
        """Watch; after a failure again, with new credentials."""
        while True:
            stop = threading.Event()
            try:
                with self._cluster.asking() as ask:
                    self._follow(ask, stop)
            except Exception as error:  # without this thread, the objects would be old and nobody would know
                self._problem = str(error) or type(error).__name__
            stop.set()
            self._changed()
            time.sleep(_AGAIN_SECONDS)

    def _follow(self, ask: Ask, stop: threading.Event) -> None:
        """Watch each list in a thread until one fails."""
        failures: queue.Queue[Exception] = queue.Queue()
        started: set[str] = set()
        self._server = ask.client.configuration.host
        while True:
            sources = ask.sources()
            self._wanted = set(sources)
            for name in sources.keys() - started:
                keep = functools.partial(self._keep, ask, stop, failures, name, *sources[name])
                threading.Thread(target=keep, daemon=True).start()
            started |= sources.keys()
            with self._lock:
                self._lists = {name: those for name, those in self._lists.items() if name in sources}
            try:
                raise failures.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue

    def _keep(
        self, ask: Ask, stop: threading.Event, failures: queue.Queue[Exception], name: str, path: str, query: Any
    ) -> None:
        """Read one list, and apply its changes."""
        try:
            while not stop.is_set():
                items, version = ask.items(path, functools.partial(read, name), **query)
                with self._lock:
                    self._lists[name] = {_key(it): it for it in items}
                if self._wanted <= self._lists.keys():
                    self._problem = ""
                self._changed()
                while version and not stop.is_set():
                    version = self._apply(ask, stop, name, path, {**query, "resourceVersion": version})
        except Exception as error:  # for the thread that has started this one
            failures.put(error)

    def _apply(self, ask: Ask, stop: threading.Event, name: str, path: str, query: dict[str, str]) -> str:
        """Apply changes until the watch ends. Returns the last version; "" if the list must be read again."""
        version = query["resourceVersion"]
        answer = ask.open(path, **query, watch="true", allowWatchBookmarks="true", timeoutSeconds=_TURN)
        if answer.status != HTTPStatus.OK:
            if answer.status == HTTPStatus.GONE:
                return ""
            raise Rejected(answer.status, answer.read())
        for line in answer.response:
            if stop.is_set():
                break
            change: dict[str, Any] = json.loads(line)
            if change["type"] == "ERROR":  # the version is too old
                return ""
            version = change["object"]["metadata"]["resourceVersion"]
            if change["type"] != "BOOKMARK":
                item = read(name, change["object"])
                with self._lock:
                    if change["type"] == "DELETED":
                        self._lists[name].pop(_key(item), None)
                    else:
                        self._lists[name][_key(item)] = item
                self._changed()
        answer.response.close()
        return version


def _key(item: Item | Unreadable) -> str:
    return str(item.uid or f"{item.namespace}/{item.name}")
