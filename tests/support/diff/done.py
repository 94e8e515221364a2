"""What happens to node pools, clusters and work: as a diff shows it, and as the engine plans it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tpuplane.diff import Diff

REPLACED = ("replace", "create-replacement", "delete-replaced")
CLUSTER = "gcp:container/cluster:Cluster"
NETWORK = "gcp:compute/network:Network"
POOL = "gcp:container/nodePool:NodePool"
# Properties of a node pool whose change lets GKE recreate its nodes one by one.
ROLLING = ("nodeConfig.machineType", "nodeConfig.diskType", "nodeConfig.diskSizeGb", "nodeConfig.gcfsConfig")
ORDER = ("created", "resized", "rolled", "deleted", "replaced")
CHANNELS = ("", "UNSPECIFIED", "EXTENDED", "STABLE", "REGULAR", "RAPID")  # the freshest is the last
WORK = (
    *("Namespace", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass", "ComputeClass", "Operator"),
    *("CheckpointConfiguration", "MultiKueueCluster"),
)


@dataclass
class Done:
    """What a change does; with a cluster, everything in it is replaced or deleted."""

    pools: dict[str, str] = field(default_factory=dict)
    """By the name in GKE: what is done to a node pool, if its nodes do not all stay."""
    cluster: bool = False
    work: bool = False
    anything: bool = False
    """Whether a resource changes at all."""

    def note(self, pool: str, what: str) -> None:
        """Note what is done to a node pool. Of several changes, the one that interrupts most counts."""
        self.pools[pool] = max(self.pools.get(pool, what), what, key=ORDER.index)

    def summary(self) -> Done:
        """The same; what goes with a cluster is not named."""
        return Done(cluster=True, work=True, anything=True) if self.cluster else self


def of_diff(found: Diff) -> Done:
    """As the diff shows."""
    kinds = {change.kind for change in found.changes}
    done = Done(
        cluster=not kinds.isdisjoint({"replaces-cluster", "replaces-everything", "deletes-cluster"}),
        work="deletes-work" in kinds,
        anything=bool(kinds - {"nothing"}),
    )
    for pool in (pool for change in found.changes for pool in change.node_pools):
        done.note(pool.name, pool.done)
    return done.summary()


def of_steps(steps: Iterable[Mapping[str, Any]]) -> Done:
    """As the steps of `pulumi preview --json` show."""
    done, every = Done(), list(steps)
    for step in (step_ for step_ in every if step_["op"] == "update" and _type(step_) == CLUSTER):
        old, new = step["oldState"]["inputs"], step["newState"]["inputs"]
        pools = [
            step_["newState"]["inputs"] for step_ in every if _type(step_) == POOL and step_["op"] in ("same", "update")
        ]
        for pool in pools if upgrades(old, new) else ():
            if pool["cluster"] == new["name"] and pool["management"]["autoUpgrade"]:
                done.note(pool["name"], "rolled")
    for step in (step_ for step_ in every if step_["op"] != "same"):
        done.anything = True
        type_ = _type(step)
        kind = type_.rpartition(":")[2]
        gone = step["op"] in (*REPLACED, "delete")
        # A network is deleted before it is replaced, with the clusters in it. A preview does not list those that do not
        # come back.
        done.cluster |= gone and type_ in (CLUSTER, NETWORK)
        done.work |= gone and kind in WORK
        if kind == "NodePool" and (what := _of_step(step)):
            inputs = (step.get("oldState") or step["newState"])["inputs"]
            done.note(str(inputs["name"]), what)
    return done.summary()


def _type(step: Mapping[str, Any]) -> str:
    return str(step["urn"]).split("::")[-2].rpartition("$")[2]


def upgrades(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether GKE upgrades a cluster, and then its nodes, with these inputs."""
    former, later = ((cluster.get("releaseChannel") or {}).get("channel", "") for cluster in (old, new))
    versions = [
        [int(part) for part in str(cluster.get("minMasterVersion") or "0").split(".")[:2]] for cluster in (old, new)
    ]
    return CHANNELS.index(later) > CHANNELS.index(former) or versions[1] > versions[0]


def _of_step(step: Mapping[str, Any]) -> str:
    if step["op"] in REPLACED:
        return "replaced"
    if step["op"] in ("create", "delete"):
        return f"{step['op']}d"
    return of_update(step.get("detailedDiff") or {}, step["oldState"]["inputs"], step["newState"]["inputs"])


def of_update(paths: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What an update in place does to the nodes of a pool; nothing if all of them stay."""
    if any(path.startswith(ROLLING) for path in paths):
        return "rolled"
    fewer_zones = set(old["nodeLocations"]) - set(new["nodeLocations"])
    # The autoscaler can have added nodes up to its maximum.
    most = old["autoscaling"]["maxNodeCount"] if "autoscaling" in old else old["nodeCount"]
    return "resized" if fewer_zones or new.get("nodeCount", most) < most else ""
