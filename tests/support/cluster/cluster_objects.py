"""What the tests of the control plane create, and how they look at what came of it."""

from __future__ import annotations

import asyncio
import csv
import ssl
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane_twin.cluster.api import Api, ApiError, ClusterError, Object
from tpuplane_twin.cluster.identities import kubeconfig
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.planes.control_plane import ControlPlane
from tpuplane_twin.tools import Tools

from tests.support.eventually import eventually

T = TypeVar("T")
MakePools = Callable[..., Awaitable[None]]

TOKEN = "the-twins-own-token"
PATIENCE = 180.0  # seconds: a controller that was killed waits for the lease of its former self
KEY = "gke_acme_us-east5_trainers"

VERSION = "1.35.4-gke.1000000"
CLUSTER: Object = {
    "name": "trainers",
    "location": "us-east5",
    "locations": ["us-east5-a", "us-east5-b"],
    "currentMasterVersion": VERSION,
    "clusterIpv4Cidr": "10.64.0.0/14",
    "servicesIpv4Cidr": "10.32.0.0/20",
    "selfLink": "https://container.googleapis.com/v1beta1/projects/acme/locations/us-east5/clusters/trainers",
    "addonsConfig": {"rayOperatorConfig": {"enabled": True}},
}
RAY = "/apis/ray.io/v1/namespaces"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces"


@dataclass
class Cluster:
    """A control plane and what the tests look at it with."""

    plane: ControlPlane
    folder: Path
    processes: ProcessManager
    ports: PortBook
    tools: Tools
    messages: list[str] = field(default_factory=list)

    def api(self, token: str = TOKEN) -> aclosing[Api]:
        """A client with the twin's own token, or with another."""
        tls = ssl.create_default_context(cadata=self.plane.ca_certificate)
        return aclosing(Api(f"https://{self.plane.endpoint}", tls=tls, token=token))

    def kubeconfig(self) -> str:
        """A kubeconfig with the twin's own token."""
        return kubeconfig({KEY: self.plane.cluster_entry()}, {"token": TOKEN}, KEY)

    async def kubectl(self, *arguments: str) -> str:
        """What kubectl says, with the cluster's own kubeconfig; fails the test where kubectl fails."""
        config = self.folder / "kubectl.kubeconfig"
        config.write_text(self.kubeconfig())
        config.chmod(0o600)
        process = await asyncio.create_subprocess_exec(
            str(self.tools.binary("kubectl")),
            f"--kubeconfig={config}",
            f"--cache-dir={self.folder / 'kubectl-cache'}",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        assert process.returncode == 0, (output + errors).decode()
        return output.decode()

    def tokens(self) -> dict[str, str]:
        """The token of each process of the control plane."""
        with (self.folder / "auth" / "tokens.csv").open(newline="") as stream:
            return {row[2]: row[0] for row in csv.reader(stream)}


def pool(name: str, machine: str, count: int, *, zones: tuple[str, ...] = ("us-east5-b",), **config: Any) -> Object:
    """A node pool as the API has it; `count` is per zone."""
    return {
        "name": name,
        "version": VERSION,
        "locations": list(zones),
        "initialNodeCount": count,
        "config": {"machineType": machine, "diskSizeGb": 100, "diskType": "hyperdisk-balanced", **config},
        "instanceGroupUrls": [
            "https://www.googleapis.com/compute/v1/projects/acme/zones/"
            f"{zone}/instanceGroupManagers/gke-trainers-{name}-0a1b2c3d-grp"
            for zone in zones
        ],
    }


def slice_pool(name: str, machine: str, topology: str, hosts: int) -> Object:
    """A multi-host slice."""
    return {**pool(name, machine, hosts), "placementPolicy": {"type": "COMPACT", "tpuTopology": topology}}


def jobset(name: str, topology: str, hosts: int, slices: int, **annotations: str) -> Object:
    """A JobSet of `slices` slices, each exclusively on one node pool; `annotations` go on its pods."""
    template = {
        "metadata": {"annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {
                "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                "cloud.google.com/gke-tpu-topology": topology,
            },
            "containers": [{"name": "train", "image": "train", "resources": {"limits": {"google.com/tpu": 4}}}],
        },
    }
    job = {"parallelism": hosts, "completions": hosts, "backoffLimit": 0, "template": template}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": GKE_POOL_LABEL}},
        "spec": {"replicatedJobs": [{"name": "slice", "replicas": slices, "template": {"spec": job}}]},
    }


def ray_sample(module: Path, name: str) -> Object:
    """One of KubeRay's own samples, unchanged."""
    sample: Object = yaml.safe_load((module / "config" / "samples" / name).read_text())
    return sample


def environment(pod: Object) -> dict[str, str]:
    """The literal environment of a pod's first container."""
    return {entry["name"]: entry.get("value", "") for entry in pod["spec"]["containers"][0].get("env", [])}


def is_running(pod: Object) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


async def pools_of(api: Api, pods: list[Object]) -> dict[str, str]:
    """The node pool of each pod."""
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"][GKE_POOL_LABEL] for node in await api.list("Node")}
    return {pod["metadata"]["name"]: nodes[pod["spec"]["nodeName"]] for pod in pods}


async def running_pods(api: Api, namespace: str, count: int, selector: str = "") -> list[Object]:
    """The pods of `namespace` once exactly `count` are there and all are Ready."""

    async def look() -> list[Object]:
        pods = await api.list("Pod", namespace, labelSelector=selector)
        return pods if len(pods) == count and all(map(is_running, pods)) else []

    return await eventually(look)


async def empty(api: Api, namespace: str, *, within: float = PATIENCE) -> None:
    """Wait until `namespace` has no pods."""

    async def look() -> bool:
        return not await api.list("Pod", namespace)

    await eventually(look, within=within)


async def taken(api: Api, url: str, body: Object) -> None:
    """Create `body` once the API server takes it: it, an operator's webhook or an account may not be (back) yet."""

    async def look() -> bool:
        try:
            await api.request("POST", url, body=body)
        except ClusterError as error:
            return isinstance(error, ApiError) and error.status == 409
        return True

    await eventually(look)


async def rejection(request: Awaitable[object]) -> str:
    """The API server's words when it rejects `request`."""
    try:
        await request
    except ApiError as error:
        return str(error)
    raise AssertionError("the request was accepted")
