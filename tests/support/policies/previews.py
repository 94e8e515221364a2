"""Previews of the real engine that succeed, fail or stop: the programs, and what `pulumi preview --json` printed.

`TPUPLANE_RECORD=1 pytest tests/policies/test_policy_plan_gate_engine.py` records them again.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.support import REPOSITORY, TESTS
from tests.support.eventually import wait_until
from tests.support.pulumi_program import Program

RECORDED = TESTS / "policies/recorded/previews.json"
PACK = REPOSITORY / "policies"
SHOWN = ("preview", "--json", "--show-sames", "--stack", "new", "--non-interactive")

# A component may have any type, so this is a node pool to a rule and needs no provider.
POOLS = """
import os, signal, time, pulumi
for name in (pulumi.Config().get("pools") or "trainer").split():
    pulumi.ComponentResource("gcp:container/nodePool:NodePool", name, {
        "name": name, "cluster": "acme-lab", "nodeCount": 2,
        "nodeConfig": {"machineType": "ct6e-standard-4t", "labels": {"tpuplane-pool": name.split("-")[0]}},
    })
"""
ENDINGS = {
    "good": "",
    "exception": 'raise ValueError("the program has a mistake")',
    "reported error": 'pulumi.log.error("the program found a mistake")',
    "missing setting": 'pulumi.Config().require("zone")',
    "no resources": "os._exit(0)",
    "killed program": "os.kill(os.getpid(), signal.SIGKILL)",
    "provider": "import pulumi_gcp as gcp\ngcp.compute.Network('net', name='Not a name')",
    "policy": "",
    "interrupted": "open('started', 'w').close()\ntime.sleep(600)",
    "replaced by deletion and creation": "",
    "deleted": "",
}
FAILED = {
    "exception": "the preview failed: Program failed with an unhandled exception: ValueError: the program has",
    "reported error": "the preview failed: the program found a mistake",
    "missing setting": "the preview failed: Missing required configuration variable 'demo:zone'",
    "no resources": "the plan has no steps",
    "killed program": "the preview failed: an unhandled error occurred",
    "provider": "the preview failed: gcp:compute/network:Network resource 'net' has a problem",
    "policy": "the preview failed: preview failed",
    "interrupted": "the preview failed: preview canceled",
}


def preview(program: Program, kind: str) -> dict[str, Any]:
    """What the engine prints in a preview of this kind. The program is new."""
    program.write(f"{POOLS}\n{ENDINGS[kind]}\n")
    program.output("stack", "init", "new")
    changed = {"replaced by deletion and creation": "trainer-0 trainer-1 evals", "deleted": "evals"}.get(kind)
    if changed:
        program.output("config", "set", "pools", "trainer evals")
        program.output("up", "--yes", "--skip-preview")
        program.output("config", "set", "pools", changed)
    options = ("--policy-pack", str(PACK)) if kind == "policy" else ()
    process = subprocess.Popen(
        ["pulumi", *SHOWN, *options], cwd=program.folder, env=program.variables, stdout=subprocess.PIPE, text=True
    )
    if kind == "interrupted":
        wait_until(lambda: any(program.folder.rglob("started")))
        process.send_signal(signal.SIGINT)
    printed, _ = process.communicate()
    found: dict[str, Any] = json.loads(printed.replace(str(program.folder), "/project"))
    return found


def recorded() -> Iterator[tuple[str, str]]:
    """Each kind with its text."""
    for kind, document in json.loads(RECORDED.read_text("utf-8"))["previews"].items():
        yield kind, json.dumps(document, indent=4)
