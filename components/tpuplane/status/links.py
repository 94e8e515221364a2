"""Addresses of logs, dashboards and pages in Google's console, for a cluster, its node pools and its jobs. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from tpuplane.contexts import GkeCluster, gke_cluster
from tpuplane.data_files import read_data

NAME_START = 50
"""A pod's name begins with at most this many characters of its job's name: Kubernetes and KubeRay cut longer names."""


class Link(NamedTuple):
    """An address in Google's console."""

    about: str  # such as `pool trainer-0`
    what: str  # logs, dashboards or page
    address: str


def links(status: Mapping[str, Any]) -> list[Link]:
    """The links of one result of `NodePools.complete`; none for a twin, and for a cluster without a known project.

    The jobs are those with pods on hosts. A job that waits has no logs.
    """
    if (cluster := _cluster(status)) is None:
        return []
    pools = status["nodePools"]
    named = [("cluster", cluster.name), *(("pool", pool["name"]) for pool in pools if pool["name"])]
    named += [("job", job) for job in dict.fromkeys(job for pool in pools for job in pool["heldBy"])]
    forms = addresses(status)
    found = []
    for kind, shown in named:
        namespace, _, name = shown.rpartition("/")
        if len(name) > NAME_START:
            name = f"{name[:NAME_START]}.*"
        facts = {"namespace": quote(namespace, safe=""), "name": quote(name, safe="")}
        found += [Link(f"{kind} {shown}", what, address.format(**facts)) for what, address in forms[kind].items()]
    return found


def addresses(status: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The addresses of each kind by what they show, with `{name}` and `{namespace}` for those of a pool or job.

    The page has hundreds of pools, so it gets these forms and not the address of each pool. Empty as for `links`.
    """
    if (cluster := _cluster(status)) is None:
        return {}
    data = read_data("tpuplane.status", "links")
    facts = {"project": cluster.project, "location": cluster.location, "cluster": cluster.name}
    facts |= {"namespace": "{namespace}", "name": "{name}"}
    found: dict[str, dict[str, str]] = {}
    for kind, query in data["queries"].items():
        values = {**facts, "query": query.format(**facts)}
        encoded = {key: quote(value, safe="{}") for key, value in values.items()}
        found[kind] = {what: address.format(**encoded) for what, address in data[kind].items()}
    return found


def _cluster(status: Mapping[str, Any]) -> GkeCluster | None:
    """The cluster in Google Cloud that Google's answer names, else the context."""
    if (gke := status["gke"]) is None:
        return gke_cluster(status["context"])
    return GkeCluster(gke["project"], gke["location"], gke["name"]) if gke["console"] else None
