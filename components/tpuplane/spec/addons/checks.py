"""The checks of a cluster's add-ons, with each other and with the cluster."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic.alias_generators import to_snake

from tpuplane.cpu import CpuError, CpuMachine, cpu_catalogue
from tpuplane.quantities import thousandths
from tpuplane.spec.addons.addons import (
    AddonsSpec,
    CertManagerSpec,
    ControllerSpec,
    KueueSliceControllerSpec,
    KueueSpec,
    LaunchAgentSpec,
    RaySpec,
)
from tpuplane.spec.addons.catalogue import Addon, addon_catalogue
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken, spec_data
from tpuplane.spec.pools.node_room import allocatable_gb, allocatable_millicores
from tpuplane.tpu import GkeVersion, catalogue

Settings = CertManagerSpec | ControllerSpec | KueueSliceControllerSpec | LaunchAgentSpec | RaySpec


def installed(cluster: ClusterSpec) -> tuple[Addon, ...]:
    """The add-ons that the platform installs itself, each after those that it waits for."""
    # Their order in the data file respects every `after`; a test checks this.
    shipped = tuple(addon for key, addon in addon_catalogue().addons.items() if _is_wanted(cluster.addons, key))
    custom = cluster.addons.custom.items()
    own = tuple(Addon.model_construct(key=key, **dict(addon.definition)) for key, addon in custom)
    return _in_order((*shipped, *own)) if own else shipped


def _is_wanted(addons: AddonsSpec, key: str) -> bool:
    """Whether the platform installs an add-on that it ships. Two are settings of `ray`."""
    if key in ("ray", "rayTpuWebhook"):
        return addons.ray.mode == "operator" and (key == "ray" or addons.ray.tpu_webhook)
    return getattr(addons, to_snake(key)) is not None


def _in_order(addons: Sequence[Addon]) -> tuple[Addon, ...]:
    """The add-ons, each after those that it waits for; any order where they wait for each other."""
    waiting, placed = {addon.key: addon for addon in addons}, list[Addon]()
    while waiting:
        ready = (key for key, addon in waiting.items() if waiting.keys().isdisjoint(awaited(addon, addons)))
        placed.append(waiting.pop(next(ready, next(iter(waiting)))))
    return tuple(placed)


def awaited(addon: Addon, addons: Sequence[Addon]) -> tuple[str, ...]:
    """Those of a cluster's add-ons that must be ready before this one. Kueue reads at its start which kinds exist."""
    keys = {*addon.after, *addon.needs}
    if addon.key == "kueue":
        keys |= {other.key for other in addons if other.frameworks}
    return tuple(other.key for other in addons if other.key in keys)


def same_objects(one: Addon, other: Addon) -> str:
    """The namespace of two add-ons, or their chart: with kinds, it has roles and webhooks of the same names in every
    namespace. Empty if they have neither in common."""
    if one.namespace == other.namespace:
        return f"the namespace {one.namespace}"
    kinds = any(addon.probe is not None or addon.frameworks for addon in (one, other))
    return f"the chart {one.chart.name}" if kinds and one.chart.name == other.chart.name else ""


def settings_of(addons: AddonsSpec, key: str) -> Settings | None:
    """The user's settings of an add-on; None for the TPU webhook, which is part of ray."""
    return addons.custom.get(key) or getattr(addons, to_snake(key), None)


def brought_namespaces(cluster: ClusterSpec) -> dict[str, str]:
    """The namespaces of the add-ons, each with the title of its add-on."""
    found = {addon.namespace: addon.title for addon in installed(cluster)}
    if cluster.addons.monitoring is not None and cluster.addons.monitoring.frontend is not None:
        found[spec_data("observability")["frontend"]["namespace"]] = "monitoring's frontend"
    return found


def frameworks(cluster: ClusterSpec) -> tuple[str, ...]:
    """The kinds that Kueue manages if the user names none: Kubernetes' own, and those of the add-ons."""
    known, own, there = addon_catalogue(), cluster.addons.custom.values(), present(cluster)
    of_addons = (name for key, addon in known.addons.items() if key in there for name in addon.frameworks)
    of_own = (name for addon in own for name in addon.definition.frameworks)
    return tuple(dict.fromkeys((*known.kueue["frameworks"], *of_addons, *of_own)))


def present(cluster: ClusterSpec) -> set[str]:
    """The add-ons of a cluster, including those of GKE."""
    return {addon.key for addon in installed(cluster)} | ({"ray"} if cluster.addons.ray.mode != "none" else set())


