"""Addresses of logs, dashboards and pages in Google's console, for a cluster, its node pools and its jobs. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from tpuplane.contexts import GkeCluster, gke_cluster
from tpuplane.data_files import read_data


class Link(NamedTuple):
    """An address in Google's console."""

    about: str  # such as `pool trainer-0`
    what: str  # logs, dashboards or page
    address: str


def links(status: Mapping[str, Any]) -> list[Link]:
    """The links of one result of `NodePools.complete`; none for a twin, and for a cluster without a known project.

    The jobs are those with pods on hosts. A job that waits has no logs.
    """
    gke, named = status["gke"], gke_cluster(status["context"])
    if gke is not None:
        named = GkeCluster(gke["project"], gke["location"], gke["name"])
    if named is None or (gke is not None and not gke["console"]):
        return []
    facts = {"project": named.project, "location": named.location, "cluster": named.name}
    pools = status["nodePools"]
    found = list(_links("cluster", named.name, facts))
    for name in filter(None, (pool["name"] for pool in pools)):
        found += _links("pool", name, {**facts, "name": name})
    for job in dict.fromkeys(job for pool in pools for job in pool["heldBy"]):
        namespace, _, name = job.partition("/")
        found += _links("job", job, {**facts, "namespace": namespace, "name": name})
    return found


def _links(kind: str, shown: str, facts: Mapping[str, str]) -> Iterator[Link]:
    data = read_data("tpuplane.status", "links")
    values = {**facts, "query": data["queries"][kind].format(**facts)}
    encoded = {key: quote(value, safe="") for key, value in values.items()}
    for what, address in data[kind].items():
        yield Link(f"{kind} {shown}", what, address.format(**encoded))
