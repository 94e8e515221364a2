"""The examples' programs: they register the same objects as the package's manifests."""

from __future__ import annotations

import pytest

from tests.support.components.deployment import Deployment
from tests.support.components.examples import EXAMPLES, run

pytestmark = pytest.mark.components

PROGRAMS = {
    "ray-train": ("RayJob", "train.py"),
    "ray-multislice": ("RayJob", "program.py"),
    "ray-serve": ("RayService", "app.py"),
    "ray-torch": ("RayJob", "train.py"),
}


@pytest.mark.parametrize("example", PROGRAMS)
def test_the_program_reaches_head_and_workers(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, file = PROGRAMS[example]
    deployed = run(example, monkeypatch)
    text = deployed.one("ConfigMap").inputs
    assert text["data"] == {file: (EXAMPLES / example / file).read_text()}
    spec = deployed.one(f"v1:{kind}").inputs["spec"]
    cluster = spec.get("rayClusterSpec") or spec["rayClusterConfig"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        names = {volume["name"]: volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume}
        mounts = pod["containers"][0]["volumeMounts"]
        (folder,) = [mount["mountPath"] for mount in mounts if names.get(mount["name"]) == text["metadata"]["name"]]
        where = spec.get("entrypoint") or spec["serveConfigV2"]
        assert folder in where


def test_checkpoints_go_to_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = run("ray-train", monkeypatch, bucket="acme").one("v1:RayJob").inputs["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        (volume,) = [text for text in pod["volumes"] if "csi" in text]
        assert volume["csi"]["volumeAttributes"]["bucketName"] == "acme"
        (folder,) = [
            volume_mount["mountPath"]
            for volume_mount in pod["containers"][0]["volumeMounts"]
            if volume_mount["name"] == volume["name"]
        ]
        assert f'STORAGE = "{folder}"' in (EXAMPLES / "ray-train" / "train.py").read_text()


def test_urgent_work_comes_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def priorities(deployed: Deployment) -> dict[str, str]:
        made = [resource.inputs["metadata"] for resource in deployed.all("v1alpha2:JobSet")]
        return {local_queue["name"]: local_queue["labels"]["kueue.x-k8s.io/priority-class"] for local_queue in made}

    assert priorities(run("idle-chips", monkeypatch)) == {"trial-0": "idle", "trial-1": "idle"}
    assert priorities(run("idle-chips", monkeypatch, urgent="true")) == {
        "trial-0": "idle",
        "trial-1": "idle",
        "deadline": "high",
    }


def test_a_host_runs_the_program_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("jobset-multislice", monkeypatch).one("v1alpha2:JobSet").inputs["spec"]
    (job,) = made["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert job["replicas"] == 2
    assert container["command"][-1] == (EXAMPLES / "jobset-multislice" / "train.py").read_text()
