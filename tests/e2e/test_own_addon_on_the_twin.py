"""An operator that tpuplane does not ship: Kubeflow Trainer, by the definition in its example, on a twin."""

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

EXAMPLE = REPOSITORY / "examples" / "kubeflow-trainer"
CONTEXT = "gke_acme-lab_us-central1-b_lab-main"
TRAINER = ("-n", "kubeflow-system")


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    """The platform of the example, whose twin was started after the operator was built."""
    found = PlatformUnderTest(tmp_path, "own-addon")
    shutil.copytree(EXAMPLE / "addons", tmp_path / "addons")
    shutil.copy(EXAMPLE / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.twin("build", "--addon", "addons/trainer.yaml")
        found.rehearse("--no-sample")
        yield found


def test_a_train_job_runs_on_one_slice_of_its_team(platform: PlatformUnderTest) -> None:
    (manager,) = platform.items(CONTEXT, "deployments", *TRAINER)
    (container,) = manager["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"
    # It is the real one: its webhook rejects what the schema of the CRD allows.
    runtime = (
        (EXAMPLE / "job.yaml")
        .read_text()
        .replace("- name: node\n          template", "- name: node\n          replicas: 2\n          template")
    )
    (platform.folder / "rejected.yaml").write_text(runtime)
    rejected = platform.run("kubectl", "--context", CONTEXT, "apply", "-f", "rejected.yaml", check=False)
    assert "always must be 1" in rejected.stderr
    platform.kubectl(CONTEXT, "delete", "trainjob", "--all", "-n", "research")

    platform.kubectl(CONTEXT, "apply", "-f", str(EXAMPLE / "job.yaml"))
    pods = running(platform, CONTEXT, "jobset.sigs.k8s.io/jobset-name=pretrain", 4, namespace="research")
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
    assert len({platform.pool_of(CONTEXT, pod) for pod in pods}) == 1
    (workload,) = platform.items(CONTEXT, "workloads.kueue.x-k8s.io", "-n", "research")
    (owner,) = workload["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("TrainJob", "pretrain")
    assert any(
        (condition["type"], condition["status"]) == ("Admitted", "True")
        for condition in workload["status"]["conditions"]
    )
    (job,) = platform.items(CONTEXT, "trainjobs", "-n", "research")
    wait_until(
        lambda: platform.items(CONTEXT, "trainjobs", "-n", "research")[0]["status"]["jobsStatus"][0]["active"] == 1
    )
    assert not platform.steps()

    # A change of the definition is a change of the deployed platform, which the state describes.
    definition = platform.folder / "addons" / "trainer.yaml"
    definition.write_text(definition.read_text().replace("cpu: 100m", "cpu: 200m"))
    said = json.loads(
        platform.run("tpuplane", "diff", "--deployed", "local", str(platform.stack_file), "--json").stdout
    )
    (change,) = said["changes"]
    assert change["path"].endswith("trainer.definition.requests.cpu")
    platform.up()
    (manager,) = platform.items(CONTEXT, "deployments", *TRAINER)
    (container,) = manager["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "200m"
    assert [trainjob["metadata"]["uid"] for trainjob in platform.items(CONTEXT, "trainjobs", "-n", "research")] == [
        job["metadata"]["uid"]
    ]
    platform.kubectl(CONTEXT, "delete", "trainjob", "pretrain", "-n", "research", "--wait")
    platform.destroy()
