"""The wait itself: look, listen for changes, look again; until ready, timed out or cancelled."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Final

from tpuplane_standins.providers.kubernetes.api import ApiServer, ConnectionFailed, StatusError
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import Check, NotReady, Verdict, View, deletion_message
from tpuplane_standins.providers.kubernetes.awaiting.table import Awaiter
from tpuplane_standins.providers.kubernetes.discovery import Discovery, NoMatchError, Resource
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.log import ResourceLog
from tpuplane_standins.providers.kubernetes.metadata import metadata, name, namespace
from tpuplane_standins.providers.kubernetes.values import Object

LISTEN_SECONDS: Final = 2
"""How long to listen before looking again all the same: some conditions depend on other objects, and a cancellation
must be noticed."""
_AGAIN_SECONDS: Final = 1.0


class Waiter:
    """Waits for objects of one API server, and shows meanwhile what for."""

    def __init__(self, api: ApiServer, discovery: Discovery, cancelled: threading.Event, log: ResourceLog) -> None:
        self._api = api
        self._discovery = discovery
        self._cancelled = cancelled
        self._log = log

    def until_ready(
        self, resource: Resource, obj: Object, awaiter: Awaiter, seconds: float, before: Object | None = None
    ) -> Object:
        """The object once it is ready. Raises `NotReady` when it fails, or when time or the engine's patience ends."""
        started, live, verdict = time.monotonic(), obj, Verdict(False)
        limit = awaiter.seconds or seconds
        generation = metadata(obj).get("generation") or 0
        for seen in self._looks(resource, obj, started + limit):
            if seen is None or (metadata(seen).get("generation") or 0) < generation:
                continue
            live = seen
            try:
                verdict = awaiter.check(self._view(live, before, time.monotonic() - started))
            except ConnectionFailed:
                continue  # the server is being restarted, and the object is looked at again
            self._log.status(verdict.message)
            if verdict.ready:
                return live
            if verdict.failed:
                message = f"Resource '{name(obj)}' was created but failed to initialize"
                raise NotReady(message, live, verdict.problems)
        raise self._gave_up(obj, live, verdict.problems)

    def look(self, live: Object, check: Check) -> None:
        """Check an object once. Raises `NotReady` if it is not ready now."""
        verdict = check(self._view(live, live, math.inf))
        if not verdict.ready:
            message = f"Resource '{name(live)}' was created but failed to initialize"
            raise NotReady(message, live, verdict.problems)

    def until_deleted(self, resource: Resource, obj: Object, seconds: float) -> None:
        """Return once the object does not exist any more. Raises `NotReady` when time or the engine's patience ends."""
        live, uid = obj, metadata(obj).get("uid")
        for seen in self._looks(resource, obj, time.monotonic() + seconds):
            if seen is None or metadata(seen).get("uid") != uid:
                return
            live = seen
            self._log.status(deletion_message(live))
        finalizers = metadata(live).get("finalizers") or ()
        self._log.say("warning", f"finalizers might be preventing deletion ({', '.join(finalizers)})")
        raise self._gave_up(obj, live, (), "timed out waiting for the condition")

    def _gave_up(self, obj: Object, live: Object, problems: Sequence[str], timed_out: str | None = None) -> NotReady:
        if self._cancelled.is_set():
            return NotReady(f'Resource operation was cancelled for "{name(obj)}"', live, problems)
        return NotReady(timed_out or f"'{name(obj)}' timed out waiting to be Ready", live, problems)

    def _view(self, live: Object, before: Object | None, seconds: float) -> View:
        def list_kind(kind: Kind) -> Sequence[Object]:
            try:
                path = self._discovery.find(kind).path(namespace(live))
                return self._api.request("GET", path).get("items") or ()
            except (NoMatchError, StatusError):
                return ()

        return View(live, before, list_kind, seconds)

    def _looks(self, resource: Resource, obj: Object, deadline: float) -> Iterator[Object | None]:
        """The current object, at every change and every few seconds; None when it does not exist.

        A server that does not answer because it is being restarted is asked again until the time is over.
        """
        path, selector = resource.path(namespace(obj)), f"metadata.name={name(obj)}"
        identity = {key: obj.get(key) for key in ("apiVersion", "kind")}
        while True:
            try:
                listing = self._api.request("GET", path, fieldSelector=selector)
            except ConnectionFailed as error:
                if time.monotonic() >= deadline or self._cancelled.is_set():
                    return
                self._log.status(str(error))
                self._cancelled.wait(_AGAIN_SECONDS)
                continue
            items = listing.get("items") or ()
            live: Object | None = {**identity, **items[0]} if items else None
            yield live
            version = str(metadata(listing).get("resourceVersion") or "")
            while version:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or self._cancelled.is_set():
                    return
                seconds = max(1, min(LISTEN_SECONDS, math.ceil(remaining)))
                for event in self._changes(path, version, selector, seconds):
                    if event.get("type") == "ERROR":
                        version = ""  # too old to continue from, or no answer: list again
                        break
                    changed = event["object"]
                    version = str(metadata(changed).get("resourceVersion"))
                    live = None if event.get("type") == "DELETED" else changed
                    yield live
                else:
                    yield live

    def _changes(self, path: str, version: str, selector: str, seconds: int) -> Iterator[Object]:
        try:
            yield from self._api.watch(path, version, selector, seconds)
        except (ConnectionFailed, StatusError):
            yield {"type": "ERROR"}
