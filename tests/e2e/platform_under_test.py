"""The program of this repository on a twin of its own, driven as a user drives it: by commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
BIN = REPOSITORY / ".venv" / "bin"
POOL = "cloud.google.com/gke-nodepool"
CENTRAL1 = "gke_tpuplane-lab_us-central1_lab-central1"
CENTRAL2 = "gke_tpuplane-lab_us-central2-b_lab-central2"


@dataclass
class PlatformUnderTest:
    """A copy of the program and its stacks in a folder of the test's own, and a twin beside it."""

    folder: Path
    name: str = "e2e"
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True)
        shutil.copy(REPOSITORY / "Pulumi.yaml", self.project)
        for part in ("infra", "stacks"):
            shutil.copytree(REPOSITORY / part, self.project / part)
        self.variables = {
            **os.environ,
            "TPUPLANE_TWIN_HOME": str(self.folder / "twins"),
            "TPUPLANE_TWIN": self.name,
            "UV_PROJECT_ENVIRONMENT": str(REPOSITORY / ".venv"),
            # A test does not wait a minute for nodes to be given back.
            "TPUPLANE_TWIN_SCALE_DOWN_AFTER": "3",
        }

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def stack_file(self) -> Path:
        return self.project / "stacks" / "Pulumi.local.yaml"

    def run(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command in the project's folder and the twin's environment."""
        result = subprocess.run(
            [str(part) for part in command],
            cwd=self.project,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and result.returncode:
            raise AssertionError(f"{command} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result

    def twin(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run(BIN / "tpuplane-twin", *arguments, check=check)

    def rehearse(self, *options: str) -> dict[str, Any]:
        """`make up` without the make; afterwards the environment is that of `tpuplane-twin env`."""
        result: dict[str, Any] = json.loads(self.twin("rehearse", "local", "--json", *options).stdout)
        self.variables |= json.loads(self.twin("env", "--json").stdout)
        return result

    def pulumi(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("pulumi", *arguments, "--stack", "local", "--non-interactive", check=check)

    def steps(self) -> Counter[str]:
        """What `pulumi preview` would do, by kind of step, `same` left out."""
        preview = json.loads(self.pulumi("preview", "--json").stdout)
        return Counter(step["op"] for step in preview["steps"] if step["op"] != "same")

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
    def edited(self, **pool_changes: dict[str, Any]) -> Iterator[None]:
        """The stack file with other values for the pools of central1; the former file comes back at the end."""

        def change(clusters: dict[str, Any]) -> None:
            for pool, changes in pool_changes.items():
                clusters["central1"]["pools"][pool] |= changes

        with self.rewritten(change):
            yield

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
