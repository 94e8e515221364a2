"""Keeps the objects of clusters current by watches, as controllers do, and yields them after changes."""

import contextlib
import json
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from tpuplane.status.asking import Ask, Rejected, read
from tpuplane.status.objects import Item, Unreadable
from tpuplane.status.reading import Cluster, Unreachable
from tpuplane.status.snapshot import Objects

_TURN = "50"  # seconds after which a watch begins again; shorter than the timeout of a request
_LOOK_SECONDS = 10.0  # after which new kinds, such as those of a new operator, are looked for
_BEAT_SECONDS = 30.0  # after which unchanged clusters are yielded again
_AGAIN_SECONDS = 3.0  # before the next attempt to reach a cluster


class State(NamedTuple):
    """A cluster now."""

    context: str
    objects: Objects | None
    """The last known objects; None if the cluster was never read."""
    problem: str
    """Why the cluster cannot be read now; otherwise ""."""

    def described(self) -> dict[str, Any]:
        """`Objects.described` with the problem; only the context and the problem if there are no objects."""
        unread: dict[str, Any] = {"context": self.context, "gke": None, "poolsFrom": "", "problems": []}
        status = self.objects.described() if self.objects else unread
        return {**status, "problems": [*filter(None, [self.problem]), *status["problems"]]}


def watch(clusters: Sequence[Cluster], pause: float = 0.5) -> Generator[list[State], None, None]:
    """The clusters after each change, and every 30 seconds, because node pools and ages change without an event.

    Changes within `pause` seconds are yielded together. Lost connections are opened again. When the iterator is closed,
    no more is read.
    """
    changed = threading.Event()
    watched = [_Watched(cluster, changed.set) for cluster in clusters]
    for cluster in watched:
        threading.Thread(target=cluster.run, daemon=True).start()
    try:
        while True:
            changed.wait(_BEAT_SECONDS)
            time.sleep(pause)
            changed.clear()
            states = [cluster.state() for cluster in watched]
            if all(state.objects or state.problem for state in states):
                yield states
    finally:
        for cluster in watched:
            cluster.end()


class _Lists(NamedTuple):
    """The lists of one connection to a cluster."""

    ask: Ask
    sources: dict[str, tuple[str, dict[str, str]]]
    lists: dict[str, dict[str, Item | Unreadable]]
    failures: queue.Queue[Exception]


class _Watched:
    """The objects of one cluster."""

    def __init__(self, cluster: Cluster, changed: Callable[[], None]) -> None:
        self._cluster = cluster
        self._changed = changed
        self._lock = threading.Lock()
        self._now: _Lists | None = None
        self._objects: Objects | None = None
        self._problem = ""
        self._ended = False

    def end(self) -> None:
        """Let all threads end with what they read now."""
        self._ended, self._now = True, None

    def state(self) -> State:
        if (now := self._now) and now.lists.keys() == now.sources.keys():
            with self._lock:
                lists = {name: list(items.values()) for name, items in now.lists.items()}
            self._objects = Objects.of(self._cluster.context, now.ask.client.configuration.host, lists)
        return State(self._cluster.context, self._objects, self._problem)

    def run(self) -> None:
        """Watch each list in a thread; after a failure, or with other kinds, again with new credentials."""
        while not self._ended:
            try:
                with self._cluster.asking() as ask:
                    self._now = now = _Lists(ask, ask.sources(), {}, queue.Queue())
                    for name in now.sources:
                        threading.Thread(target=self._keep, args=(now, name), daemon=True).start()
                    while not self._ended and ask.sources() == now.sources:
                        with contextlib.suppress(queue.Empty):
                            raise now.failures.get(timeout=_LOOK_SECONDS)
            except Exception as error:  # otherwise the objects would become stale without a message
                self._problem = str(error) if isinstance(error, Unreachable) else f"{type(error).__name__}: {error}"
                self._now = None
                self._changed()
                time.sleep(_AGAIN_SECONDS)
        self._now = None  # `end` may have come before the last connection

    def _keep(self, now: _Lists, name: str) -> None:
        """Read one list, and apply its changes."""
        path, query = now.sources[name]
        try:
            while now is self._now:
                items, version = now.ask.listed(name, path, query)
                with self._lock:
                    now.lists[name] = {_key(item): item for item in items}
                    if len(now.lists) == len(now.sources) and now is self._now:
                        self._problem = ""
                self._changed()
                if not version:
                    time.sleep(_LOOK_SECONDS)
                while version and now is self._now:
                    version = self._apply(now, name, path, {**query, "resourceVersion": version})
        except Exception as error:  # for the thread that has started this one
            now.failures.put(error)

    def _apply(self, now: _Lists, name: str, path: str, query: dict[str, str]) -> str:
        """Apply changes until the watch ends. Returns the last version; "" if the list must be read again."""
        version = query["resourceVersion"]
        answer = now.ask.open(path, **query, watch="true", allowWatchBookmarks="true", timeoutSeconds=_TURN)
        if answer.status != HTTPStatus.OK:
            if answer.status == HTTPStatus.GONE:
                return ""
            raise Rejected(answer.status, answer.read())
        for line in answer.response:
            if now is not self._now:
                break
            change: dict[str, Any] = json.loads(line)
            if change["type"] == "ERROR":  # the version is too old
                return ""
            version = change["object"]["metadata"]["resourceVersion"]
            if change["type"] != "BOOKMARK":
                item = read(name, change["object"])
                with self._lock:
                    if change["type"] == "DELETED":
                        now.lists[name].pop(_key(item), None)
                    else:
                        now.lists[name][_key(item)] = item
                self._changed()
        answer.response.close()
        return version


def _key(item: Item | Unreadable) -> str:
    return str(item.uid or f"{item.namespace}/{item.name}")
