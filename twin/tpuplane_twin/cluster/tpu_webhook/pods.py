"""What the webhook reads from a pod and writes into it. Pure: a pod in, a changed pod out."""

import math
from typing import Any

from tpuplane.labels import ACCELERATOR_LABEL, SLICE_TOPOLOGY, TOPOLOGY_LABEL, TPU

Pod = dict[str, Any]
Container = dict[str, Any]


class Rejected(ValueError):
    """The object cannot be admitted; the message is for its author."""


def chips(container: Container) -> int:
    """The chips that a container asks for; the request counts before the limit."""
    resources = container.get("resources", {})
    wanted = resources.get("requests", {}).get(TPU) or resources.get("limits", {}).get(TPU) or 0
    return int(wanted)


def tpu_containers(spec: dict[str, Any]) -> list[Container]:
    """The containers of a pod that ask for chips, in order."""
    return [container for container in spec.get("containers", []) if chips(container)]


def hosts(spec: dict[str, Any], annotations: dict[str, str] | None = None) -> int:
    """The hosts of the slice that a pod belongs to: the topology's chips over the pod's.

    The slice's own topology counts, where `annotations` have one: with GKE's dynamic slices the nodes' is that of
    the parts a slice is made of, or is not named at all. Raises `Rejected` where there is neither, or it is none.
    """
    selected = spec.get("nodeSelector", {}).get(TOPOLOGY_LABEL)
    sliced = (annotations or {}).get(SLICE_TOPOLOGY)
    topology = sliced or selected
    place = f"annotation {SLICE_TOPOLOGY}" if sliced else f"nodeSelector {TOPOLOGY_LABEL}"
    if not topology:
        raise Rejected(f"a pod that requests {TPU} needs the nodeSelector {TOPOLOGY_LABEL}, for example 4x4")
    try:
        total = math.prod(int(side) for side in topology.split("x"))
    except ValueError:
        raise Rejected(f"{place}: {topology!r} is not a topology; for example: 4x4") from None
    return max(total // sum(map(chips, tpu_containers(spec))), 1)


def is_7x(spec: dict[str, Any]) -> bool:
    """Whether the pod is for TPU7x, where every container is a separate worker."""
    return str(spec.get("nodeSelector", {}).get(ACCELERATOR_LABEL, "")).startswith("tpu7x")


def set_env(container: Container, name: str, value: str | dict[str, Any], *, defaults: tuple[str, ...] = ()) -> None:
    """Give `container` the variable unless its author has.

    What a device plugin gives a single host (`localhost`, and what is in `defaults`) counts as not given.
    """
    entry = {"name": name, **({"value": value} if isinstance(value, str) else {"valueFrom": value})}
    environment = container.setdefault("env", [])
    for at, variable in enumerate(environment):
        if variable["name"] == name:
            current = variable.get("value", "")
            if "valueFrom" not in variable and (current in ("", *defaults) or current.startswith("localhost")):
                environment[at] = entry
            return
    environment.append(entry)


def patch(before: Pod, after: Pod) -> list[dict[str, Any]]:
    """The JSON patch from `before` to `after`: one operation per field of the spec that differs."""
    return [
        {"op": "add", "path": f"/spec/{field}", "value": value}
        for field, value in after["spec"].items()
        if before["spec"].get(field) != value
    ]