def to_add(key: str, *, existing: bool = False) -> str:
    """What a user does so that a cluster has an add-on. GKE's own is not added to an existing cluster."""
    modes = "operator" if existing else "gke-addon or operator"
    return f"set addons.ray.mode to {modes}" if key == "ray" else f"add {key} to addons"


def kueue_gates(kueue: KueueSpec) -> dict[str, bool]:
    """The gates that differ from those of the release: the user's, and those whose base is off."""
    known = addon_catalogue()
    gates = dict(kueue.feature_gates)
    for base, needing in known.kueue["gateBases"].items():
        on = {**known.feature_gates["kueue"], **gates}
        gates |= {gate: False for gate in needing if on[gate] and not on[base]}
    return gates


def check_addons(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Every mistake in a cluster's add-ons."""
    at = (*at, "addons")
    yield from _check_ray((*at, "ray"), cluster)
    yield from _check_versions(at, cluster)
    if (kueue := cluster.addons.kueue) is not None:
        yield from _check_integrations((*at, "kueue", "integrations"), cluster, kueue)
        yield from _check_gates((*at, "kueue", "featureGates"), kueue)
        # An existing cluster may have cert-manager already.
        installs = cluster.addons.cert_manager is not None or cluster.existing is not None
        if kueue.certificates == "cert-manager" and not installs:
            yield broken("kueue-certificates", (*at, "kueue", "certificates"), value=shown(kueue.certificates))
    if cluster.addons.monitoring is not None and not cluster.monitoring.managed_prometheus:
        path = (*at[:-1], "monitoring", "managedPrometheus")
        yield broken("monitoring-prometheus", path, value="false")
    yield from _check_slice_controller((*at, "kueueSliceController"), cluster)
    for addon in installed(cluster):
        yield from _check_resources(at, cluster, addon)
    yield from _check_system_nodes((*at[:-1], "systemPool", "machineType"), cluster)
    for namespace, title in brought_namespaces(cluster).items():
        if namespace in cluster.namespaces:
            path = (*at[:-1], "namespaces", cluster.namespaces.index(namespace))
            yield broken("addon-namespace", path, value=shown(namespace), addon=title, remove="remove it, or ")


def _check_slice_controller(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """What Kueue's slice controller needs. An existing cluster may have it already."""
    if cluster.addons.kueue_slice_controller is None or cluster.existing is not None:
        return
    needs = {
        "addons.kueue": cluster.addons.kueue,
        "addons.jobset": cluster.addons.jobset,
        "sliceController: true": cluster.slice_controller,
    }
    if missing := [name for name, found in needs.items() if not found]:
        yield broken("kueue-slice-controller", at, missing=" and ".join(missing))


def _check_system_nodes(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """The pods of the shipped add-ons tolerate no taint of the system pool. Those of other add-ons may."""
    machine = cluster.system_pool.machine_type or ""
    family = cpu_catalogue().families.get(machine.partition("-")[0])
    titles = [addon.title for addon in installed(cluster) if addon.key not in cluster.addons.custom]
    if cluster.existing is None and family is not None and family.arm and titles:
        yield broken("system-arm", at, value=shown(machine), addons=" and ".join(titles))


def _check_resources(at: Path, cluster: ClusterSpec, addon: Addon) -> Iterator[Mistake]:
    """An omitted value is the add-on's default, so a request alone may exceed a limit that the user did not write."""
    if (spec := settings_of(cluster.addons, addon.key)) is None:
        return
    own = addon.key in cluster.addons.custom  # its pods may run elsewhere
    at, machine = (*at, "custom") if own else at, None if own else _system_machine(cluster)
    requests: dict[str, str] = {}
    for field in ("cpu", "memory"):
        written, capped = getattr(spec.resources.requests, field), getattr(spec.resources.limits, field)
        request, limit = written or getattr(addon.requests, field), capped or getattr(addon.limits, field)
        if request and limit and thousandths(request) > thousandths(limit):
            wrong = ("resources", "requests") if written or capped else ("definition", "requests")
            line = f"{shown(request)} is more than its limit, {limit}; raise the limit, or lower the request"
            if capped and not written:
                wrong = ("resources", "limits")
                line = f"{shown(limit)} is less than its request, {request}; lower the request, or raise the limit"
            yield Mistake((*at, addon.key, *wrong, field), line)
        if request:
            requests[field] = request
    if machine is not None and (lacking := _lacking(machine, requests)):
        alike = cpu_catalogue().family_of(machine.name).machines.values()
        larger = (each for each in alike if each.vcpus >= machine.vcpus and each.memory_gb >= machine.memory_gb)
        fitting = [each for each in larger if not _lacking(each, requests)]
        smallest = min(fitting, key=lambda each: (each.vcpus, each.memory_gb), default=None)
        path = (*at, addon.key, "resources", "requests", *(lacking if len(lacking) == 1 else ()))
        values = {
            "value": " and ".join(f"{field} {requests[field]}" for field in lacking),
            "has": " and ".join(f"{field} {has}" for field, has in lacking.items()),
            "machine": machine.name,
            "larger": f"a larger machine, such as {smallest.name}" if smallest else "a machine of another family",
        }
        yield broken("addon-system-node", path, **values)


def _lacking(machine: CpuMachine, requests: Mapping[str, str]) -> dict[str, str]:
    """What a node has for all pods, by the resources of which it has less than one replica requests."""
    millicores = allocatable_millicores(machine.vcpus, machine.family, shared=machine.shared)
    room = {"cpu": f"{millicores}m", "memory": f"{int(allocatable_gb(machine.memory_gb) * 1024)}Mi"}
    return {field: room[field] for field, wanted in requests.items() if thousandths(wanted) > thousandths(room[field])}


def _system_machine(cluster: ClusterSpec) -> CpuMachine | None:
    """The machine of the system pool; None for one that another check rejects, and in an existing cluster."""
    catalogue = cpu_catalogue()
    try:
        name = cluster.system_pool.machine_type or catalogue.system_machine(region_of(cluster.location))
        return None if cluster.existing else catalogue.machine(name)
    except CpuError:
        return None


def _check_ray(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    ray = cluster.addons.ray
    if ray.mode == "operator":
        # An existing cluster may have cert-manager already.
        if ray.tpu_webhook and cluster.addons.cert_manager is None and cluster.existing is None:
            yield broken("ray-webhook-certificates", at)
        return
    for name, field in RaySpec.model_fields.items():
        if name != "mode" and name in ray.model_fields_set:
            yield broken("ray-operator-only", (*at, field.alias or name), mode=ray.mode)


def _check_gates(at: Path, kueue: KueueSpec) -> Iterator[Mistake]:
    """Kueue does not start with another value of a locked gate, or with a gate whose base is off."""
    known = addon_catalogue().kueue
    for gate, on in kueue.feature_gates.items():
        if on != known["lockedGates"].get(gate, on):
            release = addon_catalogue().addons["kueue"].chart.version
            yield broken("kueue-gate-locked", (*at, gate), value=str(on).lower(), release=release)
        elif on and not kueue_gates(kueue)[gate]:
            base = next(base for base, needing in known["gateBases"].items() if gate in needing)
            yield broken("kueue-gate-base", (*at, gate), base=base)


def _check_versions(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    if cluster.version is None or not cluster.is_offered:
        return
    version, path = shown(cluster.version), (*at[:-1], "version")
    needs: list[tuple[GkeVersion, Mistake]] = []
    if cluster.addons.ray.mode == "gke-addon":
        needed = catalogue().min_version("ray-operator-addon")
        needs.append((needed, broken("ray-addon-version", path, value=version, needed=needed)))
    for addon in installed(cluster):
        if addon.kubernetes is not None:
            title, wanted = f"{addon.title} {addon.chart.version}", addon.kubernetes
            mistake = broken("addon-version", path, value=version, addon=title, needed=wanted, key=addon.key)
            needs.append((GkeVersion.minimum(wanted), mistake))
    newest = max(needs, key=lambda need: need[0], default=None)
    if newest is not None and cluster.is_older(newest[0]):
        yield newest[1]


def _check_integrations(at: Path, cluster: ClusterSpec, kueue: KueueSpec) -> Iterator[Mistake]:
    offered, known = frameworks(cluster), addon_catalogue()
    gates = {**known.feature_gates["kueue"], **kueue.feature_gates}
    for name, gate in known.kueue["kindGates"].items():
        if name in (kueue.integrations or offered) and not gates[gate]:
            yield broken("kueue-kind-gate", (*at[:-1], "featureGates", gate), value=shown(name))
    if kueue.integrations is None:
        return
    if not kueue.integrations:
        yield Mistake(at, f"is empty; allowed: {', '.join(known.frameworks)}; or remove it for the default")
    for index, name in enumerate(kueue.integrations):
        owner = known.bringing(name)
        if owner is not None and name not in offered and cluster.existing is None:
            # An existing cluster may have the add-on already.
            yield broken("kueue-integration", (*at, index), value=shown(name), addon=owner.title, add=to_add(owner.key))
