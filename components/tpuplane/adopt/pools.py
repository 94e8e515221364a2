"""Node pools as pools of a stack file: TPU slices, GPU nodes, and the CPU pool."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tpuplane.adopt.facts import Facts, Json, NotAdopted, dig
from tpuplane.adopt.fields import Described, fields, outside
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.names import SYSTEM_POOL
from tpuplane.tpu import Slice, SliceError, catalogue

Kind = Literal["pools", "gpuPools", "systemPool"]
_NUMBERED = re.compile(r"(.+)-\d+")


@dataclass(slots=True)
class AdoptedPool:
    """A pool of a stack file, and the node pools that it describes."""

    kind: Kind
    key: str
    described: Described
    names: list[str]
    scale: tuple[int, int, int] = (0, 0, 0)
    """Slices or nodes in each zone, now and, with autoscaling, at least and at most (0: no autoscaling)."""
    reservation: Described = field(default_factory=dict)


class _Inexpressible(ValueError):
    """A node pool that no pool of a stack file describes."""


def adopted_pools(facts: Facts, cluster: Json) -> Iterator[AdoptedPool | NotAdopted]:
    """Each pool of a cluster, and each node pool that no pool describes. Slices with numbered names are one pool."""
    pools: dict[tuple[str, str], AdoptedPool] = {}
    system: list[AdoptedPool] = []
    for found in cluster.get("nodePools", ()):
        name = found["name"]
        if why := outside("nodePool", found):
            yield NotAdopted(f"node pool {name}", why)
            continue
        try:
            pool = _pool(facts, cluster, found)
        except (_Inexpressible, SliceError) as error:
            yield NotAdopted(f"node pool {name}", str(error))
            continue
        if pool.kind == "systemPool":
            system.append(pool)
        elif pool.kind == "pools" and _multi_host(pool) and (numbered := _NUMBERED.fullmatch(name)):
            same = pools.setdefault((numbered[1], repr((pool.described, pool.scale))), pool)
            same.names = sorted({*same.names, name}, key=lambda it: (len(it), it))
        else:
            pools[name, ""] = pool
    yield from _system(system)
    taken: set[str] = set()
    for (prefix, _), pool in pools.items():
        if prefix != pool.key and prefix not in taken | {name for name, same in pools if not same}:
            _join(pool, prefix)
        taken.add(pool.key)
        yield pool


def _join(pool: AdoptedPool, key: str) -> None:
    """Make one pool of numbered node pools, of which each is a slice."""
    pool.key, count = key, len(pool.names)
    if scaling := pool.described.get("autoscaling"):
        pool.described["autoscaling"] = {"minSlices": scaling["minSlices"] * count, "maxSlices": count}
    else:
        pool.described["slices"] = count


def _system(pools: list[AdoptedPool]) -> Iterator[AdoptedPool | NotAdopted]:
    """The CPU pool of the cluster is its default pool, or else the largest."""
    pools.sort(key=lambda it: (it.names != ["default-pool"], -it.scale[0]))
    yield from pools[:1]
    for other in pools[1:]:
        why = f"a stack file describes one CPU pool, and {pools[0].names[0]} is that pool"
        yield NotAdopted(f"node pool {other.names[0]}", why)


def _multi_host(pool: AdoptedPool) -> bool:
    return Slice.of(*(pool.described[it] for it in ("generation", "topology", "machineType"))).multi_host


def _pool(facts: Facts, cluster: Json, found: Json) -> AdoptedPool:
    name, machine = found["name"], dig(found, "config.machineType", "")
    accelerators = dig(found, "config.accelerators", ())
    if len(accelerators) > 1:
        raise _Inexpressible("its nodes have more than one kind of accelerator")
    scale = _scale(facts, found)
    if not accelerators and not _is_tpu(machine):
        described = fields("systemPool", found)
        described |= {"minNodes": max(scale[1] or scale[0], 1), "maxNodes": max(scale[2] or scale[0], 1)}
        return AdoptedPool("systemPool", SYSTEM_POOL, described, [name], scale)
    described = fields("pool", found) | _capacity(found)
    reservation = _reservation(facts.project, found, described)
    if accelerators:
        described |= fields("gpu", accelerators[0]) | _gpu_scale(found, scale)
        hardware: Described = {"accelerator": described["accelerator"]}
    else:
        shape = _slice(facts, cluster, found)
        hardware = {"generation": shape.generation.name}
        described |= {**hardware, "topology": shape.topology} | _slices(found, shape, scale)
        if dig(found, "placementPolicy.policyName"):  # the policy is not of the stack
            described["adopted"] = {"ignoreChanges": ["placementPolicy"]}
    kind: Kind = "gpuPools" if accelerators else "pools"
    key = f"{name}-pool" if name == SYSTEM_POOL else name
    return AdoptedPool(kind, key, described, [name], scale, {**reservation, **hardware} if reservation else {})


def _is_tpu(machine: str) -> bool:
    return any(machine == it.name for generation in catalogue().generations for it in generation.machines)


def _scale(facts: Facts, found: Json) -> tuple[int, int, int]:
    zones, limits = max(len(found.get("locations", ())), 1), found.get("autoscaling", {})
    now = facts.nodes(found) // zones
    if not limits.get("enabled"):
        return now, 0, 0
    if limits.get("totalMaxNodeCount"):
        least, most = (int(limits.get(f"total{it}NodeCount", 0)) for it in ("Min", "Max"))
        return now, -(-least // zones), max(most // zones, 1)
    return now, int(limits.get("minNodeCount", 0)), int(limits.get("maxNodeCount", 0))


def _slice(facts: Facts, cluster: Json, found: Json) -> Slice:
    """The slices of a TPU node pool."""
    machine = dig(found, "config.machineType")
    generation, kind = catalogue().machine(machine)
    topology = dig(found, "placementPolicy.tpuTopology")
    if policy := dig(found, "placementPolicy.policyName"):
        name = policy.rpartition("/")[2]
        topology = topology or dig(facts.policies.get(name), "workloadPolicy.acceleratorTopology")
        if not topology:
            raise _Inexpressible(f"its resource policy {name} in {region_of(cluster['location'])} names no topology")
    if topology:
        return Slice.of(generation.name, topology, machine)
    alone = [Slice(generation, it, kind) for it in generation.topologies if kind in generation.machines_for(it)]
    if not (single := [it for it in alone if it.hosts == 1]):
        raise _Inexpressible(f"it has no topology, and {machine} is no slice of {generation.name} by itself")
    return single[-1]


def _slices(found: Json, shape: Slice, scale: tuple[int, int, int]) -> Described:
    """Zone and number of the slices of one TPU node pool."""
    zones = found.get("locations", ())
    if len(zones) != 1:
        raise _Inexpressible(f"it has nodes in {', '.join(zones)}, and a TPU pool of tpuplane is in one zone")
    now, least, most = scale
    if shape.multi_host:
        described: Described = {"autoscaling": {"minSlices": int(least > 0), "maxSlices": 1}} if most else {"slices": 1}
    else:
        described = {"autoscaling": {"minSlices": least, "maxSlices": most}} if most else {"slices": now}
    return {"zone": zones[0], **described}


def _gpu_scale(found: Json, scale: tuple[int, int, int]) -> Described:
    now, least, most = scale
    counted: Described = {"autoscaling": {"minNodes": least, "maxNodes": most}} if most else {"nodes": now}
    compact = dig(found, "placementPolicy.type") == "COMPACT"
    return {"zones": list(found.get("locations", ())), **counted, **({"compactPlacement": True} if compact else {})}


def _capacity(found: Json) -> Described:
    """How the hosts are bought."""
    config = found.get("config", {})
    if dig(config, "reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION":
        return {"capacity": "reservation"}
    queued = dig(found, "queuedProvisioning.enabled", False)
    if config.get("flexStart") or queued:
        run = {"maxRunDuration": config["maxRunDuration"]} if config.get("maxRunDuration") else {}
        return {"capacity": "flex-start", "flexStart": {**run, **({"queued": True} if queued else {})}}
    if config.get("spot") or config.get("preemptible"):
        return {"capacity": "spot"}
    return {}


def _reservation(project: str, found: Json, described: Described) -> Described:
    """The reservation of a node pool, whose use is added to `described`; empty without one."""
    if described.get("capacity") != "reservation":
        return {}
    path = next(iter(dig(found, "config.reservationAffinity.values", ())), "")
    parts = _RESERVATION.fullmatch(path)
    use = {key: it for key, it in (parts.groupdict() if parts else {}).items() if it}
    owner = use.pop("project", project)
    described["reservation"] = use
    zone = next(iter(found.get("locations", ())), "")
    return {"name": use.get("name", path), "zone": zone, **({"project": owner} if owner != project else {})}


_RESERVATION = re.compile(
    r"(?:projects/(?P<project>[^/]+)/reservations/)?(?P<name>[^/]+)"
    r"(?:/reservationBlocks/(?P<block>[^/]+)(?:/reservationSubBlocks/(?P<subBlock>[^/]+))?)?"
)
