"""Node pools as pools of a stack file: TPU slices, GPU nodes, and the CPU pool."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tpuplane.adopt.facts import Json, NotAdopted, dig
from tpuplane.adopt.fields import Described, fields, outside, undeclared
from tpuplane.labels import CLASS_LABEL, GPU, QUEUED_LABEL, TPU
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.tpu import Slice, SliceError, catalogue

_NUMBERED = re.compile(r"(.+)-\d+")
_TPU_MACHINES = ("ct", "tpu")
_OWN_TAINTS = {TPU, GPU, "kubernetes.io/arch", QUEUED_LABEL}
"""The keys of the taints that GKE sets itself. It sets none on nodes of Spot VMs."""
_TAINT = "the stack file does not have it; pods must tolerate it, and new node pools are without it"
_SETTING = "the stack file does not have it; it stays on these nodes, and new node pools are without it"


@dataclass(slots=True)
class AdoptedPool:
    """A pool of a stack file, and the node pools that it describes."""

    kind: str
    """The section of its cluster: pools, gpuPools or systemPool."""
    described: Described
    names: list[str]
    nodes: int
    """Current nodes of each node pool in each zone."""
    multi_host: bool = False
    reservation: Described = field(default_factory=dict)
    """The reservation, with the number of its chips or GPUs that each node pool uses."""
    key: str = ""
    tainted: bool = False
    left: list[NotAdopted] = field(default_factory=list)
    """What its nodes have, and new node pools are without."""

    @property
    def place(self) -> tuple[str, ...]:
        """Its path in the description of its cluster."""
        return (self.kind, self.key) if self.key else (self.kind,)


class _Inexpressible(ValueError):
    """A node pool that no pool of a stack file can describe."""


def adopted_pools(project: str, cluster: Json) -> Iterator[AdoptedPool | NotAdopted]:
    """The pools of a cluster, and the node pools that no pool can describe. Slices with numbered names are one pool."""
    inherited = {**cluster, **dig(cluster, "nodePoolDefaults.nodeConfigDefaults", {})}
    inherited["kubeletConfig"] = inherited.get("nodeKubeletConfig")
    inherited["maxPodsConstraint"] = inherited.get("defaultMaxPodsConstraint")
    inherited["networkConfig"] = {
        "podRange": dig(cluster, "ipAllocationPolicy.clusterSecondaryRangeName"),
        "subnetwork": dig(cluster, "networkConfig.subnetwork"),
    }
    system: list[AdoptedPool] = []
    pools: dict[tuple[str, str], AdoptedPool] = {}
    for found in cluster.get("nodePools", ()):
        name = found["name"]
        try:
            pool = _pool(project, found)
        except (_Inexpressible, SliceError) as error:
            yield NotAdopted(f"node pool {name}", str(error))
            continue
        pool.tainted, pool.left = bool(dig(found, "config.taints")), list(_left(found, pool, inherited))
        numbered = _NUMBERED.fullmatch(name) if pool.multi_host else None
        if pool.kind == "systemPool":
            system.append(pool)
        elif numbered and (same := pools.setdefault((numbered[1], repr(pool.described)), pool)) is not pool:
            same.names = sorted([*same.names, name], key=lambda name: (len(name), name))
            same.left += pool.left
        elif not numbered:
            pools[name, ""] = pool
    # The CPU pool of the cluster is its default pool, or else the largest. System pods do not tolerate taints.
    system.sort(key=lambda pool: (pool.tainted, pool.names != ["default-pool"], -pool.nodes))
    yield from system[:1]
    for other in system[1:]:
        why = f"a stack file describes only one CPU pool, which is {system[0].names[0]}"
        yield NotAdopted(f"node pool {other.names[0]}", why)
    taken = {SYSTEM_POOL}
    for (name, shape), pool in sorted(pools.items(), key=lambda found: bool(found[0][1])):  # names of node pools first
        pool.key = pool.names[0] if shape and name in taken else name
        while pool.key in taken:
            pool.key += "-pool"
        taken.add(pool.key)
        if pool.multi_host:
            pool.described |= _slices(pool.described, len(pool.names))
        yield pool


def _left(found: Json, pool: AdoptedPool, inherited: Json) -> Iterator[NotAdopted]:
    """What the nodes have, and the stack file does not."""
    for taint in dig(found, "config.taints", ()):
        key, value = taint["key"], taint.get("value", "")
        if key not in _OWN_TAINTS and (key, value) != (CLASS_LABEL, pool.described.get("computeClass")):
            effect = "".join(word.capitalize() for word in taint["effect"].split("_"))  # as kubectl writes it
            yield NotAdopted(f"node pool {found['name']}, taint {key}={value}:{effect}", _TAINT)
    for kind in ("nodePool", pool.kind):
        for setting in undeclared(kind, found, inherited):
            yield NotAdopted(f"node pool {found['name']}, {setting}", _SETTING)


def _slices(described: Described, count: int) -> Described:
    """The scale of `count` multi-host slices; `described` is one of them."""
    if scaling := described.get("autoscaling"):
        return {"autoscaling": {"minSlices": scaling["minSlices"] * count, "maxSlices": count}}
    return {"slices": count}


def _pool(project: str, found: Json) -> AdoptedPool:
    if why := outside("nodePool", found):
        raise _Inexpressible(why)
    machine, accelerators = dig(found, "config.machineType", ""), dig(found, "config.accelerators", ())
    if len(accelerators) > 1:
        raise _Inexpressible("its nodes have more than one kind of accelerator")
    names, (now, least, most) = [found["name"]], _scale(found)
    if not accelerators and not machine.startswith(_TPU_MACHINES):
        described = fields("systemPool", found)
        described |= {"minNodes": max(least or now, 1), "maxNodes": most or max(now, 1)}
        described["adopted"] = {"zones": sorted(found.get("locations", ()))}
        return AdoptedPool("systemPool", described, names, now)
    described, reservation = bought(project, found)
    described |= fields("pool", found)
    if own_class := dig(found, ("config", "labels", CLASS_LABEL)):
        described["computeClass"] = own_class
    if accelerators:
        described |= fields("gpu", accelerators[0])
        described |= {"autoscaling": {"minNodes": least, "maxNodes": most}} if most else {"nodes": now}
        described["zones"] = list(found.get("locations", ()))
        if dig(found, "placementPolicy.type") == "COMPACT":
            described["compactPlacement"] = True
        held = {"accelerator": described["accelerator"], "gpus": max(now, most, 1) * int(described["gpus"])}
        return AdoptedPool("gpuPools", described, names, now, reservation=reservation and reservation | held)
    shape = slice_of(found)
    if len(zones := found.get("locations", ())) != 1:
        raise _Inexpressible(f"it has nodes in {', '.join(zones)}, but a TPU pool of tpuplane has one zone")
    if shape.multi_host:
        now, least, most = 1, int(least > 0), int(most > 0)
    described |= fields("tpu", found)
    described |= {"generation": shape.generation.name, "topology": shape.topology, "zone": zones[0]}
    described |= {"autoscaling": {"minSlices": least, "maxSlices": most}} if most else {"slices": now}
    if dig(found, "placementPolicy.policyName"):  # the stack does not own the policy
        described["adopted"] = {"ignoreChanges": ["placementPolicy"]}
    held = {"generation": shape.generation.name, "chips": max(now, most, 1) * shape.chips}
    reservation = reservation and reservation | held
    return AdoptedPool("pools", described, names, now, shape.multi_host, reservation)


def _scale(found: Json) -> tuple[int, int, int]:
    """Nodes in each zone: now and, with autoscaling, at least and at most (0: no autoscaling)."""
    zones, limits = max(len(found.get("locations", ())), 1), found.get("autoscaling", {})
    now = int(found["nodeCount"]) // zones if "nodeCount" in found else int(found.get("initialNodeCount", 0))
    if not limits.get("enabled"):
        return now, 0, 0
    if limits.get("totalMaxNodeCount"):
        least, most = (int(limits.get(f"total{limit}NodeCount", 0)) for limit in ("Min", "Max"))
        return now, -(-least // zones), max(most // zones, 1)
    return now, int(limits.get("minNodeCount", 0)), int(limits.get("maxNodeCount", 0))


def slice_of(found: Json) -> Slice:
    """One slice of a TPU node pool. Raises `ValueError` if its topology is unknown."""
    generation, machine = catalogue().machine(dig(found, "config.machineType"))
    if topology := dig(found, "placementPolicy.tpuTopology"):
        return Slice.of(generation.name, topology, machine.name)
    if policy := dig(found, "placementPolicy.policyName"):
        raise _Inexpressible(f"its resource policy {policy.rpartition('/')[2]} does not have a topology")
    if machine.single_host_topology is None:
        raise _Inexpressible(f"it has no topology, and one {machine.name} is not a whole slice of {generation.name}")
    return Slice(generation, machine.single_host_topology, machine)


def bought(project: str, found: Json) -> tuple[Described, Described]:
    """How the hosts are bought, and their reservation if they use one."""
    config = found.get("config", {})
    if dig(config, "reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION":
        path = next(iter(dig(config, "reservationAffinity.values", ())), "")
        parts = (path if path.startswith("projects/") else f"projects/{project}/reservations/{path}").split("/")
        named = dict(zip(parts[::2], parts[1::2], strict=False))
        names = {"name": "reservations", "block": "reservationBlocks", "subBlock": "reservationSubBlocks"}
        use = {field: named[part] for field, part in names.items() if part in named}
        held = {"zone": next(iter(found.get("locations", ())), "")}
        held |= {"project": named["projects"]} if named["projects"] != project else {}
        return {"capacity": "reservation", "reservation": use}, held
    queued = dig(found, "queuedProvisioning.enabled", False)
    if config.get("flexStart") or queued:
        wanted = {"maxRunDuration": config.get("maxRunDuration"), "queued": queued}
        return {"capacity": "flex-start", "flexStart": {name: value for name, value in wanted.items() if value}}, {}
    return {"capacity": "spot"} if config.get("spot") or config.get("preemptible") else {}, {}
