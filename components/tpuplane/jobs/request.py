"""From the options of `tpuplane job` to a manifest for one cluster of the platform, or to mistakes. Pure."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.jobs.places import Place, cut, places, with_parts
from tpuplane.jobs.pods import give_disks, head_container, pod_specs, pod_templates, pods_of, restrict
from tpuplane.labels import CLASS_LABEL, RESERVATION_LABEL, TPU
from tpuplane.plan import ClusterPlan, PlatformPlan, plan
from tpuplane.plan.disks import DiskPlan
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.addons.checks import present
from tpuplane.spec.classes.of_cluster import namespace_classes
from tpuplane.spec.core.errors import choice, dotted
from tpuplane.spec.core.fields import text_problem
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.spec.queues.kueue_checks import managed
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.status.case import Case
from tpuplane.status.remedies import remedies
from tpuplane.tpu import Slice, SliceError
from tpuplane.workloads import MultisliceSpec, RayJobSpec, multislice_manifest, ray_job_manifest
from tpuplane.workloads.jobset import job_manifest
from tpuplane.workloads.leader_worker_set import leader_worker_set_manifest
from tpuplane.workloads.pods import Manifest
from tpuplane.workloads.volumes import BUCKET_DRIVER, BUCKET_SIDECAR

Given = Mapping[str, Any]
"""The values of the options by their names; None: not set."""

_KINDS: dict[str, str] = read_data("tpuplane.jobs", "job")["kinds"]
_OPTIONS: dict[str, str] = read_data("tpuplane.jobs", "job")["options"]


def job_for(spec: PlatformSpec, given: Given) -> tuple[Manifest, ClusterPlan]:
    """The manifest of a job, and the cluster that accepts it. Raises `SpecError` with options as paths."""
    platform = plan(spec)
    if mistakes := list(_wrong(spec, platform, given)):
        raise SpecError(mistakes)
    fitting: dict[str, tuple[Manifest, ClusterPlan]] = {}
    blocked: dict[tuple[int, int], Mistake] = {}
    for place in _possible(spec, platform, given):
        manifest = _manifest(spec, given, place)
        case = Case(pods_of(manifest, place), place.hosts, place.offers)
        if (obstacle := case.obstacle()) is None:
            fitting.setdefault(place.target.key, (manifest, place.target))
        else:
            name = "slices" if TPU in case.pods[obstacle.number].requests else "kind"
            text = " ".join((f"{obstacle.block.message}.", *remedies(case)))
            blocked.setdefault(obstacle.block.rank, _mistake(name, text))
    if not fitting:
        raise SpecError([blocked[max(blocked)]])
    if len(fitting) > 1:
        raise SpecError([_mistake("cluster", f"is missing; these can run the job: {', '.join(fitting)}")])
    return next(iter(fitting.values()))


def _mistake(name: str, message: str) -> Mistake:
    return Mistake((f"--{name.replace('_', '-')}",), message)


def _wrong(spec: PlatformSpec, platform: PlatformPlan, given: Given) -> Iterator[Mistake]:
    """Missing values, and names that do not exist."""
    shapes = list(_shapes(platform))
    pools = {f"{shape} ({key})": None for key, shape in shapes}
    required = {
        "team": f"allowed: {', '.join(spec.teams) or 'none; add teams to the stack file'}",
        "slice": f"allowed: {', '.join(pools) or 'none; add pools to the stack file'}",
        "image": "name the container image of the program",
    }
    yield from (_mistake(name, f"is missing; {remedy}") for name, remedy in required.items() if given[name] is None)
    if not given["command"]:
        yield _mistake(" COMMAND", "is missing; write it at the end, such as: -- python train.py")
    if given["slice"] is not None and _shape(platform, given["slice"]) not in {str(shape) for _, shape in shapes}:
        yield _mistake("slice", f"{given['slice']!r} is not a slice of a pool; {required['slice']}")
    team = spec.teams.get(given["team"])
    names: dict[str, tuple[str, Collection[str]]] = {
        "team": ("a team", spec.teams),
        "kind": ("a kind of job", _KINDS),
        "priority": ("a priority", spec.queues.priorities),
        "namespace": ("a namespace of the team", namespaces_of(given["team"], team) if team else [given["namespace"]]),
    }
    for name in ("restarts", "restart_on_exit_codes", "timeout", "ttl"):
        if given[name] is None:
            continue
        if given["kind"] == "LeaderWorkerSet":
            yield _mistake(name, "a LeaderWorkerSet runs until it is deleted, and restarts without limit; remove it")
        elif given["kind"] == "RayJob" and name == "restart_on_exit_codes":
            yield _mistake(name, "KubeRay reads no exit code; remove it, or choose the kind JobSet or Job")
    pod_sets = addon_catalogue().kueue["podSets"]
    most = pod_sets["most"] - len(pod_sets["reserved"]["RayJob"])
    if given["kind"] == "RayJob" and given["slices"] > most:
        yield _mistake("slices", f"{given['slices']} is too large; allowed: at most {most} for a RayJob")
    if given["service_account"] is not None and (problem := text_problem("objectName", given["service_account"])):
        yield _mistake("service_account", problem)
    for path, times in Counter(path for _, path in given["mount"]).items():
        if times > 1:
            yield _mistake("mount", f"{path} has {times} volumes; give each its own folder")
    for name, (what, allowed) in names.items():
        if given[name] not in (None, *allowed):
            yield _mistake(name, choice(given[name], what, allowed))


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
    if text in {*gpu_catalogue().names, *gpu_catalogue().accelerator_names}:
        remedy = "use gpuWorkers of a Ray component, or a manifest of your own (docs/workloads.md)"
        raise SpecError([_mistake("slice", f"{text!r} has GPUs, and this command prints only jobs on TPUs; {remedy}")])
    if named := [shape for _, shape in _shapes(platform) if shape.accelerator_type == text]:
        return str(min(named, key=lambda shape: sum(map(int, shape.topology.split("x")))))  # most cubic
    generation, _, topology = (text if re.search("[- ]", text) else f"{text}-").replace(" ", "-").rpartition("-")
    try:
        return str(Slice.of(generation, topology))
    except SliceError as error:
        raise SpecError([_mistake("slice", str(error))]) from None


def _possible(spec: PlatformSpec, platform: PlatformPlan, given: Given) -> list[Place]:
    """The places with such slices, in clusters that have what the job needs. Raises `SpecError` if there are none."""
    team, shape, kind = given["team"], _shape(platform, given["slice"]), given["kind"]
    addon = addon_catalogue().bringing(_KINDS[kind])
    found = list(places(platform, team))
    own = [spec.clusters[place.target.key] for place in found if str(place.shape) == shape]
    add = f"; or add {addon.key} to the addons of the cluster" if addon else "; a Job runs on one host"
    if any(_KINDS[kind] not in managed(each) and (not addon or addon.key in present(each)) for each in own):
        add = f"; or add {_KINDS[kind]} to addons.kueue.integrations"
    waiting = any(
        pool.dynamic_slicing and not each.slice_controller for each in platform.clusters for pool in each.pools
    )
    cubes = "; cubes need sliceController: true" if waiting else ""
    if all(_part(place) for place in found if str(place.shape) == shape):
        add = "; for parts of slices and slices of cubes, tpuplane prints only JobSets; write another manifest yourself"

    def kinds(place: Place) -> list[str]:
        able = managed(spec.clusters[place.target.key])
        # Ray's webhook gives the hosts of a pool their numbers in the whole slice.
        possible = ["JobSet"] if _part(place) else _KINDS
        return [own for own in possible if _KINDS[own] in able and not (own == "Job" and place.shape.multi_host)]

    def volumes(place: Place) -> list[str]:
        return [*(claim.name for claim in _claims(spec, given, place)), *_disks(place)]

    def mountable(place: Place) -> list[str]:
        # A manager can send the job to each cluster with such a queue.
        queue = place.target, place.queue, place.shape
        elsewhere = [other for other in found if other.cluster != place.cluster]
        alike = [volumes(other) for other in elsewhere if (other.target, other.queue, other.shape) == queue]
        return [name for name in volumes(place) if all(name in names for names in alike)]

    def runnable(place: Place) -> list[str]:
        # Kueue adds the class of the pools to the pods, and GKE adds its default only to pods without a class.
        known = () if CLASS_LABEL in place.flavor.node_labels else namespace_classes(spec, place.cluster.key)
        return [name for name in namespaces_of(team, spec.teams[team]) if name not in known]

    namespace = _namespace(spec, given)
    classes = dict.fromkeys(namespace_classes(spec, place.cluster.key).get(namespace) for place in found)
    default = f"; its pods run only on nodes of its default class, {' or '.join(filter(None, classes))}"
    needs: list[tuple[str, str, str, Callable[[Place], list[str]], str]] = [
        ("slice", shape, f"a slice for which {team} has quota", lambda place: [str(place.shape)], cubes),
        ("cluster", given["cluster"], f"a cluster with {shape} for {team}", lambda place: [place.target.key], ""),
        ("capacity", given["capacity"], f"a capacity of {shape} for {team}", lambda place: [place.flavor.capacity], ""),
        ("namespace", namespace, f"a namespace whose pods can run on the hosts of {shape}", runnable, default),
        ("kind", kind, f"a kind of job for {shape} in {given['cluster'] or 'a cluster'}", kinds, add),
    ]
    for name, _ in given["mount"]:
        add = "; or add the team to its readers or writers, and the driver to storage of the cluster"
        sent = [place for place in found if place.target != place.cluster and str(place.shape) == shape]
        if lacking := dict.fromkeys(f"clusters.{place.cluster.key}" for place in sent if name not in volumes(place)):
            add = f"; {' and '.join(lacking)}, to which the manager can send the job, has no {name}"
        if name in spec.storage.disks:
            types = " or ".join(next((_disk_types(place) for place in found if str(place.shape) == shape), ()))
            add = f"; hosts of {shape} support disks of the type {types}"
        needs.append(("mount", name, f"a bucket, file system or disk that {team} can mount here", mountable, add))
    for name, value, what, of_place, more in needs:
        offered = dict.fromkeys(text for place in found for text in of_place(place))
        if not (found := [place for place in found if value is None or value in of_place(place)]):
            raise SpecError([_mistake(name, choice(value, what, offered) + more)])
    return found


def _part(place: Place) -> bool:
    """Whether the job is on a part of a slice, or on a slice that GKE makes of cubes."""
    return place.shape != place.whole or place.dynamic


def _namespace(spec: PlatformSpec, given: Given) -> str:
    return str(given["namespace"] or namespaces_of(given["team"], spec.teams[given["team"]])[0])


def _claims(spec: PlatformSpec, given: Given, place: Place) -> list[ClaimPlan]:
    """The claims in the namespace of the job, in the cluster that runs it; of file systems those in its zone."""
    teams, namespace = place.cluster.queues.teams if place.cluster.queues else (), _namespace(spec, given)
    claims = (claim for team in teams for own in team.namespaces if own.name == namespace for claim in own.claims)
    pools = (pool for pool in place.cluster.pools if pool.pool in place.flavor.pools)
    zones = {"", *(zone for pool in pools for zone in pool.zones)}
    return [claim for claim in claims if claim.zone in zones]


def _disk_types(place: Place) -> tuple[str, ...]:
    """The types of disks that the hosts support. Source: GKE's page "Attach durable block storage"."""
    return place.shape.generation.boot_disk_types or ("pd-balanced",)


