"""The environment of a TPU host, as GKE's device plugin sets it (https://cloud.google.com/kubernetes-engine/docs/concepts/tpus).

Ray, JAX and libtpu know their slice by it. There are no chips here: JAX gets as many CPU devices as the host has chips.
"""

from collections.abc import Mapping

from tpuplane.labels import ACCELERATOR_LABEL, MACHINE_LABEL, TOPOLOGY_LABEL
from tpuplane.tpu import Slice


def environment(labels: Mapping[str, str], chips: int) -> dict[str, str]:
    """The variables that the node with `labels` gives a container with `chips`; empty if it is not a TPU host.

    Raises `SliceError` if its labels name no slice.
    """
    accelerator = labels.get(ACCELERATOR_LABEL)
    if accelerator is None:
        return {}
    machine = labels.get(MACHINE_LABEL)
    shape = Slice.for_nodes(accelerator, labels[TOPOLOGY_LABEL], machine, chips_per_node=None if machine else chips)
    return {
        "TPU_ACCELERATOR_TYPE": shape.accelerator_type,
        "TPU_TOPOLOGY": shape.topology,
        "TPU_CHIPS_PER_HOST_BOUNDS": shape.chips_per_host_bounds,
        "TPU_HOST_BOUNDS": shape.host_bounds,
        "TPU_SKIP_MDS_QUERY": "true",
    }


def instead_of(environment: Mapping[str, str], chips: int) -> dict[str, str]:
    """The variables that replace missing chips; they override the container's `environment`."""
    flag = f"--xla_force_host_platform_device_count={chips}"
    return {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{environment.get('XLA_FLAGS', '')} {flag}".strip()}
