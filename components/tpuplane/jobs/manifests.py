"""The manifest of a job at one place: the fields of its kind, its volumes, and what the namespace needs. Pure."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from tpuplane.data_files import read_data
from tpuplane.jobs.places import Place
from tpuplane.jobs.pods import give_disks, head_container, pod_specs, pod_templates, pods_of, require, restrict
from tpuplane.labels import GKE_POOL_LABEL, POOL_LABEL, REQUIRED_TOPOLOGY, RESERVATION_LABEL, TPU, ZONE_LABEL
from tpuplane.plan.flavors import FLAVOR_LABEL
from tpuplane.plan.queue_model import ClaimPlan
from tpuplane.plan.storage import DiskPlan
from tpuplane.quantities import thousandths
from tpuplane.spec import Mistake, PlatformSpec, SpecError
from tpuplane.spec.core.errors import dotted
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.spec.pools.node_room import allocatable_gb
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.status.objects import PodSpec
from tpuplane.tpu import Slice
from tpuplane.workloads import MultisliceSpec, RayJobSpec, multislice_manifest, ray_job_manifest
from tpuplane.workloads.jobset import job_manifest
from tpuplane.workloads.leader_worker_set import leader_worker_set_manifest
from tpuplane.workloads.pods import SHARE, Manifest
from tpuplane.workloads.volumes import BUCKET_DRIVER, BUCKET_SIDECAR

Given = Mapping[str, Any]
"""The values of the options by their names; None: not set."""

_OPTIONS: dict[str, str] = read_data("tpuplane.jobs", "job")["options"]


def option_mistake(name: str, message: str) -> Mistake:
    """A mistake of an option."""
    return Mistake((f"--{name.replace('_', '-')}",), message)


def namespace_of(spec: PlatformSpec, given: Given) -> str:
    """The namespace of the job."""
    return str(given["namespace"] or namespaces_of(given["team"], spec.teams[given["team"]])[0])


def claims_at(spec: PlatformSpec, given: Given, place: Place) -> list[ClaimPlan]:
    """The claims in the namespace of the job, in the cluster that runs it; of file systems those in its zone."""
    teams, namespace = place.cluster.queues.teams if place.cluster.queues else (), namespace_of(spec, given)
    claims = (claim for team in teams for own in team.namespaces if own.name == namespace for claim in own.claims)
    pools = (pool for pool in place.cluster.pools if pool.pool in place.flavor.pools)
    zones = {"", *(zone for pool in pools for zone in pool.zones)}
    return [claim for claim in claims if claim.zone in zones]


def disk_types(place: Place) -> tuple[str, ...]:
    """The types of disks that the hosts support. Source: GKE's page "Attach durable block storage"."""
    return place.shape.generation.boot_disk_types or ("pd-balanced",)


def disks_at(place: Place) -> dict[str, DiskPlan]:
    """The storage classes in the cluster that runs the job, of disks that its hosts support."""
    return {disk.name: disk for disk in place.cluster.disks if disk.type in disk_types(place)}


def manifest_at(spec: PlatformSpec, given: Given, place: Place, alike: Collection[Place]) -> Manifest:
    """The manifest for one place. Raises `SpecError` if a value is not allowed.

    `alike` has a place of its cluster, and one of each other cluster to which a manager can send the job.
    """
    shape = {"generation": place.shape.generation.name, "topology": place.shape.topology}
    machine = place.shape.machine
    pods: Given = {
        **{name: given[name] for name in ("image", "capacity")},
        "env": {name: _literal(value) for name, value in given["env"].items()},
        **shape,
        "machineType": None if machine == Slice.of(**shape).machine else machine.name,
        "reservation": place.flavor.node_labels.get(RESERVATION_LABEL) if given["capacity"] == "reservation" else None,
    }
    work = {"namespace": namespace_of(spec, given), "queue": place.queue, "priorityClass": given["priority"]}
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
    name = _program(given["command"]) if given["name"] is None else given["name"]
    try:
        job = model.model_validate({field: value for field, value in limits.items() if value is not None})
        manifest: Manifest = make(name, job)
    except (ValidationError, SpecError) as error:
        found = mistakes_of(error, model) if isinstance(error, ValidationError) else error.mistakes
        # The groups of a RayJob, one for each slice, have the same mistakes.
        raise SpecError(dict.fromkeys(_in_options(mistake, given) for mistake in found)) from None
    if given["kind"] == "LeaderWorkerSet":
        manifest["spec"]["replicas"] = given["slices"]
    if given["kind"] == "RayJob":  # the program runs on the head
        head = head_container(manifest)
        if env := [{"name": name, "value": value} for name, value in pods["env"].items()]:
            head["env"] = [*env, *head.get("env", ())]
        if place.flavor.topology is not None and place.shape.multi_host:
            for group in manifest["spec"]["rayClusterSpec"]["workerGroupSpecs"]:
                annotations = group["template"].setdefault("metadata", {}).setdefault("annotations", {})
                annotations[REQUIRED_TOPOLOGY] = GKE_POOL_LABEL
    if spec.teams[given["team"]].pod_security == "restricted":
        restrict(manifest)
    mounted = [claim for claim in claims_at(spec, given, place) if claim.name in work["claims"].values()]
    if BUCKET_DRIVER not in {claim.driver for claim in mounted}:
        for template in pod_templates(manifest):
            template.get("metadata", {}).get("annotations", {}).pop(BUCKET_SIDECAR, None)
    options = {"serviceAccountName": given["service_account"], "terminationGracePeriodSeconds": given["grace_period"]}
    for pod in pod_specs(manifest):
        pod.update({field: value for field, value in options.items() if value is not None})
        give_disks(pod, disks_at(place))
    _select_hosts(manifest, given, place, alike, _zone(mounted))
    return manifest


