"""What starts the containers of a pod: the orders that `sandbox.daemon` takes."""

from dataclasses import dataclass
from pathlib import Path

from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.layout import Layout
from tpuplane_twin.cluster.tpu_webhook.pods import chips
from tpuplane_twin.pods import container, dns
from tpuplane_twin.pods.images import Image, Images
from tpuplane_twin.pods.volumes import Volumes

UID_DIGITS = 8
"""How many of the first characters of a pod's uid its logs are named after."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every pod of a cluster finds: `services` is the range of its Services, `given` an environment."""

    layout: Layout
    images: Images
    api: Api
    services: str
    given: dict[str, str]


class Orders:
    """The orders of one pod, whose processes are those of `image`; its root folder is `root`."""

    def __init__(self, around: Surroundings, pod: Object, image: Image, volumes: Volumes, root: Path) -> None:
        self._around = around
        self._pod = pod
        self._image = image
        self._volumes = volumes
        self._root = root

    def log(self, name: str) -> Path:
        """The log of the container `name`; it outlives the pod. Those that are simulated write none."""
        metadata, first = self._pod["metadata"], self._pod["spec"]["containers"][0]["name"]
        # No name of Kubernetes has an underscore.
        parts = [f"pod-{metadata['namespace']}", metadata["name"], metadata["uid"][:UID_DIGITS]]
        return self._around.layout.log("_".join([*parts, *([] if name == first else [name])]))

    async def of(self, each: Object) -> Object:
        """The order that starts `each`, one of the pod's containers. Raises as `Volumes` and `Api` do."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = self.log(each["name"])
        log.parent.mkdir(parents=True, exist_ok=True)
        keys = {}
        for kind, name in container.sources(each):
            texts = await self._volumes.texts(kind, name)
            if texts is not None:
                keys[kind, name] = texts
        metadata, address = self._pod["metadata"], self._pod["status"]["podIP"]
        host_name = self._pod["spec"].get("hostname") or metadata["name"]
        tools, count = self._around.layout.tools, chips(each)
        node = await self._around.api.request("GET", f"/api/v1/nodes/{self._pod['spec']['nodeName']}")
        own = self._image.environment(node.get("metadata", {}).get("labels", {}), count)
        allocatable = node.get("status", {}).get("allocatable", {})
        given = {"HOSTNAME": host_name, **self._around.given, **own}
        environment = container.environment(self._pod, each, given, keys, allocatable)
        environment |= self._image.overrides(environment, count)
        mounts = container.mounts(each, environment, self._volumes.part, self._volumes.read_only())
        return {
            "name": f"p{metadata['uid'].replace('-', '')[:14]}",
            "address": address,
            "hostname": host_name[:63],
            "argv": container.command(each, self._image.entrypoint, environment),
            "env": environment,
            "cwd": each.get("workingDir") or self._image.cwd,
            "root": str(self._root),
            "log": str(log),
            "files": {
                "/etc/passwd": f"root:x:0:0::{self._image.cwd}:/bin/sh\n",
                "/etc/hosts": f"127.0.0.1 localhost\n{address} {host_name}\n",
                "/etc/resolv.conf": dns.resolv_conf(self._around.services, metadata["namespace"]),
            },
            "mounts": [*self._image.mounts(tools), *mounts],
        }
