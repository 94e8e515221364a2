"""The clusters of projects from Google's API, which is read at most every 30 seconds; or why it was not read."""

import threading
import time
from dataclasses import dataclass
from operator import itemgetter

from tpuplane.adopt.facts import Json, is_at
from tpuplane.contexts import gke_cluster
from tpuplane.preflight.google import Google, Undecided, Unreachable, of_project, reading

_EACH_SECONDS = 30.0  # between two reads: Google limits requests of a project
_LISTS = {  # as the gcp provider: v1 does not have every field
    "clusters": "container.v1beta1.projects.locations.clusters.list",
    "operations": "container.v1beta1.projects.locations.operations.list",
}


_place = itemgetter("location", "name")


@dataclass(frozen=True, slots=True)
class Project:
    """The clusters and operations of a project from Google's API."""

    name: str
    clusters: tuple[Json, ...] = ()
    operations: tuple[Json, ...] = ()
    silent: tuple[str, ...] = ()
    """Locations that did not answer. Their clusters are not known."""
    problem: str = ""
    """Why Google's API was not read; otherwise ""."""

    def cluster(self, context: str, server: str) -> Json | None:
        """The cluster with this address; otherwise the cluster that the name of the context identifies.

        Private clusters in several networks can have the same address.
        """
        at = [cluster for cluster in self.clusters if server and is_at(cluster, server)]
        named = gke_cluster(context)
        if len(at) != 1 and named and named.project == self.name:
            at = [cluster for cluster in at or self.clusters if _place(cluster) == (named.location, named.name)]
        return at[0] if len(at) == 1 else None

    def lacks(self, location: str, name: str) -> bool:
        """Whether a cluster certainly does not exist."""
        asked = not self.problem and location not in self.silent
        return asked and not any(_place(cluster) == (location, name) for cluster in self.clusters)


class Projects:
    """Reads projects. The caller waits for the first read of each; later reads happen in the background."""

    def __init__(self) -> None:
        self._google: Google | None = None
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Project]] = {}

    def read(self, name: str) -> Project:
        """The project as it was read last. If that was more than 30 seconds ago, it is read again for the next call."""
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
            self._google = self._google or Google()
            project = read_project(self._google, name)
        except Undecided as error:
            roles = "the caller needs roles/container.clusterViewer"
            project = Project(name, problem=f"{error}; {error.remedy or roles}")
        except Unreachable as error:
            self._google, project = None, Project(name, problem=str(error))
        self._known[name] = time.monotonic(), project


def read_project(google: Google, name: str) -> Project:
    """The clusters and the operations of a project. Raises `Unreachable` and `Undecided`."""
    answers = {kind: google.ask(method, parent=f"projects/{name}/locations/-") for kind, method in _LISTS.items()}
    clusters, operations = of_project(answers["clusters"], name), answers["operations"] or {}
    with reading():
        described = tuple(
            {**cluster, "location": cluster["location"], "name": cluster["name"]}
            for cluster in clusters.get("clusters", ())
        )
        started = tuple(operation for operation in operations.get("operations", ()) if operation.get("targetLink"))
    return Project(name, described, started, tuple(clusters.get("missingZones", ())))
