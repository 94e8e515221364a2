"""Creates the smallest platform in one zone, changes it, deletes it, and records what happened."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tpuplane.cost import cost
from tpuplane.data_files import filled, read_data
from tpuplane.plan import plan
from tpuplane.spec import SpecError, parse_platform

from conformance.recorder import Recorder

ROOT = Path(__file__).parents[1]
SUITE: Mapping[str, Any] = read_data("conformance", "suite")
STACK = ("--stack", "conformance", "--non-interactive", "--color", "never")
_NODE_MINUTES = 20


def choose(project: str, zone: str, capacity: str) -> tuple[dict[str, Any], list[Any], float]:
    """The platform, the steps, and US dollars per hour at full size. Raises `SpecError`."""
    mistakes = SpecError([])
    for generation, machine in SUITE["machines"].items():
        words = {"$zone": zone, "$capacity": capacity, "$generation": generation, "$machine": machine}
        platform, steps = (filled(SUITE[part], words) for part in ("platform", "steps"))
        full = {"project": project, **platform}
        for step in steps:
            full = changed(full, step.get("set", {}))
        try:
            usd = cost(plan(parse_platform(full)), estimate=True).total.max.usd_per_hour
            return {"project": project, **platform}, steps, usd + SUITE["usd_per_hour_besides_chips"]
        except SpecError as error:
            mistakes = error
    raise mistakes


def changed(platform: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The platform with other values at dotted paths."""
    result: dict[str, Any] = json.loads(json.dumps(platform))
    for path, value in values.items():
        *above, last = path.split(".")
        at = result
        for name in above:
            at = at[name]
        at[last] = value
    return result


@dataclass
class Run:
    """One run of the suite in a folder of its own."""

    platform: dict[str, Any]
    recorder: Recorder
    say: Callable[[str], None]
    minutes: float
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    result: dict[str, Any] = field(default_factory=lambda: {"steps": {}, "nodes": {}})

    def run(self, steps: list[Any]) -> None:
        """Run the steps. Everything is destroyed at the end, also after a failure or Ctrl-C."""
        self._deadline = time.monotonic() + self.minutes * 60
        with tempfile.TemporaryDirectory() as folder, self.recorder.serving() as endpoints:
            self._prepare(Path(folder), endpoints)
            try:
                for step in steps:
                    self._step(step)
            finally:
                self._clean_up()

    def _prepare(self, folder: Path, endpoints: Mapping[str, str]) -> None:
        self._folder = folder
        self._stack_file = folder / "stacks" / f"Pulumi.{STACK[1]}.yaml"
        self._stack_file.parent.mkdir()
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        shutil.copytree(ROOT / "infra", folder / "infra")
        own = {"UV_PROJECT_ENVIRONMENT": str(ROOT / ".venv"), "KUBECONFIG": str(folder / "kubeconfig")}
        if "TPUPLANE_TWIN" not in self.environment:
            own |= {"PULUMI_BACKEND_URL": f"file://{folder}", "PULUMI_CONFIG_PASSPHRASE": "conformance"}
        self.environment |= {**endpoints, **own}
        self._command("pulumi", "stack", "init", *STACK[1:])
        self._write()

    def _write(self) -> None:
        described = {key: value for key, value in self.platform.items() if key != "project"}
        salt = yaml.safe_load(self._stack_file.read_text()) if self._stack_file.exists() else {}
        config = {"gcp:project": self.platform["project"], "tpuplane:platform": described}
        self._stack_file.write_text(yaml.safe_dump({**(salt or {}), "config": config}, sort_keys=False))

    def _step(self, step: Mapping[str, Any]) -> None:
        name, began = step["name"], time.monotonic()
        self.say(f"{name} …")
        self.recorder.step = name
        self.platform = changed(self.platform, step.get("set", {}))
        self._write()
        if "pulumi" in step:
            self._command("pulumi", *step["pulumi"].split(), *STACK)
            outcome = "done"
        else:
            outcome = {"nodes": self._nodes, "delete_node": self._delete_node}[step["function"]]()
        self.result["steps"][name] = {"seconds": round(time.monotonic() - began), "outcome": outcome}
        self.say(f"{name}: {outcome}, {time.monotonic() - began:.0f} s")

    def _nodes(self) -> str:
        """Record labels, taints and conditions of TPU nodes, and the reasons of events about nodes."""
        nodes = [node for node in self._get("nodes") if "google.com/tpu" in node["status"]["capacity"]]
        events = self._get("events", "--all-namespaces")
        taints = [taint for node in nodes for taint in node["spec"]["taints"]]
        self.result["nodes"] = {
            "labels": sorted({label for node in nodes for label in node["metadata"]["labels"]}),
            "taints": sorted({f"{taint['key']}:{taint['effect']}" for taint in taints}),
            "conditions": sorted({state["type"] for node in nodes for state in node["status"]["conditions"]}),
            "events": sorted({event["reason"] for event in events if event["involvedObject"]["kind"] == "Node"}),
        }
        return f"{len(nodes)} TPU nodes"

    def _delete_node(self) -> str:
        """Delete a node object, and wait until its pool has another one."""
        before = self._single()
        self._command("kubectl", "delete", "node", next(iter(before.values())), "--wait=false")
        end = min(self._deadline, time.monotonic() + _NODE_MINUTES * 60)
        while time.monotonic() < end:
            now = self._single()
            if len(now) == len(before) and {*now} != {*before}:
                return "created again"
            time.sleep(2)
        return "not created again in time"

    def _single(self) -> dict[str, str]:
        found = self._get("nodes", "--selector", "cloud.google.com/gke-nodepool=single")
        return {node["metadata"]["uid"]: node["metadata"]["name"] for node in found}

    def _get(self, kind: str, *options: str) -> list[Any]:
        configs = json.loads(self._command("pulumi", "stack", "output", "kubeconfigs", "--json", *STACK))
        (self._folder / "kubeconfig").write_text(configs["main"])
        items: list[Any] = json.loads(self._command("kubectl", "get", kind, "--output", "json", *options))["items"]
        return items

    def _command(self, *command: str, seconds: float = 0) -> str:
        """The output of a command. Raises `RuntimeError` if it fails or takes longer than the time limit."""
        left = seconds or max(self._deadline - time.monotonic(), 1)
        try:
            place = {"cwd": self._folder, "env": self.environment}
            done = subprocess.run(command, **place, capture_output=True, text=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"the time limit is over during: {' '.join(command)}") from None
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def _clean_up(self) -> None:
        self.recorder.step = "clean up"
        for command in ("cancel --yes", "refresh --yes", "destroy --yes --skip-preview"):
            try:
                self._command("pulumi", *command.split(), *STACK, seconds=3600)
            except RuntimeError as error:
                if command.startswith("destroy"):
                    commands = "gcloud container clusters list, compute networks list"
                    self.say(f"NOT deleted; look for what is left: {commands}")
                    raise RuntimeError(f"the clean-up failed: {error}") from error
