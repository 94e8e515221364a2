"""One of KubeRay's published TPU samples, applied unchanged to a cluster with fitting slices."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.shell.command import run as run_command

# Small multi-host samples first: they start fastest.
_PREFERRED = ("ray-cluster.tpu-v6e-16-multihost.yaml", "ray-cluster.tpu-v4-multihost.yaml")


@dataclass(frozen=True, slots=True)
class Sample:
    """A manifest and its worker groups: node selector and pods."""

    file: Path
    cluster: str
    groups: tuple[tuple[Mapping[str, str], int], ...]

    @property
    def pods(self) -> int:
        """The head and every worker."""
        return 1 + sum(pods for _, pods in self.groups)


def samples(folder: Path) -> list[Sample]:
    """KubeRay's RayCluster samples with TPUs, preferred ones first."""
    files = sorted(
        folder.glob("ray-cluster.tpu-*.yaml"),
        key=lambda file: (_PREFERRED.index(file.name) if file.name in _PREFERRED else len(_PREFERRED), file.name),
    )
    return [_parse(file) for file in files]


def run(
    folder: Path,
    contexts: list[str],
    environment: Mapping[str, str],
    report: Callable[[str], None],
    *,
    timeout: float = 300.0,
) -> dict[str, Any] | None:
    """Apply the first sample that fits a cluster, and wait until all its pods run. Returns its placement.

    `timeout` is in seconds. None if no sample fits. Raises `TwinError`.
    """
    found = _fitting(samples(folder), contexts, environment)
    if found is None:
        return None
    sample, context = found
    report(f"applying KubeRay's {sample.file.name} to {context}")
    _kubectl(environment, context, "apply", "-f", str(sample.file))
    deadline = time.monotonic() + timeout
    while True:
        pods = _items(environment, context, "pods", f"ray.io/cluster={sample.cluster}")
        running = [pod for pod in pods if pod.is_true("Ready")]
        if len(running) == sample.pods:
            return _placement(sample, context, running, environment)
        report(f"{sample.file.name}: {len(running)} of {sample.pods} pods run")
        if time.monotonic() > deadline:
            why = ["tpuplane", "why", sample.cluster, "--kind", "RayCluster", "--context", context]
            raise TwinError(
                f"{len(running)} of {sample.pods} pods of {sample.cluster} run after {timeout:.0f} s. "
                f"`tpuplane-twin exec {' '.join(why)}`:\n{run_command(why, Path.cwd(), environment)}"
            )
        time.sleep(0.3)


def _parse(file: Path) -> Sample:
    document = next(doc for doc in yaml.safe_load_all(file.read_text()) if doc and doc.get("kind") == "RayCluster")
    groups = tuple(
        (
            group["template"]["spec"].get("nodeSelector", {}),
            int(group.get("replicas", 1)) * int(group.get("numOfHosts", 1)),
        )
        for group in document["spec"].get("workerGroupSpecs", [])
    )
    return Sample(file, document["metadata"]["name"], groups)


def _fitting(
    candidates: list[Sample], contexts: list[str], environment: Mapping[str, str]
) -> tuple[Sample, str] | None:
    nodes = {context: _items(environment, context, "nodes") for context in contexts}
    for sample in candidates:
        for context in contexts:
            if all(
                sum(selector.items() <= node.labels.items() for node in nodes[context]) >= pods
                for selector, pods in sample.groups
            ):
                return sample, context
    return None


def _placement(sample: Sample, context: str, pods: list[Any], environment: Mapping[str, str]) -> dict[str, Any]:
    pools = {node.name: node.pool for node in _items(environment, context, "nodes")}
    places = [(pod.labels, pools.get(pod.spec.node_name) or "?") for pod in pods]
    heads = [pool for labels, pool in places if labels.get("ray.io/node-type") == "head"]
    workers = Counter(pool for labels, pool in places if labels.get("ray.io/node-type") != "head")
    return {
        "manifest": sample.file.name,
        "rayCluster": sample.cluster,
        "context": context,
        "headOn": heads[0] if heads else "?",
        "workersByNodePool": dict(sorted(workers.items())),
    }


def _items(environment: Mapping[str, str], context: str, kind: str, selector: str = "") -> list[Any]:
    from tpuplane.status.asking import SHAPES  # noqa: PLC0415 (slow to import)

    arguments = ["get", kind, "-o", "json"] + (["-l", selector] if selector else [])
    return [
        SHAPES[kind].model_validate(item) for item in json.loads(_kubectl(environment, context, *arguments))["items"]
    ]


def _kubectl(environment: Mapping[str, str], context: str, *arguments: str) -> str:
    return run_command(["kubectl", "--context", context, *arguments], Path.cwd(), environment)
