"""Views of clusters with new pools, for tests of the autoscaler's decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tpuplane_twin.elasticity.classes import ComputeClass
from tpuplane_twin.elasticity.decision import Decision, View, decide
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.groups import Group
from tpuplane_twin.elasticity.limits import Limits
from tpuplane_twin.elasticity.objects import Pod
from tpuplane_twin.elasticity.scale_up import PROVISIONING, reasons_message

from tests.support.elasticity.elastic_objects import CLUSTER, group, nodes, pod

Json = dict[str, Any]
KEY = "projects/acme/locations/us-east5/clusters/trainers"
G = "cloud.google.com"
CLASS = f"{G}/compute-class"
TPU = {"type": "tpu-v6e-slice", "count": 4, "topology": "4x4"}


def asking(name: str, *, chips: int = 4, topology: str = "4x4", label: str = "tpu-v6e-slice", **selector: str) -> Pod:
    labels = {f"{G}/gke-tpu-accelerator": label, f"{G}/gke-tpu-topology": topology}
    labels |= {f"{G}/{key.replace('_', '-')}": value for key, value in selector.items()}
    tolerations = [{"operator": "Exists"}]
    return pod(name, requests={"google.com/tpu": chips}, spec={"nodeSelector": labels, "tolerations": tolerations})


def hosts(count: int, stem: str = "p", **fields: Any) -> list[Pod]:
    return [asking(f"{stem}{number}", **fields) for number in range(count)]


def where(
    *groups: Group,
    most: dict[str, int] | None = None,
    classes: Sequence[ComputeClass] = (),
    nap: bool = True,
    default_class: bool = False,
) -> Provisioning:
    """A cluster in which pools may be made, of which `groups` count against the limits."""
    limits = {"cpu": 100_000, "memory": 400_000, "tpu-v6e-slice": 64} if most is None else most
    resources = [{"resourceType": name, "maximum": str(amount)} for name, amount in limits.items()]
    autoscaling: Json = {
        "autoprovisioningLocations": ["us-east5-b"],
        "defaultComputeClassConfig": {"enabled": default_class},
    }
    if nap:
        autoscaling |= {"enableNodeAutoprovisioning": True, "resourceLimits": resources}
    cluster = {**CLUSTER, "locations": ["us-east5-b"], "autoscaling": autoscaling}
    used = [(group.costs, group.size) for group in groups]
    named = {class_.name: class_ for class_ in classes}
    return Provisioning(KEY, cluster, named, Limits.of(cluster, used), frozenset(group.name for group in groups))


def look(pods: Sequence[Pod], *groups: Group, at: Provisioning | None = None, **view: Any) -> Decision:
    now = view.pop("now", 0.0)
    since, delay = view.pop("since", {}), view.pop("delay", 60.0)
    found = View(nodes(*groups), pods, groups, where=at or where(*groups), **view)
    return decide(found, since, now, delay)


def why(decision: Decision) -> str:
    (_, reasons), *_ = decision.up.unhelped
    return reasons.get(PROVISIONING, reasons_message(reasons))


def made(decision: Decision) -> list[Group]:
    return [growth.after for growth in decision.up.growths if growth.before.offer is not None]


def there(name: str, capacity: str, size: int, zone: str = "us-east5-b", **labels: str) -> Group:
    """A slice that was made for the class `cheap`, bought as `capacity`."""
    config: Json = {"machineType": "ct6e-standard-4t", "labels": {CLASS: "cheap", **labels}}
    if capacity == "spot":
        config["spot"] = True
    if capacity == "flex-start":
        config["flexStart"] = True
    return group(
        name,
        "ct6e-standard-4t",
        config=config,
        zones=(zone,),
        initialNodeCount=size,
        placementPolicy={"type": "COMPACT", "tpuTopology": "4x4"},
        autoscaling={"enabled": True, "maxNodeCount": 4, "autoprovisioned": True},
    )


def cheap(**spec: Any) -> ComputeClass:
    """Spot, then flex-start: v6e 4x4."""
    priorities = spec.pop("priorities", [{"tpu": TPU, "spot": True}, {"tpu": TPU, "flexStart": {"enabled": True}}])
    whole = {"nodePoolAutoCreation": {"enabled": True}, "priorities": priorities, **spec}
    return ComputeClass.parse({"metadata": {"name": "cheap"}, "spec": whole})


def of_class(**spec: Any) -> Provisioning:
    return where(classes=[cheap(**spec)], nap=False)


def cheap_hosts(count: int = 4, **fields: Any) -> list[Pod]:
    return hosts(count, compute_class="cheap", **fields)
