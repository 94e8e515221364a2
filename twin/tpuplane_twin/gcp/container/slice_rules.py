"""Rules of TPU slices. Each returns GKE's error message, literally where it is known, or None."""

from __future__ import annotations

from tpuplane.tpu import GkeVersion, Slice, SliceError

from tpuplane_twin.gcp.container.pool_context import PoolContext


def topology(context: PoolContext) -> str | None:
    """The topology exists for the generation, and the machine type divides it."""
    if context.tpu is None:
        return None
    generation, machine_type = context.tpu
    if not context.topology:
        if machine_type.single_host_topology is None:
            return f'Machine type "{machine_type.name}" needs placement_policy.tpu_topology.'
        return None
    try:
        Slice.of(generation.name, context.topology, machine_type.name)
    except SliceError as error:
        return f'Invalid TPU topology "{context.topology}" for machine type "{machine_type.name}": {error}'
    return None


def min_version(context: PoolContext) -> str | None:
    """The generation's oldest GKE version."""
    if context.tpu is None:
        return None
    generation, machine = context.tpu
    needed = generation.min_gke_version
    if needed is None or GkeVersion.parse(context.version) >= GkeVersion.minimum(needed):
        return None
    return f'Machine type "{machine.name}" needs GKE version {needed} or later; the node pool has {context.version}.'


def placement_single(context: PoolContext) -> str | None:
    """Pools of machine types that are always one slice name no topology, nor do single hosts of tpu7x.

    v5e and v6e machines of four chips may name their 2x2, as many public runbooks do.
    """
    if context.tpu is None or context.hosts != 1 or not context.topology:
        return None
    generation, machine = context.tpu
    if not machine.single_host_only and generation.placement != "workload-policy":
        return None
    return (
        "TPU topology can't be specified with single-host TPU slice pool; please remove the tpu_topology from the node"
        " pool creation request."
    )


def placement_policy(context: PoolContext) -> str | None:
    """A named policy exists in the cluster's region."""
    name = context.placement.get("policyName")
    if not name or context.workload_policy is not None:
        return None
    return f"Resource policy {name} not found in project {context.project} and the cluster's region."


def single_zone(context: PoolContext) -> str | None:
    """A slice is in one zone."""
    if not context.multi_host or len(context.zones) == 1:
        return None
    zones = ", ".join(context.zones)
    return f"A multi-host TPU node pool must be in exactly one zone; node locations are [{zones}]."


def atomic_scale(context: PoolContext) -> str | None:
    """An autoscaled slice has all of its hosts or none; GKE checks only the per-zone limits."""
    if not context.multi_host or not context.autoscaled:
        return None
    of_slice = f"is not a valid size of TPU pod slice with topology {context.topology}"
    if context.limit("maxNodeCount") != context.hosts:
        return f"Maximum node count {context.limit('maxNodeCount')} {of_slice}"
    if context.limit("minNodeCount") not in (0, context.hosts):
        return f"Minimum node count {context.limit('minNodeCount')} {of_slice}"
    return None


def node_count(context: PoolContext) -> str | None:
    """A slice has exactly its hosts; an autoscaled one may start at zero. Workload policies: see `gang_size`."""
    if not context.multi_host or context.placement.get("policyName"):
        return None
    count = context.nodes_per_zone
    if count == context.hosts or (count == 0 and context.autoscaled):
        return None
    return f"Node count {count} is not a valid size of TPU pod slice with topology {context.topology}"


def provision_only(context: PoolContext) -> str | None:
    """Dynamic slicing needs a reservation."""
    mode = (context.workload_policy or {}).get("acceleratorTopologyMode")
    if mode != "PROVISION_ONLY" or context.reserved:
        return None
    return "Accelerator topology mode PROVISION_ONLY needs reservation affinity SPECIFIC_RESERVATION."


def no_blue_green(context: PoolContext) -> str | None:
    """Compact placement has no room for a second set of nodes."""
    if context.placement.get("type") != "COMPACT" or context.upgrade_strategy != "BLUE_GREEN":
        return None
    return "Blue-green upgrades are not supported with compact placement; use SURGE."


def boot_disk(context: PoolContext) -> str | None:
    """The machine type takes only some boot disks."""
    machine, disk = context.machine, context.config["diskType"]
    # Other machines list the disk types that the autoscaler prefers; GKE may accept more.
    if machine is None or not machine.hyperdisk_only or disk in machine.disk_types:
        return None
    return f"[{disk}] disk type cannot be used by {machine.name} machine type; use hyperdisk-balanced."


def multi_networking(context: PoolContext) -> str | None:
    """Additional networks need a cluster with multi-networking."""
    if not context.additional_networks or context.cluster.multi_networking:
        return None
    return "Additional node networks need a cluster with multi-networking enabled."


def workload_policy_needed(context: PoolContext) -> str | None:
    """A workload policy places tpu7x; the compact policy that GKE creates does not."""
    if context.tpu is None or not context.multi_host or context.tpu[0].placement != "workload-policy":
        return None
    if context.placement.get("policyName"):
        return None
    return (
        f"Creation of a managed instance group with {context.tpu[1].name} machine type with placement policy"
        " is not supported. Use workload policy instead."
    )


def gang_size(context: PoolContext) -> str | None:
    """Compute Engine starts a slice under a workload policy as one gang."""
    count = context.nodes_per_zone
    if not context.multi_host or not context.placement.get("policyName") or count in (0, context.hosts):
        return None
    return (
        f"Google Compute Engine: Invalid value for field 'resource.resizeBy': '{count}'. Requested invalid target"
        f" size '{count}' for a Managed Instance Group in the gang mode of size '{context.hosts}'."
        " Should be equal to the gang size."
    )