def _disks(place: Place) -> dict[str, DiskPlan]:
    """The storage classes in the cluster that runs the job, of disks that its hosts support."""
    return {disk.name: disk for disk in place.cluster.disks if disk.type in _disk_types(place)}


def _manifest(spec: PlatformSpec, given: Given, place: Place) -> Manifest:
    """The manifest for one place. Raises `SpecError` if a value is not allowed."""
    shape = {"generation": place.shape.generation.name, "topology": place.shape.topology}
    machine = place.shape.machine
    pods: Given = {
        **{name: given[name] for name in ("image", "capacity")},
        "env": {name: _literal(value) for name, value in given["env"].items()},
        **shape,
        "machineType": None if machine == Slice.of(**shape).machine else machine.name,
        "reservation": place.flavor.node_labels.get(RESERVATION_LABEL) if given["capacity"] == "reservation" else None,
    }
    work = {"namespace": _namespace(spec, given), "queue": place.queue, "priorityClass": given["priority"]}
    work["claims"] = {path: name for name, path in given["mount"]}
    command = [_literal(word) for word in given["command"]]
    limits = {"keepSeconds": given["ttl"], "deadlineSeconds": given["timeout"]}
    model: Any = MultisliceSpec
    if given["kind"] == "RayJob":
        # A group for each slice, because Kueue does not know the replicas of a group.
        model, groups = RayJobSpec, {f"slice-{index}": pods for index in range(given["slices"])}
        limits |= {"entrypoint": shlex.join(command), "retries": given["restarts"]}
        limits["cluster"] = {**work, "workers": groups}
    else:
        placement = "exclusive" if place.flavor.topology is None else "dynamic" if place.dynamic else "topology"
        # The groups of a LeaderWorkerSet are servers of their own, which nothing joins.
        slices = 1 if given["kind"] == "LeaderWorkerSet" else given["slices"]
        limits |= {"slices": slices, "command": command, "maxRestarts": given["restarts"]}
        limits["restartOnExitCodes"] = given["restart_on_exit_codes"]
        whole = place.whole.topology if place.whole != place.shape and not place.dynamic else None
        limits |= {**pods, **work, "placement": placement, "subSliceOf": whole}
    make = {"JobSet": multislice_manifest, "Job": job_manifest, "LeaderWorkerSet": leader_worker_set_manifest}.get(
        given["kind"], ray_job_manifest
    )
    try:
        job = model.model_validate({field: value for field, value in limits.items() if value is not None})
        manifest: Manifest = make(_program(given["command"]) if given["name"] is None else given["name"], job)
    except (ValidationError, SpecError) as error:
        found = mistakes_of(error, model) if isinstance(error, ValidationError) else error.mistakes
        raise SpecError(map(_in_options, found)) from None
    if given["kind"] == "LeaderWorkerSet":
        manifest["spec"]["replicas"] = given["slices"]
    if given["kind"] == "RayJob":  # the program runs on the head
        head = head_container(manifest)
        if env := [{"name": name, "value": value} for name, value in pods["env"].items()]:
            head["env"] = [*env, *head.get("env", ())]
    if spec.teams[given["team"]].pod_security == "restricted":
        restrict(manifest)
    mounted = work["claims"].values()
    if BUCKET_DRIVER not in {claim.driver for claim in _claims(spec, given, place) if claim.name in mounted}:
        for template in pod_templates(manifest):
            template.get("metadata", {}).get("annotations", {}).pop(BUCKET_SIDECAR, None)
    options = {"serviceAccountName": given["service_account"], "terminationGracePeriodSeconds": given["grace_period"]}
    for pod in pod_specs(manifest):
        pod.update({field: value for field, value in options.items() if value is not None})
        give_disks(pod, _disks(place))
    return manifest


def _literal(text: str) -> str:
    """Kubernetes reads $$ as $. It replaces $(NAME) by a variable, which remains possible."""
    return text.replace("$$", "$$$$")


def _program(command: Iterable[str]) -> str:
    """The name of a job without a name: that of its script, else of its program."""
    first, *_ = sorted(command, key=lambda word: not word.endswith((".py", ".sh")))
    return re.sub("[^a-z0-9]+", "-", PurePath(first).stem.lower()).strip("-")


def _in_options(mistake: Mistake) -> Mistake:
    """The mistake with the option of its field. The message about several fields begins with the first of them."""
    text = f"{dotted(mistake.path)}: {mistake.message}".removeprefix(": ")
    text = text.removeprefix("cluster: ").removeprefix("cluster.")
    path, _, message = text.partition(": ")
    field = re.split(r"[.\[]", path)[0]
    return _mistake(_OPTIONS.get(field, field), message)
