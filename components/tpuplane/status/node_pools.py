"""Completes the status of clusters with the node pools that GKE has and that a stack file declares."""

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
    """The node pools of Google's API and of a stack file, with which a status is completed."""

    def __init__(self, declared: PlatformPlan | None = None, where: str = "") -> None:
        """`declared` is the plan of the stack file `where`. Without a plan, `declared` of each pool is None."""
        self._declared = declared
        self._where = where
        self._projects = Projects()

    def complete(self, status: dict[str, Any], nodes: Iterable[Node] = ()) -> dict[str, Any]:
        """`Objects.described` with all node pools, their states, and the source of both (`poolsFrom`).

        `gke` is the cluster in Google's API; None if Google's API was not read or does not have it.
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
        plan, problems = self._plan(context, cluster, project.name)
        if self._declared is not None and self._declared.project == project.name:
            problems += absent_clusters(project, self._declared.clusters, self._where)
        console = not os.environ.get("GOOGLE_CONTAINER_CUSTOM_ENDPOINT")
        if cluster is not None:
            source = f"Google's API, project {project.name}"
        elif project.name:
            silent = f"locations did not answer: {', '.join(project.silent)}" if project.silent else ""
            why = project.problem or silent or f"Google's API has no such cluster in project {project.name}"
            problems += [f"Google's API is incomplete: {silent}"] if silent else []
            source = f"the nodes of the cluster ({why})"
        else:
            source = "the nodes of the cluster (neither a node nor the context names its Google Cloud project)"
        deletion = deleted(context, project)
        return {
            **status,
            "poolsFrom": source,
            "declaredIn": self._where,
            "gke": None if cluster is None else describe_cluster(cluster, project, console=console),
            "nodePools": with_states(status.get("nodePools", ()), cluster, project, plan),
            "problems": list(dict.fromkeys(filter(None, [deletion, *status["problems"], *problems]))),
        }

    def deleted(self, context: str) -> str:
        """A message if Google's API knows that the cluster of this context does not exist; otherwise ""."""
        return deleted(context, self._project(context, ()))

    def _project(self, context: str, nodes: Iterable[Node]) -> Project:
        named = gke_cluster(context)
        # gce://PROJECT/ZONE/NAME
        of_nodes = (node.provider_id.split("/")[2] for node in nodes if node.provider_id.startswith("gce://"))
        declared = self._declared.project if self._declared else ""
        name = named.project if named else next(of_nodes, declared)
        return self._projects.read(name) if name else Project("")

    def _plan(self, context: str, cluster: Any, project: str) -> tuple[ClusterPlan | None, list[str]]:
        """The cluster in the stack file with the name in Google's API, else that of the context; and problems."""
        if self._declared is None:
            return None, []
        if project not in ("", self._declared.project):
            declared = self._declared.project
            return None, [f"{self._where} describes project {declared}, but the cluster is in project {project}"]
        named = gke_cluster(context)
        name = cluster["name"] if cluster else named.name if named else context
        place = cluster["location"] if cluster else named.location if named else ""
        matching = [plan for plan in self._declared.clusters if plan.name == name and place in ("", plan.location)]
        if matching:
            return matching[0], []
        have = ", ".join(f"{plan.name} in {plan.location}" for plan in self._declared.clusters)
        return None, [f"{self._where} has no cluster {name}{f' in {place}' if place else ''}; it has: {have}"]
