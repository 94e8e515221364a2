"""From the options of `tpuplane job` to a manifest for one cluster of the platform, or to mistakes. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator

from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.jobs.manifests import Given, claims_at, disk_types, disks_at, manifest_at, namespace_of, option_mistake
from tpuplane.jobs.places import Place, cut, places, with_parts
from tpuplane.jobs.pods import fit_apart, pods_of
from tpuplane.labels import CLASS_LABEL, TPU
from tpuplane.plan import ClusterPlan, PlatformPlan, plan
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.addons.checks import present, to_add
from tpuplane.spec.classes.of_cluster import namespace_classes
from tpuplane.spec.core.errors import choice
from tpuplane.spec.core.texts import text_problem
from tpuplane.spec.queues.kueue_checks import managed
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.status.case import Case
from tpuplane.status.remedies import remedies
from tpuplane.tpu import Slice, SliceError, catalogue
from tpuplane.workloads.pods import INT32, Manifest

_KINDS: dict[str, str] = read_data("tpuplane.jobs", "job")["kinds"]


def job_for(spec: PlatformSpec, given: Given) -> tuple[Manifest, ClusterPlan]:
    """The manifest of a job, and the cluster that accepts it. Raises `SpecError` with options as paths."""
    platform = plan(spec)
    if mistakes := list(_wrong(spec, platform, given)):
        raise SpecError(mistakes)
    fitting: dict[str, tuple[Manifest, ClusterPlan]] = {}
    blocked: dict[tuple[int, int], Mistake] = {}
    rejected: list[SpecError] = []
    possible = _possible(spec, platform, given)
    for place in possible:
        alike = {other.cluster.key: other for other in possible if other.alike(place)}
        try:
            manifest = manifest_at(spec, given, place, alike.values())
        except SpecError as error:
            rejected.append(error)
            continue
        case = Case(pods_of(manifest, place), place.hosts, place.offers)
        separate = given["kind"] in ("RayJob", "LeaderWorkerSet")
        apart, together = fit_apart(case, given["slices"]) if separate else (0, 0)
        if (obstacle := case.obstacle()) is None or apart == given["slices"]:
            fitting.setdefault(place.target.key, (manifest, place.target))
        elif apart > together:
            text = (
                f"{given['slices']} is too large; the flavors of the queue {place.queue} have room for {apart} slices"
            )
            more = "raise the team's quota, and if quotas cover all slices, add slices to a pool"
            found = option_mistake("slices", f"{text}; allowed: at most {apart}; for more, {more}")
            blocked.setdefault((obstacle.block.depth, apart * place.shape.chips * 1000), found)
        else:
            name = "slices" if TPU in case.pods[obstacle.number].requests else "kind"
            text = " ".join((f"{obstacle.block.message}.", *remedies(case)))
            blocked.setdefault(obstacle.block.rank, option_mistake(name, text))
    if not fitting:
        raise SpecError([blocked[max(blocked)]]) if blocked else rejected[0]
    if len(fitting) > 1:
        raise SpecError([option_mistake("cluster", f"is missing; these can run the job: {', '.join(fitting)}")])
    return next(iter(fitting.values()))


def _wrong(spec: PlatformSpec, platform: PlatformPlan, given: Given) -> Iterator[Mistake]:
    """Missing values, and names that do not exist."""
    shapes = list(_shapes(platform))
    of_team = {(pool, place.shape) for place in places(platform, given["team"]) for pool in place.flavor.pools}
    pools = {f"{shape} ({key})": None for key, shape in shapes if not of_team or (key, shape) in of_team}
    required = {
        "team": f"allowed: {', '.join(spec.teams) or 'none; add teams to the stack file'}",
        "slice": f"allowed: {', '.join(pools) or 'none; add pools to the stack file'}",
        "image": "name the container image of the program",
    }
    missing = (name for name in required if given[name] is None)
    yield from (option_mistake(name, f"is missing; {required[name]}") for name in missing)
    if not (given["command"] or [""])[0].strip():
        yield option_mistake(" COMMAND", "is missing; write it at the end, such as: -- python train.py")
    if given["slice"] is not None and _shape(platform, given["slice"]) not in {str(shape) for _, shape in shapes}:
        yield option_mistake("slice", f"{given['slice']!r} is not a slice of a pool; {required['slice']}")
    team = spec.teams.get(given["team"])
    names: dict[str, tuple[str, Collection[str]]] = {
        "team": ("a team", spec.teams),
        "kind": ("a kind of job", _KINDS),
        "priority": ("a priority", spec.queues.priorities),
        "namespace": ("a namespace of the team", namespaces_of(given["team"], team) if team else [given["namespace"]]),
    }
    if given["service_account"] is not None and (problem := text_problem("objectName", given["service_account"])):
        yield option_mistake("service_account", problem)
    if (given["grace_period"] or 0) > INT32:
        yield option_mistake("grace_period", f"{given['grace_period']} is too large; allowed: 0 to {INT32}")
    for path, times in Counter(path for _, path in given["mount"]).items():
        if times > 1:
            yield option_mistake("mount", f"{path} has {times} volumes; give each its own folder")
    yield from _wrong_for_kind(given)
    for name, (what, allowed) in names.items():
        if given[name] not in (None, *allowed):
            yield option_mistake(name, choice(given[name], what, allowed))


def _wrong_for_kind(given: Given) -> Iterator[Mistake]:
    """Values that jobs of this kind do not support."""
    for name in ("restarts", "restart_on_exit_codes", "timeout", "ttl"):
        if given[name] is None:
            continue
        if given["kind"] == "LeaderWorkerSet":
            text = "a LeaderWorkerSet runs until it is deleted, and restarts without limit; remove it"
            yield option_mistake(name, text)
        elif given["kind"] == "RayJob" and name == "restart_on_exit_codes":
            yield option_mistake(name, "KubeRay reads no exit code; remove it, or choose the kind JobSet or Job")
    if given["kind"] != "RayJob":
        return
    for name in given["env"]:
        # $$ stands for $, so an even number of them replaces nothing.
        if any(re.search(rf"(?<!\$)(\$\$)*\$\({re.escape(name)}\)", word) for word in given["command"] or ()):
            text = f"$({name}) is not replaced in the command of a RayJob; read the variable in the program"
            yield option_mistake(" COMMAND", text)
    pod_sets = addon_catalogue().kueue["podSets"]
    most = pod_sets["most"] - len(pod_sets["reserved"]["RayJob"])
    if given["slices"] > most:
        yield option_mistake("slices", f"{given['slices']} is too large; allowed: at most {most} for a RayJob")


def _shapes(platform: PlatformPlan) -> Iterator[tuple[str, Slice]]:
    """The slices of all pools, and the parts of them that jobs can have, with the names of the pools."""
    for cluster in platform.clusters:
        flavors = cluster.queues.flavors if cluster.queues else ()
        for pool in cluster.tpu_pools:
            if pool.slice:
                joined = next((own.pools for own in flavors if pool.pool in own.pools), (pool.pool,))
                parts = pool.sub_slices or cut(cluster, pool.slice, joined)
                yield from ((pool.pool, shape) for shape in with_parts(pool.slice, parts))


def _shape(platform: PlatformPlan, text: str) -> str:
    """The slice with this generation and topology, or with this name of Cloud TPU, such as v6e-16."""
    if text.lower() in {*gpu_catalogue().names, *gpu_catalogue().accelerator_names}:
        remedy = "use gpuWorkers of a Ray component, or a manifest of your own (docs/workloads.md)"
        text = f"{text!r} has GPUs, and this command prints only jobs on TPUs; {remedy}"
        raise SpecError([option_mistake("slice", text)])
    text = text.lower().replace(" ", "-")
    if named := [shape for _, shape in _shapes(platform) if text in _names(shape)]:
        return str(min(named, key=lambda shape: sum(map(int, shape.topology.split("x")))))  # most cubic
    generation, _, topology = text.rpartition("-")
    shaped = generation and re.fullmatch("[0-9]+(x[0-9]+)+", topology)
    if not shaped and (not topology or topology.isdecimal() or catalogue().known(generation) is None):
        return text
    try:
        return str(Slice.of(generation, topology))
    except SliceError as error:
        raise SpecError([option_mistake("slice", str(error))]) from None


def _names(shape: Slice) -> tuple[str, str]:
    """The name of Cloud TPU, such as v5litepod-16, and the same with the name of the generation, such as v5e-16."""
    _, _, number = shape.accelerator_type.rpartition("-")
    return shape.accelerator_type, f"{shape.generation.name}-{number}"


def _possible(spec: PlatformSpec, platform: PlatformPlan, given: Given) -> list[Place]:
    """The places with such slices, in clusters that have what the job needs. Raises `SpecError` if there are none."""
    team, shape, kind = given["team"], _shape(platform, given["slice"]), given["kind"]
    addon = addon_catalogue().bringing(_KINDS[kind])
    found = list(places(platform, team))
    own = [spec.clusters[place.target.key] for place in found if str(place.shape) == shape]
    existing = any(each.existing for each in own)
    add = f"; or {to_add(addon.key, existing=existing)} in the cluster" if addon else "; a Job runs on one host"
    if any(_KINDS[kind] not in managed(each) and (not addon or addon.key in present(each)) for each in own):
        add = f"; or add {_KINDS[kind]} to addons.kueue.integrations"
    waiting = any(
        pool.dynamic_slicing and not each.slice_controller for each in platform.clusters for pool in each.pools
    )
    cubes = "; cubes need sliceController: true" if waiting else ""
    if kind != "JobSet" and all(_part(place) for place in found if str(place.shape) == shape):
        add = "; for parts of slices and slices of cubes, tpuplane prints only JobSets; write another manifest yourself"

    def kinds(place: Place) -> list[str]:
        able = managed(spec.clusters[place.target.key])
        # Ray's webhook gives the hosts of a pool their numbers in the whole slice.
        possible = ["JobSet"] if _part(place) else _KINDS
        return [own for own in possible if _KINDS[own] in able and not (own == "Job" and place.shape.multi_host)]

    def volumes(place: Place) -> list[str]:
        return [*(claim.name for claim in claims_at(spec, given, place)), *disks_at(place)]

    def mountable(place: Place) -> list[str]:
        alike = [volumes(other) for other in found if other.cluster != place.cluster and other.alike(place)]
        return [name for name in volumes(place) if all(name in names for names in alike)]

    def runnable(place: Place) -> list[str]:
        # Kueue adds the class of the pools to the pods, and GKE adds its default only to pods without a class.
        # The head of a RayJob, on the system pool, gets no class of Kueue.
        chosen = CLASS_LABEL in place.flavor.node_labels and kind != "RayJob"
        known = () if chosen else namespace_classes(spec, place.cluster.key)
        return [name for name in namespaces_of(team, spec.teams[team]) if name not in known]

    namespace = namespace_of(spec, given)
    hosts = "the system pool, as the head of a RayJob" if kind == "RayJob" else f"the hosts of {shape}"
    classes = dict.fromkeys(namespace_classes(spec, place.cluster.key).get(namespace) for place in found)
    default = f"; its pods run only on nodes of its default class, {' or '.join(filter(None, classes))}"
    needs: list[tuple[str, str, str, Callable[[Place], list[str]], str]] = [
        ("slice", shape, f"a slice for which {team} has quota", lambda place: [str(place.shape)], cubes),
        ("cluster", given["cluster"], f"a cluster with {shape} for {team}", lambda place: [place.target.key], ""),
        ("capacity", given["capacity"], f"a capacity of {shape} for {team}", lambda place: [place.flavor.capacity], ""),
        ("namespace", namespace, f"a namespace whose pods can run on {hosts}", runnable, default),
        ("kind", kind, f"a kind of job for {shape} in {given['cluster'] or 'a cluster'}", kinds, add),
    ]
    for name, _ in given["mount"]:
        add = "; or add the team to its readers or writers, and the driver to storage of the cluster"
        sent = [place for place in found if place.target != place.cluster and str(place.shape) == shape]
        if lacking := dict.fromkeys(f"clusters.{place.cluster.key}" for place in sent if name not in volumes(place)):
            add = f"; {' and '.join(lacking)}, to which the manager can send the job, has no {name}"
        if name in spec.storage.disks:
            types = next((disk_types(place) for place in found if str(place.shape) == shape), ())
            if spec.storage.disks[name].type not in types:
                add = f"; hosts of {shape} support disks of the type {' or '.join(types)}"
            elif not lacking:
                add = "; or set storage.persistentDisk: true in the cluster"
        needs.append(("mount", name, f"a bucket, file system or disk that {team} can mount here", mountable, add))
    for name, value, what, of_place, more in needs:
        offered = dict.fromkeys(text for place in found for text in of_place(place))
        if not (found := [place for place in found if value is None or value in of_place(place)]):
            remedy = more if offered else more.replace("; or ", "; ", 1)
            raise SpecError([option_mistake(name, choice(value, what, offered) + remedy)])
    return found


def _part(place: Place) -> bool:
    """Whether the job is on a part of a slice, or on a slice that GKE makes of cubes."""
    return place.shape != place.whole or place.dynamic
