"""Cloud TPUs that are not nodes of GKE: TPU VMs, also those of queued resources, and Cloud TPU nodes."""

from collections.abc import Iterator
from dataclasses import replace

from tpuplane.tpu import Generation, catalogue
from tpuplane.tpu.topology import chip_count

from tpuplane_policies.core.resources import Resource, Stack, matches
from tpuplane_policies.core.values import UNKNOWN, UndecidedError, Value
from tpuplane_policies.rules.kinds import QUEUED_TPU_VMS, TPU_NODE, TPU_VM


def tpu_vms(stack: Stack) -> Iterator[Resource]:
    """The TPU VMs and Cloud TPU nodes of a stack."""
    yield from stack.of(TPU_VM, TPU_NODE)
    for queued in stack.of(QUEUED_TPU_VMS):
        for spec in queued["tpu.nodeSpecs"].each():
            props = {**spec["node"].get({}), "zone": queued["zone"].raw}
            yield replace(queued, type=TPU_VM, load=lambda props=props: props, path=spec["node"].path)


def is_tpu_vm(resource: Resource) -> bool:
    """Whether it is one of `tpu_vms`, and not a node pool."""
    return matches((TPU_VM, TPU_NODE), resource.type)


def chips_of(vm: Resource) -> tuple[Generation, int]:
    """The generation and the number of chips. Raises `UndecidedError` also if the catalogue lacks the type."""
    named, topology = str(vm["acceleratorType"].get("")), vm["acceleratorConfig.topology"].get("")
    prefix, _, size = named.rpartition("-")
    if topology:
        prefix = str(vm["acceleratorConfig.type"].get("")).lower().replace("_", "")
    generations = {known.accelerator_type: known for known in catalogue().generations}
    if (generation := generations.get(prefix)) is None or not (topology or size.isdecimal()):
        text = f"acceleratorType, the chips of {named or 'the default type'}"
        raise UndecidedError(Value(UNKNOWN, text, vm, remedy="use an accelerator type of TPU v3 or later"))
    return generation, chip_count(topology) if topology else int(size) // generation.cores_per_chip
