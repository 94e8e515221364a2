"""The clusters of projects as Google's API knows them, read at most every 30 seconds; or why it was not read."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tpuplane.adopt.facts import Json, is_at
from tpuplane.contexts import gke_cluster
from tpuplane.preflight.google import Google, Undecided, Unreachable, reading

_EACH_SECONDS = 30.0  # between two reads: Google limits requests of a project
_LISTS = {  # as the gcp provider: v1 does not have every field
    "clusters": "container.v1beta1.projects.locations.clusters.list",
    "operations": "container.v1beta1.projects.locations.operations.list",
}


@dataclass(frozen=True, slots=True)
class Project:
    """What Google's API answered about a project."""

    name: str
    clusters: tuple[Json, ...] = ()
    operations: tuple[Json, ...] = ()
    silent: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are not known."""
    problem: str = ""
    """Why Google's API was not read; otherwise ""."""

    def cluster(self, context: str, server: str) -> Json | None:
        """The cluster with this address, else the one that the name of the context names."""
        at = [it for it in self.clusters if server and is_at(it, server)]
        named = gke_cluster(context)
        if not at and named and named.project == self.name:
            at = [it for it in self.clusters if (it["location"], it["name"]) == (named.location, named.name)]
        return at[0] if at else None

    def lacks(self, location: str, name: str) -> bool:
        """Whether a cluster certainly does not exist."""
        asked = not self.problem and location not in self.silent
        return asked and not any((it["location"], it["name"]) == (location, name) for it in self.clusters)


class Projects:
    """Reads projects. The first read of each waits; later ones happen in the background."""

    def __init__(self, ask: Callable[[], Google] = Google) -> None:
        """Ask nothing yet; `ask` finds credentials."""
        self._ask = ask
        self._google: Google | None = None
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Project]] = {}

    def read(self, name: str) -> Project:
        """The project now, or at most 30 seconds before the last call."""
        if name not in self._known:
            with self._lock:
                if name not in self._known:
                    self._read(name)
        at, known = self._known[name]
        if time.monotonic() - at > _EACH_SECONDS and self._lock.acquire(blocking=False):
            threading.Thread(target=self._again, args=(name,), daemon=True).start()
        return known

    def _again(self, name: str) -> None:
        try:
            self._read(name)
        finally:
            self._lock.release()

    def _read(self, name: str) -> None:
        try:
            self._google = self._google or self._ask()
            found = read_project(self._google, name)
        except Undecided as error:
            roles = "the caller needs roles/container.clusterViewer"
            found = Project(name, problem=f"{error}; {error.remedy or roles}")
        except Unreachable as error:
            self._google, found = None, Project(name, problem=str(error))
        self._known[name] = time.monotonic(), found


def read_project(google: Google, name: str) -> Project:
    """The clusters and the operations of a project. Raises `Unreachable` and `Undecided`."""
    answers = {kind: google.ask(it, parent=f"projects/{name}/locations/-") for kind, it in _LISTS.items()}
    clusters, operations = answers["clusters"], answers["operations"] or {}
    if clusters is None:
        raise Undecided(f"Google finds no project {name}")
    with reading():
        found = tuple({**it, "location": it["location"], "name": it["name"]} for it in clusters.get("clusters", ()))
        asked = tuple(it for it in operations.get("operations", ()) if it.get("targetLink"))
    return Project(name, found, asked, tuple(clusters.get("missingZones", ())))
