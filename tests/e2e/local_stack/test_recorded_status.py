"""`tpuplane why` of jobs of every kind, and the recording of their objects that unit tests read.

`TPUPLANE_RECORD=write` writes the recording anew. Without it, the test compares the states with those of the recording.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.status.asking import Ask
from tpuplane.status.reading import Cluster
from tpuplane_twin.tools.catalogue import catalogue

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest
from tests.support.e2e.recorded_jobs import BEFORE, HOLDERS, NAMESPACES, WAITING, Submitted
from tests.support.eventually import wait_until
from tests.support.status.recording import why

# The recorded objects change with the versions of the operators. Unit tests read them at each push.
pytestmark = [pytest.mark.e2e, pytest.mark.long]

GENERATED = re.compile(r"-[0-9a-z]{5}\b")  # the end of names that a controller generates
OPERATORS = ("kueue", "jobset")
RECORDING = Path(__file__).parents[2] / "unit" / "status" / "recorded" / "central1.json"


@pytest.fixture
def submitted(platform: PlatformUnderTest, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """What `tpuplane why` prints of each job, once it has its state."""
    platform.kubectl(CENTRAL1, "delete", "raycluster", "--all", "--wait")
    platform.kubectl(CENTRAL1, "wait", "pod", "--for=delete", "-l", "ray.io/cluster", "--timeout=300s")
    applied = tmp_path / "objects.json"

    def apply(*objects: Any) -> None:
        applied.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        platform.kubectl(CENTRAL1, "apply", "-f", str(applied))

    every = [*BEFORE, *(job.manifest for job in (*HOLDERS, *WAITING))]
    try:
        apply(*BEFORE)
        flow = json.loads(platform.kubectl(CENTRAL1, "get", "configmap", "flow", "-o", "json"))["metadata"]["uid"]
        apply(*json.loads(json.dumps([holder.manifest for holder in HOLDERS]).replace("$flow", flow)))
        found = [explained(platform, holder) for holder in HOLDERS]
        (pod, *_) = platform.items(CENTRAL1, "pods", "-n", "product", "-l", "jobset.sigs.k8s.io/jobset-name=holds")
        text = json.dumps([job.manifest for job in WAITING]).replace("$holder", pod["spec"]["nodeName"])
        apply(*json.loads(text))
        yield found + [explained(platform, job) for job in WAITING]
    finally:
        applied.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": every}))
        platform.kubectl(CENTRAL1, "delete", "--ignore-not-found", "-f", str(applied))
        platform.kubectl(CENTRAL1, "delete", "pvc", "--all")


def explained(platform: PlatformUnderTest, job: Submitted) -> dict[str, Any]:
    """What `tpuplane why` prints of a job, once it has its state and reason."""
    metadata, kind = job.manifest["metadata"], job.manifest["kind"]
    command = (BIN / "tpuplane", "why", f"{metadata['namespace']}/{metadata['name']}", "--kind", kind, "--json")

    def look() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(platform.run(*command, "--context", CENTRAL1).stdout)
        return found

    def is_it(found: dict[str, Any]) -> bool:
        said = "; ".join(reason["message"] for reason in found["reasons"])
        return found["state"] == job.state and job.reason in said and found["pods"] == job.pods

    return wait_until(look, is_it)


def test_each_job_has_its_state_and_the_recording_is_current(
    platform: PlatformUnderTest, submitted: list[dict[str, Any]]
) -> None:
    if os.environ.get("TPUPLANE_RECORD") == "write":
        RECORDING.parent.mkdir(exist_ok=True)
        RECORDING.write_text(recording(platform))
        return
    for found in submitted:
        recorded = why(f"{found['namespace']}/{found['job']}", found["kind"])
        assert first_reason(found) == first_reason(recorded)


def first_reason(found: dict[str, Any]) -> list[str]:
    """The first reason without generated names; later ones depend on the moment."""
    return [GENERATED.sub("", reason["message"]) for reason in found["reasons"][:1]]


def recording(platform: PlatformUnderTest) -> str:
    """The lists of the cluster as JSON, with one line for each object."""
    with Cluster(Path(platform.variables["KUBECONFIG"]), CENTRAL1).asking() as ask:
        lists = {path: ask.items(path, _short)[0] for path, _ in (ask.sources() | ask.details()).values()}
        groups = json.loads(_body(ask, "/apis"))["groups"]
        kubernetes = json.loads(_body(ask, "/version"))["gitVersion"]
    images = {
        tuple(container["image"].partition("@")[0].rpartition("/")[2].split(":"))
        for deployment in platform.items(CENTRAL1, "deployments", "--all-namespaces")
        for container in deployment["spec"]["template"]["spec"]["containers"]
    }
    # As in GKE, KubeRay is an add-on of the control plane and not a Deployment.
    ray = next(source.version for source in catalogue().sources if source.name == "kuberay")
    versions = {"kubernetes": kubernetes, "kuberay": ray, **{name: tag for name, tag in images if name in OPERATORS}}
    known = {item["metadata"]["uid"] for items in lists.values() for item in items}
    events = [
        event for event in lists["/api/v1/events"] if event["involvedObject"].get("uid") in known
    ]  # not of former tests
    lists["/api/v1/events"] = [event for event in events if event["metadata"]["namespace"] in NAMESPACES]
    head = {"recorded": versions, "groups": groups}
    lines = [json.dumps({**head, "lists": {}}).removesuffix("}}")]
    for number, (path, items) in enumerate(lists.items()):
        lines.append(f"{', ' if number else ''}{json.dumps(path)}: [")
        lines += [json.dumps(item) + ("," if item is not items[-1] else "") for item in items] + ["]"]
    return "\n".join([*lines, "}}", ""])


def _body(ask: Ask, path: str) -> Any:
    answer = ask.open(path)
    return answer.read()


_LONG = ("managedFields", "kubectl.kubernetes.io/last-applied-configuration", "env", "volumeMounts", "readinessProbe")


def _short(item: Any) -> Any:
    """The object without long fields that no command reads."""
    if isinstance(item, dict):
        return {key: _short(value) for key, value in item.items() if key not in _LONG}
    return [_short(value) for value in item] if isinstance(item, list) else item
