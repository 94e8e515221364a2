"""`describe`: from Google's answers to the description of a platform that adopts what exists."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tpuplane.adopt.facts import Facts, Json, NotAdopted, dig
from tpuplane.adopt.fields import Described, fields, outside
from tpuplane.adopt.pools import AdoptedPool, adopted_pools
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec, SpecError, parse_platform
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.tpu import catalogue

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Adopted:
    """Where a stack file describes the clusters and node pools that it adopts."""

    spec: PlatformSpec
    places: dict[str, Place]
    """By the ID in Google Cloud."""
    left: tuple[NotAdopted, ...]

    def kept(self, properties: Iterable[tuple[str, str]]) -> "Adopted":
        """The same with properties that stay as they are: the ID of a resource, and the property."""
        config = described(self.spec)
        for identity, name in properties:
            holder: Any = config
            for part in (*self.places[identity], "adopted"):
                holder = holder.setdefault(part, {})
            holder["ignoreChanges"] = sorted({*holder.get("ignoreChanges", ()), name})
        return Adopted(parse_platform(config), self.places, self.left)


def described(spec: PlatformSpec) -> Described:
    """The description as a stack file has it, without defaults."""
    config: Described = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for key, cluster in spec.clusters.items():
        if cluster.adopted is not None:  # the section alone has a meaning
            config["clusters"][key].setdefault("adopted", {})
    return config


def describe(facts: Facts, name: str, wanted: Sequence[str] = ()) -> Adopted | tuple[NotAdopted, ...]:
    """Describe the clusters as the platform `name`; those called as in `wanted`, or all.

    A field or a pool that the rules of stack files reject is left out, with the message. If nothing remains, only what
    cannot be adopted is returned.
    """
    silent = "it did not answer, so its clusters are not known"
    left = [NotAdopted(f"zone {zone}", silent) for zone in facts.missing_zones]
    config: Described = {"name": name, "project": facts.project, "clusters": {}}
    places: dict[str, Place] = {}
    found = [it for it in facts.clusters if not wanted or it["name"] in wanted]
    names = [it["name"] for it in found]
    for cluster in found:
        own, location = cluster["name"], cluster["location"]
        if why := outside("cluster", cluster):
            left.append(NotAdopted(f"cluster {own} in {location}", why))
            continue
        key = own if names.count(own) == 1 else f"{own}-{location}"
        identity = f"projects/{facts.project}/locations/{location}/clusters/{own}"
        config["clusters"][key] = _cluster(cluster, facts.project)
        places[identity] = ("clusters", key)
        for pool in adopted_pools(facts, cluster):
            if isinstance(pool, NotAdopted):
                left.append(NotAdopted(f"cluster {own}, {pool.what}", pool.why))
                continue
            at = _add(config, ("clusters", key), pool)
            places |= {f"{identity}/nodePools/{it}": at for it in pool.names}
    spec = _valid(config, left)
    if spec is None:
        return tuple(left)
    places = {identity: place for identity, place in places.items() if dig(config, ".".join(place)) is not None}
    return Adopted(spec, places, tuple(left))


def _cluster(cluster: Json, project: str) -> Described:
    network = {"network": _short(cluster, project, "network"), "subnetwork": _short(cluster, project, "subnetwork")}
    ranges = {"podsRange": "clusterSecondaryRangeName", "servicesRange": "servicesSecondaryRangeName"}
    policy = cluster.get("ipAllocationPolicy", {})
    network |= {field: policy[path] for field, path in ranges.items() if path in policy}
    ray = dig(cluster, "addonsConfig.rayOperatorConfig.enabled", default=False)
    result: Described = {
        "location": cluster["location"],
        "adopted": {"name": cluster["name"]},
        **fields("cluster", cluster),
        "network": {"existing": network},
        "addons": {"ray": {"mode": "gke-addon" if ray else "none"}},
    }
    allowed = dig(cluster, "masterAuthorizedNetworksConfig.cidrBlocks", ())
    if allowed:
        networks = [{"cidr": it["cidrBlock"], "name": it.get("displayName") or it["cidrBlock"]} for it in allowed]
        result["controlPlane"]["authorizedNetworks"] = networks
    else:
        del result["controlPlane"]["publicEndpoint"]  # a stack file cannot open it to everyone
    accounts = {dig(it, "config.serviceAccount", "default") for it in cluster.get("nodePools", ())}
    if len(accounts) == 1 and "@" in (account := accounts.pop()):
        result["nodeServiceAccount"] = account
    return result


def _short(cluster: Json, project: str, kind: str) -> str:
    """A network or subnetwork: its name in the cluster's own project, else its path."""
    path = str(dig(cluster, f"networkConfig.{kind}") or cluster[kind])
    return path.rpartition("/")[2] if path.startswith(f"projects/{project}/") else path


