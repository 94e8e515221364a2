"""The examples' programs: what they register is what the package's own manifests are, for the program beside them."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from deployment import Deployment, deploy

pytestmark = pytest.mark.components

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = {
    "ray-train": ("RayJob", "train.py"),
    "ray-multislice": ("RayJob", "program.py"),
    "ray-serve": ("RayService", "app.py"),
    "ray-torch": ("RayJob", "train.py"),
}


@pytest.fixture(autouse=True)
def clean_config() -> Iterator[None]:
    yield
    pulumi.runtime.set_all_config({})


def run(example: str, monkeypatch: pytest.MonkeyPatch, **more: str) -> Deployment:
    folder = EXAMPLES / example
    monkeypatch.chdir(folder)
    settings: dict[str, Any] = yaml.safe_load((folder / "Pulumi.dev.yaml").read_text())["config"]
    # The mocks' project is called otherwise than the example's.
    settings = {f"tpuplane:{key.partition(':')[2]}": value for key, value in settings.items()}
    pulumi.runtime.set_all_config({**settings, **{f"tpuplane:{key}": value for key, value in more.items()}})
    return deploy(lambda: runpy.run_path(str(folder / "__main__.py"), run_name="__main__"))


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
        brought = {volume["name"]: volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume}
        assert list(brought.values()) == [text["metadata"]["name"]]
        (mount,) = [it for it in pod["containers"][0]["volumeMounts"] if it["name"] in brought]
        where = spec.get("entrypoint") or spec["serveConfigV2"]
        assert mount["mountPath"] in where


def test_urgent_work_comes_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def priorities(deployed: Deployment) -> dict[str, str]:
        made = [it.inputs["metadata"] for it in deployed.all("v1alpha2:JobSet")]
        return {it["name"]: it["labels"]["kueue.x-k8s.io/priority-class"] for it in made}

    assert priorities(run("idle-chips", monkeypatch)) == {"trial-0": "idle", "trial-1": "idle"}
    assert priorities(run("idle-chips", monkeypatch, urgent="true")) == {
        "trial-0": "idle",
        "trial-1": "idle",
        "deadline": "high",
    }


def test_a_host_runs_the_program_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("jobset-multislice", monkeypatch).one("v1alpha2:JobSet").inputs["spec"]
    (job,) = made["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert job["replicas"] == 2
    assert container["command"][-1] == (EXAMPLES / "jobset-multislice" / "train.py").read_text()