def _zone(mounted: Iterable[ClaimPlan]) -> str:
    """The zone of the file systems; empty if any zone is good. Raises `SpecError` if there are two."""
    zones = {claim.zone: claim.name for claim in mounted if claim.zone}
    if len(zones) > 1:
        text = f"{' and '.join(zones.values())} are in different zones; mount only those of one zone"
        raise SpecError([option_mistake("mount", text)])
    return next(iter(zones), "")


def _select_hosts(manifest: Manifest, given: Given, place: Place, alike: Collection[Place], zone: str) -> None:
    """Let Kueue choose only hosts that can run the job, and leave room for their RAM disks. Raises `SpecError`."""
    pods = pods_of(manifest, place)[-1]
    hosts = [(each.cluster.key, host) for each in alike for host in each.suited(pods)]
    near = [(key, host) for key, host in hosts if zone in ("", host.labels[ZONE_LABEL])]
    selected = {ZONE_LABEL: zone} if len(near) < len(hosts) else {}
    several = given["slices"] > 1 and place.shape.multi_host and given["kind"] != "LeaderWorkerSet"
    if several and place.flavor.provisioning is not None:
        raise SpecError([_many_slices(given, place)])
    useful = {host.labels[FLAVOR_LABEL] for _, host in near}
    offered = {offer.name for each in alike for offer in each.choice(pods)}
    queues = (each.cluster.queues for each in alike if each.cluster.queues)
    flavors = [flavor for each in queues for flavor in each.flavors]
    # Kueue compares zones only with hosts that exist, and GKE serves the request of a job in one node pool.
    later = {flavor.name for flavor in flavors if flavor.provisioning is not None}
    absent = {flavor.name for flavor in flavors if flavor.topology is None} | later
    allowed = sorted(useful - later if several else useful) or [place.flavor.name]
    if narrowed := offered & absent - {*allowed}:
        near = [(key, host) for key, host in near if host.labels[FLAVOR_LABEL] in allowed]
    if narrowed and len(allowed) == 1:
        selected[FLAVOR_LABEL] = allowed[0]
    memory = _memory(place, alike, {(key, host.labels[POOL_LABEL]) for key, host in near})
    for pod in pod_specs(manifest):
        if TPU in PodSpec.model_validate(pod).requests:
            pod["nodeSelector"].update(selected)
            if narrowed and len(allowed) > 1:
                require(pod, FLAVOR_LABEL, allowed)
            for container in pod["containers"]:
                for amounts in container["resources"].values():
                    amounts.update(memory)


def _many_slices(given: Given, place: Place) -> Mistake:
    """The mistake of a job whose ProvisioningRequest GKE would never serve."""
    why = "GKE serves the request of a job in one node pool, which is one slice"
    remedy = "submit one job for each slice, or use flex-start without queueing"
    text = f"{given['slices']} slices of {place.flavor.name} are not supported: {why}; allowed: 1; {remedy}"
    return option_mistake("slices", text)


def _memory(place: Place, alike: Iterable[Place], pools: Collection[tuple[str, str]]) -> dict[str, str]:
    """The memory of a pod next to the largest RAM disk of these pools; empty: the default. Raises `SpecError`.

    `pools` are pairs of a cluster and a pool.
    """
    disks = [
        (thousandths(disk.size) / 1000 / 2**30, (each.cluster.key, disk.pool))
        for each in alike
        for disk in each.cluster.checkpointing
    ]
    size, (cluster, pool) = max((disk for disk in disks if disk[1] in pools), default=(0.0, ("", "")))
    if not pool:
        return {}
    whole = allocatable_gb(place.whole.machine.memory_gb)
    if (memory := int((whole - size) * SHARE)) < 1:
        path = f"clusters.{cluster}.multiTierCheckpointing.pools.{pool}.ramDiskGb"
        allowed = f"allowed: at most {int(whole - 1 / SHARE)} GB; lower {path}"
        text = f"the RAM disk of its hosts leaves a pod less than 1 GB of memory; {allowed}"
        raise SpecError([option_mistake("slice", text)])
    return {"memory": f"{memory}Gi"}


def _literal(text: str) -> str:
    """Kubernetes reads $$ as $. It replaces $(NAME) by a variable, which remains possible."""
    return text.replace("$$", "$$$$")


def _program(command: Iterable[str]) -> str:
    """The name of a job without a name: that of its script, else of its program."""
    first, *_ = sorted(command, key=lambda word: not word.endswith((".py", ".sh")))
    return re.sub("[^a-z0-9]+", "-", PurePath(first).stem.lower()).strip("-")


def _in_options(mistake: Mistake, given: Given) -> Mistake:
    """The mistake with the option of its field. The message about several fields begins with the first of them."""
    text = f"{dotted(mistake.path)}: {mistake.message}".removeprefix(": ")
    text = re.sub(r"^cluster(: |\.)(workers\.[\w-]+\.)?", "", text)
    path, _, message = text.partition(": ")
    if path == "name" and given["name"] is None:
        message += "; this name is from the command, and --name sets another"
    field = re.split(r"[.\[]", path)[0]
    return option_mistake(_OPTIONS.get(field, field), message)