def _add(config: Described, at: Place, pool: AdoptedPool) -> Place:
    """Describe a pool in its cluster. Returns where."""
    cluster = config[at[0]][at[1]]
    pool.described.setdefault("adopted", {})["names"] = list(pool.names)
    if pool.reservation:
        _reserve(config.setdefault("reservations", {}), pool)
    if pool.kind == "systemPool":
        cluster["systemPool"] = pool.described
        return (*at, "systemPool")
    cluster.setdefault(pool.kind, {})[pool.key] = pool.described
    return (*at, pool.kind, pool.key)


def _reserve(reservations: Described, pool: AdoptedPool) -> None:
    """Declare the reservation of a pool with what its pools use of it."""
    held = {key: it for key, it in pool.reservation.items() if key != "name"}
    declared = reservations.setdefault(pool.reservation["name"], held)
    machine = pool.described["machineType"]
    if pool.kind == "pools":
        unit, each = "chips", catalogue().machine(machine)[1].chips
    else:
        unit, each = "gpus", int(pool.described["gpus"])
    nodes = max(pool.scale[0], pool.scale[2], 1) * len(pool.names)
    declared[unit] = declared.get(unit, 0) + nodes * each


def _valid(config: Described, left: list[NotAdopted]) -> PlatformSpec | None:
    """The description without what the rules reject, which is added to `left`; None if nothing remains."""
    while config["clusters"]:
        try:
            spec = parse_platform(config)
            plan(spec)
        except SpecError as error:
            found = {_culprit(config, it.path): it for it in error.mistakes}
            for at, mistake in sorted(found.items(), key=lambda it: -len(it[0])):
                dig(config, ".".join(at[:-1])).pop(at[-1])
                left.append(NotAdopted(dotted(at), mistake.message))
        else:
            return spec
    return None


_REQUIRED = {"generation", "topology", "zone", "zones", "accelerator", "gpus", "machineType", "slices", "nodes"}
_REQUIRED |= {"autoscaling", "capacity", "reservation", "adopted", "location", "network", "flexStart"}


def _culprit(config: Described, path: Path) -> Place:
    """What to leave out for a mistake: a field, or the pool or cluster that cannot be without it."""
    at = tuple(map(str, path))
    if at[0] == "reservations":
        pools = ((key, kind) for key, it in config["clusters"].items() for kind in ("pools", "gpuPools") if kind in it)
        users = (
            ("clusters", key, kind, name)
            for key, kind in pools
            for name, it in config["clusters"][key][kind].items()
            if dig(it, "reservation.name") == at[1]
        )
        return next(users, at[:2])
    whole = at[:4] if at[2:3] in (("pools",), ("gpuPools",)) else at[:3] if at[2:3] == ("systemPool",) else at[:2]
    field = at[len(whole) : len(whole) + 2]
    smaller = () if not field or field[0] in _REQUIRED else ((*whole, *field), (*whole, field[0]))
    first = ("clusters", next(iter(config["clusters"])))
    return next((it for it in (*smaller, whole, at[:2]) if dig(config, ".".join(it)) is not None), first)
