"""Dynamic slices, by the platform of its example on a twin: created, used, shown, and switched off."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.long]

EXAMPLE = REPOSITORY / "examples" / "dynamic-slices"
CONTEXT = "gke_acme-lab_us-central1_lab-main"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "dynamic-slices")
    shutil.copy(EXAMPLE / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.rehearse("--no-sample")
        yield found


def test_a_job_of_two_cubes_runs_and_a_part_gets_a_new_slice_after_a_lost_host(platform: PlatformUnderTest) -> None:
    assert not platform.steps()
    # The webhook of the add-on's own manifest sees a Job that has no queue, so that of the twin does not.
    template = {
        "metadata": {"annotations": {"cloud.google.com/gke-tpu-slice-topology": "2x2x2"}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu7x"},
            "containers": [{"name": "main", "image": "i", "resources": {"limits": {"google.com/tpu": 4}}}],
        },
    }
    spec = {"parallelism": 2, "completions": 2, "template": template, "suspend": True}
    job = platform.folder / "alone.json"
    metadata = {"name": "alone", "namespace": "research"}
    job.write_text(json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}))
    made = platform.kubectl(CONTEXT, "create", "-f", str(job), "--dry-run=server", "-o", "json")
    annotations = json.loads(made)["spec"]["template"]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-slice-size"] == "2"

    def start(name: str, topology: str) -> None:
        slice_ = ("--slice", f"tpu7x-{topology}", "--image", "i", "--", "python", "train.py")
        stack = ("--stack", str(platform.stack_file), "--team", "research", "--name", name)
        manifest = platform.folder / f"{name}.json"
        manifest.write_text(platform.run("tpuplane", "job", *stack, *slice_).stdout)
        platform.kubectl(CONTEXT, "apply", "-f", str(manifest))

    start("pair", "4x4x8")
    pods = running(platform, CONTEXT, "jobset.sigs.k8s.io/jobset-name=pair", 32, namespace="research")
    assert {platform.pool_of(CONTEXT, pod) for pod in pods} == {"cubes-0", "cubes-1"}
    shown = platform.run("tpuplane", "status", "--context", CONTEXT).stdout
    assert "4x4x8" in shown
    assert "ACTIVE" in shown
    platform.kubectl(CONTEXT, "delete", "jobset", "pair", "-n", "research")

    start("part", "2x2x4")
    (first, *_) = running(platform, CONTEXT, "jobset.sigs.k8s.io/jobset-name=part", 4, namespace="research")
    (before,) = (item["metadata"]["uid"] for item in platform.items(CONTEXT, "slices"))
    platform.twin("fail", "host", first["spec"]["nodeName"])

    def formed_again() -> bool:  # on the same part, if its host is repaired before Kueue admits the job again
        found = platform.items(CONTEXT, "slices")
        states = [item.get("status", {}).get("conditions", [{}])[0].get("reason") for item in found]
        return states == ["ACTIVE"] and found[0]["metadata"]["uid"] != before

    wait_until(formed_again)
    platform.kubectl(CONTEXT, "delete", "jobset", "part", "-n", "research")
    wait_until(lambda: not platform.items(CONTEXT, "slices"))
    platform.destroy()
