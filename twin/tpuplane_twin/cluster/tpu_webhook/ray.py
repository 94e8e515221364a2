"""Ray pods and RayClusters, as the webhook of GKE's Ray operator add-on treats them.

After github.com/ai-on-gke/kuberay-tpu-webhook (1.3.5) with the labels of KubeRay's multi-host indexing: KubeRay
numbers the hosts, so nothing has to be remembered from pod to pod and no two requests can race.
"""

import copy
from typing import Any

from tpuplane.data_files import formatted, read_data
from tpuplane.labels import TPU

from tpuplane_twin.cluster.tpu_webhook.pods import (
    Container,
    Pod,
    Rejected,
    chips,
    hosts,
    is_7x,
    set_env,
    tpu_containers,
)

CLUSTER = "ray.io/cluster"
GROUP = "ray.io/group"
REPLICA_NAME = "ray.io/worker-group-replica-name"
REPLICA_INDEX = "ray.io/worker-group-replica-index"
HOST_INDEX = "ray.io/replica-host-index"

_AFFINITY = read_data("tpuplane_twin.cluster", "webhooks")["ray-affinity"]
_PROCESS_PORT = 8471
_MEGASCALE_PORT = 8081  # 8080 is Ray's metrics port
_LONGEST_SERVICE = 50  # KubeRay keeps the last 50 characters of a longer name


def mutate(pod: Pod) -> Pod:
    """The pod as a worker of its slice; unchanged where it requests no TPU. Raises `Rejected`."""
    if not tpu_containers(pod["spec"]):
        return pod
    pod = copy.deepcopy(pod)
    labels, spec = pod["metadata"].get("labels", {}), pod["spec"]
    cluster, group = _label(labels, CLUSTER), _label(labels, GROUP)
    count = hosts(spec)
    replica = int(_label(labels, REPLICA_INDEX))
    host = int(_label(labels, HOST_INDEX)) if count > 1 else 0
    service = headless_service(cluster)
    if count > 1:
        spec["hostname"] = f"{group}-{replica}-{host}"
        spec["subdomain"] = service
        places = {"cluster": cluster, "replica": _label(labels, REPLICA_NAME)}
        spec["affinity"] = formatted(_AFFINITY, places)
    workers = tpu_containers(spec)
    for at, container in enumerate(workers):
        _slice_env(container, group, replica, service, port=_MEGASCALE_PORT + at if is_7x(spec) else None)
        names = [f"{group}-{replica}-{number}.{service}" for number in range(count)]
        if count > 1:
            _network_env(container, names, len(workers), at, is_7x=is_7x(spec))
        worker = host * len(workers) + at if is_7x(spec) else host
        # A single-host default on a multi-host worker is not the author's choice.
        set_env(container, "TPU_WORKER_ID", str(worker), defaults=(str(at),))
        set_env(container, "TPU_NAME", f"{group}-{replica}")
        set_env(container, "TPU_DEVICE_PLUGIN_HOST_IP", {"fieldRef": {"fieldPath": "status.hostIP"}})
        set_env(container, "TPU_DEVICE_PLUGIN_ADDR", "$(TPU_DEVICE_PLUGIN_HOST_IP):2112")
    return pod


def validate(cluster: dict[str, Any]) -> None:
    """Reject a RayCluster with a TPU worker group whose `numOfHosts` is not its topology's."""
    for group in cluster["spec"].get("workerGroupSpecs", []):
        spec = group["template"]["spec"]
        containers = tpu_containers(spec)
        if not containers:
            continue
        needed, given = hosts(spec), int(group.get("numOfHosts", 1))
        if needed != given:
            raise Rejected(
                "Number of workers in worker group not equal to specified topology: worker group "
                f"{group.get('groupName')!r} has numOfHosts {given}; its topology and "
                f"{sum(map(chips, containers))} {TPU} per host make {needed}"
            )


def headless_service(cluster: str) -> str:
    """The name of the headless service that KubeRay makes for a cluster with multi-host groups."""
    name = f"{cluster}-headless"[-_LONGEST_SERVICE:]
    return name if name[0].isalpha() else f"r{name[1:]}"


def _label(labels: dict[str, str], name: str) -> str:
    if name not in labels:
        raise Rejected(f"a Ray pod that requests {TPU} needs the label {name}, which KubeRay 1.5 and later sets")
    return labels[name]


def _slice_env(container: Container, group: str, replica: int, service: str, *, port: int | None) -> None:
    if not any(variable["name"] == "MEGASCALE_NUM_SLICES" for variable in container.get("env", [])):
        return
    coordinator = f"{group}-0-0.{service}"
    address = coordinator if port is None else f"{coordinator}:{_MEGASCALE_PORT}"
    set_env(container, "MEGASCALE_SLICE_ID", str(replica))
    set_env(container, "MEGASCALE_COORDINATOR_ADDRESS", address)
    set_env(container, "MEGASCALE_PORT", str(port or _MEGASCALE_PORT))


def _network_env(container: Container, names: list[str], workers: int, at: int, *, is_7x: bool) -> None:
    set_env(container, "TPU_WORKER_HOSTNAMES", ",".join(names))
    if is_7x:
        addresses = [f"{name}:{_PROCESS_PORT + number}" for name in names for number in range(workers)]
        set_env(container, "TPU_PROCESS_ADDRESSES", ",".join(addresses))
        set_env(container, "TPU_PROCESS_PORT", str(_PROCESS_PORT + at))
