"""The program of this repository on a twin of its own, driven as a user drives it: by commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import yaml

from tests.support import BIN, REPOSITORY
from tests.support.pulumi_program import Program

POOL = "cloud.google.com/gke-nodepool"
CENTRAL1 = "gke_tpuplane-lab_us-central1_lab-central1"
CENTRAL2 = "gke_tpuplane-lab_us-central2-b_lab-central2"


def environment(folder: Path, name: str) -> dict[str, str]:
    """The environment of a user of the twin `name`, whose files are in `folder`."""
    return {
        **os.environ,
        "TPUPLANE_TWIN_HOME": str(folder / "twins"),
        "TPUPLANE_TWIN": name,
        "UV_PROJECT_ENVIRONMENT": str(REPOSITORY / ".venv"),
        # A test does not wait a minute until the autoscaler removes nodes.
        "TPUPLANE_TWIN_SCALE_DOWN_AFTER": "3",
    }


class PlatformUnderTest(Program):
    """A copy of the program and its stacks, with the stack local, and a twin."""

    def __init__(self, folder: Path, name: str = "e2e") -> None:
        super().__init__(folder, environment(folder, name), "local")
        self.name = name
        shutil.copy(REPOSITORY / "Pulumi.yaml", folder)
        for part in ("infra", "stacks"):
            shutil.copytree(REPOSITORY / part, folder / part)

    @contextmanager
    def taken_down(self) -> Iterator[None]:
        """At the end the twin is taken down, and nothing of it may be left."""
        try:
            yield
        finally:
            self.twin("down")
        assert not (self.folder / "twins" / self.name).exists()
        left = [process for process in psutil.process_iter(["cmdline"]) if _of(process, str(self.folder))]
        _, left = psutil.wait_procs(left, timeout=60)
        assert not left, left

    @property
    def stack_file(self) -> Path:
        return self.folder / "stacks" / "Pulumi.local.yaml"

    def twin(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run(BIN / "tpuplane-twin", *arguments, check=check)

    def rehearse(self, *options: str) -> dict[str, Any]:
        """`make up` without the make; afterwards the environment is that of `tpuplane-twin env`.

        The engine writes the state once, at the end: that takes an eighth less time, and nothing interrupts it here.
        """
        command = (BIN / "tpuplane-twin", "rehearse", "local", "--json", *options)
        result: dict[str, Any] = json.loads(self.run(*command, PULUMI_SKIP_CHECKPOINTS="true").stdout)
        self.variables |= json.loads(self.twin("env", "--json").stdout)
        return result

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.twin("status", "--json").stdout)
        return found

    def kubectl(self, context: str, *arguments: str) -> str:
        return self.run("kubectl", "--context", context, *arguments).stdout

    def items(self, context: str, kind: str, *arguments: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.kubectl(context, "get", kind, "-o", "json", *arguments))["items"]
        return found

    def pools(self, context: str) -> dict[str, list[dict[str, Any]]]:
        """The nodes of a cluster by node pool."""
        pools: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for node in self.items(context, "nodes"):
            pools[node["metadata"]["labels"][POOL]].append(node)
        return dict(pools)

    def pool_of(self, context: str, pod: Mapping[str, Any]) -> str:
        """The node pool that a pod sits on."""
        node = json.loads(self.kubectl(context, "get", "node", pod["spec"]["nodeName"], "-o", "json"))
        return str(node["metadata"]["labels"][POOL])

    @contextmanager
    def rewritten(self, change: Callable[[dict[str, Any]], None]) -> Iterator[None]:
        """The stack file with `change` made to its clusters; the former file comes back at the end."""
        with self.described(lambda platform: change(platform["clusters"])):
            yield

    @contextmanager
    def described(self, change: Callable[[dict[str, Any]], None]) -> Iterator[None]:
        """The stack file with `change` made to its platform; the former file comes back at the end."""
        former = self.stack_file.read_text()
        content = yaml.safe_load(former)
        change(content["config"]["tpuplane:platform"])
        self.stack_file.write_text(yaml.safe_dump(content, sort_keys=False))
        try:
            yield
        finally:
            self.stack_file.write_text(former)


def v6e_4x4_job(annotations: Mapping[str, str]) -> dict[str, Any]:
    """The spec of a Job that runs a pod on each host of one v6e 4x4 slice. Kueue reads the annotations of the pods."""
    container = {
        "name": "train",
        "image": "python:3.11",
        "resources": {"requests": {"cpu": 10, "memory": "10Gi"}, "limits": {"google.com/tpu": 4}},
    }
    selector = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    pod = {"restartPolicy": "Never", "nodeSelector": selector, "containers": [container]}
    template = {"metadata": {"annotations": annotations}, "spec": pod}
    return {"parallelism": 4, "completions": 4, "backoffLimit": 0, "template": template}


def _of(process: psutil.Process, folder: str) -> bool:
    return any(folder in argument for argument in process.info["cmdline"] or [])
