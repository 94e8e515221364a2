"""`describe`: turns Google's answers into the description of a platform that adopts the existing clusters."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tpuplane.adopt.facts import Facts, Json, NotAdopted, dig
from tpuplane.adopt.fields import Described, fields, outside, undeclared
from tpuplane.adopt.pools import AdoptedPool, adopted_pools
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.core.errors import Mistake, Path, dotted
from tpuplane.spec.pools.checks import not_offered
from tpuplane.spec.pools.machine_checks import check_system_pool

_SETTING = "the stack file does not have it; it stays on the cluster, and a new cluster is without it"


@dataclass(frozen=True, slots=True)
class Adopted:
    """A description of a platform, and where it describes the clusters and node pools that it adopts."""

    config: Described
    """In the form of a stack file, without defaults. It has no cluster if nothing can be adopted."""
    places: dict[str, tuple[str, ...]]
    """Where each is in `config`, by its ID in Google Cloud."""
    left: tuple[NotAdopted, ...]
    warnings: tuple[Mistake, ...] = ()
    """Adopted hardware that the catalogues do not list."""

    def kept(self, properties: Iterable[tuple[str, str]]) -> "Adopted":
        """A copy that keeps properties as they are. Each is given as the ID of its resource and its name."""
        config = copy.deepcopy(self.config)
        for identity, name in properties:
            own = dig(config, self.places[identity])["adopted"]
            own["ignoreChanges"] = sorted({*own.get("ignoreChanges", ()), name})
        return replace(self, config=config)


def describe(facts: Facts, name: str, wanted: Sequence[str] = ()) -> Adopted:
    """Describe the clusters named in `wanted`, or all clusters, as the platform `name`.

    A field or a pool that the rules of stack files reject is omitted, and `left` has the message.
    """
    silent = "it did not answer, so its clusters are unknown"
    left = [NotAdopted(f"zone {zone}", silent) for zone in facts.missing_zones]
    config: Described = {"name": name, "project": facts.project, "clusters": {}}
    places: dict[str, tuple[str, ...]] = {}
    clusters = [cluster for cluster in facts.clusters if not wanted or cluster["name"] in wanted]
    names = [cluster["name"] for cluster in clusters]
    for cluster in clusters:
        own, location = cluster["name"], cluster["location"]
        if why := outside("cluster", cluster):
            left.append(NotAdopted(f"cluster {own} in {location}", why))
            continue
        key = own if names.count(own) == 1 else f"{own}-{location}"
        while key in config["clusters"]:
            key += f"-{location}"
        identity = f"projects/{facts.project}/locations/{location}/clusters/{own}"
        config["clusters"][key] = described = _cluster(cluster, facts.project)
        places[identity] = ("clusters", key)
        left += [NotAdopted(f"cluster {own}, {setting}", _SETTING) for setting in undeclared("cluster", cluster)]
        for pool in adopted_pools(facts.project, cluster):
            if isinstance(pool, NotAdopted):
                left.append(NotAdopted(f"cluster {own}, {pool.what}", pool.why))
                continue
            if pool.reservation and (why := _reserve(config.setdefault("reservations", {}), pool)):
                left += [NotAdopted(f"cluster {own}, node pool {name}", why) for name in pool.names]
                continue
            pool.described.setdefault("adopted", {})["names"] = pool.names
            if pool.key:
                described.setdefault(pool.kind, {})[pool.key] = pool.described
            else:
                described[pool.kind] = pool.described
            places |= {f"{identity}/nodePools/{name}": ("clusters", key, *pool.place) for name in pool.names}
            left += [NotAdopted(f"cluster {own}, {rest.what}", rest.why) for rest in pool.left]
    config = _valid(config, left)
    places = {identity: place for identity, place in places.items() if dig(config, place) is not None}
    return Adopted(config, places, tuple(left), tuple(_unknown(config)) if config["clusters"] else ())


def _unknown(config: Described) -> Iterator[Mistake]:
    """Hardware that Google has accepted, but the catalogues do not list."""
    for key, cluster in parse_platform(config).clusters.items():
        at: Path = ("clusters", key)
        for path, pool in cluster.all_pools.items():
            yield from not_offered((*at, *path), cluster, pool)
        yield from check_system_pool(
            (*at, "systemPool"), cluster.location, cluster.system_pool.model_copy(update={"adopted": None})
        )


def _cluster(cluster: Json, project: str) -> Described:
    result = fields("cluster", cluster)
    for kind in ("network", "subnetwork"):  # a name in the cluster's own project, else a path
        path = str(dig(cluster, f"networkConfig.{kind}") or cluster[kind])
        own = path.startswith(f"projects/{project}/")
        result["network"]["existing"][kind] = path.rpartition("/")[2] if own else path
    ray = dig(cluster, "addonsConfig.rayOperatorConfig.enabled", default=False)
    result["addons"] = {"ray": {"mode": "gke-addon" if ray else "none"}}
    if allowed := dig(cluster, "masterAuthorizedNetworksConfig.cidrBlocks"):
        networks = [{"cidr": block["cidrBlock"], "name": block.get("displayName") or None} for block in allowed]
        result["controlPlane"]["authorizedNetworks"] = networks
    accounts = {dig(pool, "config.serviceAccount", "default") for pool in cluster.get("nodePools", ())}
    if len(accounts) == 1 and "@" in (account := accounts.pop()):
        result["nodeServiceAccount"] = account
    return result


def _reserve(reservations: Described, pool: AdoptedPool) -> str | None:
    """Declare the reservation of a pool with the hardware that its node pools use; or why this is not possible."""
    unit, name = "chips" if "chips" in pool.reservation else "gpus", pool.described["reservation"]["name"]
    declared = reservations.setdefault(name, {**pool.reservation, unit: 0})
    if {**declared, unit: 0} != {**pool.reservation, unit: 0}:
        one, other = (
            ", ".join(f"{field} {value}" for field, value in held.items() if field not in ("chips", "gpus"))
            for held in (pool.reservation, declared)
        )
        return f"its reservation is {name} ({one}), but a stack file has one of this name, which is ({other})"
    declared[unit] += pool.reservation[unit] * len(pool.names)
    return None


def _valid(config: Described, left: list[NotAdopted]) -> Described:
    """The description in the form of a stack file. Parts that the rules reject move to `left`."""
    while config["clusters"]:
        for cluster in config["clusters"].values():
            if not dig(cluster, "controlPlane.authorizedNetworks"):  # a stack file cannot open it to everyone
                cluster.get("controlPlane", {}).pop("publicEndpoint", None)
        try:
            spec = parse_platform(config)
            plan(spec)
        except SpecError as error:
            found = {_culprit(config, mistake.path): mistake for mistake in error.mistakes}
            # A part before what holds it, and an item of a list before those in front of it.
            for at in sorted(found, key=lambda culprit: (len(culprit), culprit), reverse=True):
                dig(config, at[:-1]).pop(at[-1])
                if at[2:3] in (("pools",), ("gpuPools",)):  # the message of a pool replaces those of its fields
                    left[:] = [other for other in left if not other.what.startswith(f"{dotted(at)}.")]
                left.append(NotAdopted(dotted(at), found[at].message))
        else:
            return spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return config


_REQUIRED = {"generation", "topology", "zone", "zones", "accelerator", "gpus", "machineType", "slices", "nodes"}
_REQUIRED |= {"autoscaling", "capacity", "reservation", "adopted", "location", "network", "flexStart"}


def _culprit(config: Described, at: Path) -> Path:
    """The part to omit because of a mistake: an item of a list, a field, or the pool or cluster that requires it."""
    clusters = config["clusters"]
    if at[0] == "reservations":
        pools = ((key, kind) for key, cluster in clusters.items() for kind in ("pools", "gpuPools") if kind in cluster)
        places = (("clusters", key, kind, name) for key, kind in pools for name in clusters[key][kind])
        return next((place for place in places if dig(config, (*place, "reservation", "name")) == at[1]), at[:2])
    whole = at[:4] if at[2:3] in (("pools",), ("gpuPools",)) else at[:3] if at[2:3] == ("systemPool",) else at[:2]
    field = at[len(whole) : len(whole) + 2]
    items = (at[: place + 1] for place, part in enumerate(at) if isinstance(part, int))
    smaller = () if not field or field[0] in _REQUIRED else (*items, (*whole, *field), (*whole, field[0]))
    known = (place for place in (*smaller, whole, at[:2]) if dig(config, place) is not None)
    return next(known, ("clusters", next(iter(clusters))))
