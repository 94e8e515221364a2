"""Completes the status of clusters by the node pools that GKE knows, and by those that a stack file declares."""

import os
from collections.abc import Iterable
from typing import Any

from tpuplane.contexts import gke_cluster
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.preflight.google import UnknownForm, reading
from tpuplane.status.google import Project, Projects
from tpuplane.status.objects import Node
from tpuplane.status.pool_states import absent_clusters, deleted, describe_cluster, with_states


class NodePools:
    """What is known of node pools besides the nodes of a cluster."""

    def __init__(self, declared: PlatformPlan | None = None, where: str = "", projects: Projects | None = None) -> None:
        """`declared` is the plan of the stack file `where`; without it, no pool is declared or not declared."""
        self._declared = declared
        self._where = where
        self._projects = projects or Projects()

    def complete(self, status: dict[str, Any], nodes: Iterable[Node] = ()) -> dict[str, Any]:
        """`Objects.described` with all node pools and their states, and where they were read (`poolsFrom`).

        `gke` is the cluster as Google's API knows it; None without it.
        """
        project = self._project(status["context"], nodes)
        try:
            with reading():
                return self._completed(status, project)
        except UnknownForm as error:
            return self._completed(status, Project(project.name, problem=str(error)))

    def _completed(self, status: dict[str, Any], project: Project) -> dict[str, Any]:
        context = status["context"]
        cluster = project.cluster(context, status.get("server", ""))
        plan, problems = self._plan(context, cluster)
        if self._declared is not None:
            problems += absent_clusters(project, self._declared.clusters, self._where)
        console = not os.environ.get("GOOGLE_CONTAINER_CUSTOM_ENDPOINT")
        if cluster is not None:
            source = f"Google's API, project {project.name}"
        elif project.name:
            why = project.problem or f"Google's API has no such cluster in project {project.name}"
            source = f"the nodes of the cluster ({why})"
        else:
            source = "the nodes of the cluster (no node and no context names its project of Google Cloud)"
        gone = deleted(context, project)
        return {
            **status,
            "poolsFrom": source,
            "declaredIn": self._where,
            "gke": None if cluster is None else describe_cluster(cluster, project, console=console),
            "nodePools": with_states(status.get("nodePools", ()), cluster, project, plan),
            "problems": list(dict.fromkeys(filter(None, [gone, *status["problems"], *problems]))),
        }

    def deleted(self, context: str) -> str:
        """A message if Google's API knows that the cluster of this context does not exist; otherwise ""."""
        return deleted(context, self._project(context, ()))

    def _project(self, context: str, nodes: Iterable[Node]) -> Project:
        named = gke_cluster(context)
        # gce://PROJECT/ZONE/NAME
        of_nodes = (it.provider_id.split("/")[2] for it in nodes if it.provider_id.startswith("gce://"))
        declared = self._declared.project if self._declared else ""
        name = named.project if named else next(of_nodes, declared)
        return self._projects.read(name) if name else Project("")

    def _plan(self, context: str, cluster: Any) -> tuple[ClusterPlan | None, list[str]]:
        """The cluster in the stack file, by its name at Google, else by that of the context."""
        if self._declared is None:
            return None, []
        named = gke_cluster(context)
        name = cluster["name"] if cluster else named.name if named else context
        place = cluster["location"] if cluster else named.location if named else ""
        found = [it for it in self._declared.clusters if it.name == name and place in ("", it.location)]
        if found:
            return found[0], []
        have = ", ".join(f"{it.name} in {it.location}" for it in self._declared.clusters)
        return None, [f"{self._where} has no cluster {name}{f' in {place}' if place else ''}; it has: {have}"]
