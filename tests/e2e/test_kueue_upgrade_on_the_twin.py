"""A platform of the former release, with Kueue 0.16 and running work, is upgraded in place by the real engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane_twin import tools

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.long]

CONTEXT = "gke_tpuplane-lab_us-central1-b_lab-main"
FORMER, NOW = "0.16.1", addon_catalogue().addons["kueue"].chart.version
MIRROR, TEAM = "TPUPLANE_CHART_MIRROR", "research"
STACK = {
    "name": "lab",
    "project": "tpuplane-lab",
    "teams": {TEAM: {"clusters": {"main": {"pools": {"trainer": {"slices": 3}}}}}},
    "clusters": {
        "main": {
            "location": "us-central1-b",
            "deletionProtection": False,
            "addons": {"kueue": {}, "jobset": {}},
            "pools": {
                "trainer": {"generation": "v6e", "topology": "2x4", "machineType": "ct6e-standard-4t", "slices": 3}
            },
        }
    },
}
HOSTS = 2


class Upgraded:
    """The platform, with the release of the program and of its charts that a command uses."""

    def __init__(self, folder: Path) -> None:
        self.platform, self.folder = PlatformUnderTest(folder, "upgrade"), folder
        self.platform.stack_file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": STACK}}))

    @contextmanager
    def former(self) -> Iterator[None]:
        """Use the former release: this one, with the chart and the image of the former Kueue."""
        package, charts = self.folder / "former" / "tpuplane", self.folder / "charts"
        shutil.copytree(REPOSITORY / "components" / "tpuplane", package)
        data = package / "spec" / "data" / "addons" / "kueue.yaml"
        kueue = yaml.safe_load(data.read_text())
        kueue["chart"]["version"], kueue["image"]["tag"] = FORMER, f"v{FORMER}"
        data.write_text(yaml.safe_dump(kueue, sort_keys=False))
        built = tools.ensure(["kueue-0.16", "jobset"])
        for name, source in {"kueue": "kueue-0.16", "jobset": "jobset"}.items():
            shutil.copytree(built.module(source) / "charts" / name, charts / name)
        variables = self.platform.variables
        self.platform.variables = {**variables, MIRROR: str(charts), "PYTHONPATH": str(package.parent)}
        try:
            yield
        finally:
            self.platform.variables = variables

    def submit(self, *items: dict[str, Any]) -> None:
        path = self.folder / "work.yaml"
        path.write_text(yaml.safe_dump_all(items))
        self.platform.kubectl(CONTEXT, "apply", "-n", TEAM, "-f", str(path))

    def pods(self, label: str) -> dict[str, str]:
        """The hosts of a job's pods with chips, by uid, once all run."""
        found = running(self.platform, CONTEXT, label, HOSTS, namespace=TEAM)
        return {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod in found}

    def workloads(self) -> dict[str, tuple[str, bool, Any]]:
        """Uid of each workload, whether it is admitted, and its hosts, by its job."""
        found = {}
        for workload in self.platform.items(CONTEXT, "workloads.kueue.x-k8s.io", "-n", TEAM):
            status = workload.get("status", {})
            admitted = any((c["type"], c["status"]) == ("Admitted", "True") for c in status.get("conditions", ()))
            hosts = [s.get("topologyAssignment") for s in status.get("admission", {}).get("podSetAssignments", ())]
            found[workload["metadata"]["ownerReferences"][0]["name"]] = (workload["metadata"]["uid"], admitted, hosts)
        return found

    def manager(self) -> str:
        """The image of Kueue, once its only replica is ready."""

        def look() -> str:
            (manifest,) = self.platform.items(CONTEXT, "deployments", "-n", "kueue-system")
            ready = manifest["status"].get("readyReplicas") == 1 == manifest["status"].get("updatedReplicas")
            return str(manifest["spec"]["template"]["spec"]["containers"][0]["image"]) if ready else ""

        return wait_until(look)

    def definitions(self) -> dict[str, str]:
        found = {
            found_object["metadata"]["name"]: found_object["metadata"]["uid"]
            for found_object in self.platform.items(CONTEXT, "crd")
        }
        return {name: uid for name, uid in found.items() if name.endswith(".kueue.x-k8s.io")}


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[Upgraded]:
    tools.ensure(["kueue-0.16"])  # before the twin, which then runs it, too
    found = Upgraded(tmp_path)
    with found.platform.taken_down():
        found.platform.twin("up")
        found.platform.variables |= json.loads(found.platform.twin("env", "--json").stdout)
        found.platform.pulumi("stack", "init", check=False)  # the twin can have it already
        yield found


def test_an_upgrade_from_0_16_keeps_running_and_waiting_work(upgraded: Upgraded) -> None:
    with upgraded.former():
        upgraded.platform.up()
        assert upgraded.manager().endswith(f":v{FORMER}")
        upgraded.submit(job("through"), job_set("slices"), ray_cluster("ray"))
        labels = ("batch.kubernetes.io/job-name=through", "jobset.sigs.k8s.io/jobset-name=slices", "ray.io/group=slice")
        before = {label: upgraded.pods(label) for label in labels}
        upgraded.submit(job("waits"))
        wait_until(lambda: "waits" in upgraded.workloads())
        workloads, kinds = upgraded.workloads(), upgraded.definitions()
    assert sorted(admitted for _, admitted, _ in workloads.values()) == [False, True, True, True]

    steps = upgraded.platform.steps()
    assert not {"replace", "create-replacement", "delete-replaced"} & steps.keys()
    upgraded.platform.up()
    assert upgraded.manager().split("@")[0].endswith(f":v{NOW}")
    assert upgraded.definitions() == kinds
    assert {label: upgraded.pods(label) for label in labels} == before
    assert upgraded.workloads() == workloads
    assert not upgraded.platform.steps()

    upgraded.platform.kubectl(CONTEXT, "delete", "job", "-n", TEAM, "--wait", "through")
    hosts = wait_until(lambda: upgraded.workloads()["waits"][2])
    assert hosts == workloads["through"][2], f"Kueue gave the hosts of other work: {upgraded.workloads()}"
    after = upgraded.pods("batch.kubernetes.io/job-name=waits")
    assert set(after.values()) == set(before[labels[0]].values())
    upgraded.platform.kubectl(CONTEXT, "delete", "job,jobset,raycluster", "-n", TEAM, "--all", "--wait")
    upgraded.platform.destroy()


def _template() -> dict[str, Any]:
    selector = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "2x4"}
    container = {"name": "train", "image": "train", "resources": {"limits": {"google.com/tpu": 4}}}
    annotations = {"kueue.x-k8s.io/podset-required-topology": "cloud.google.com/gke-nodepool"}
    spec = {"restartPolicy": "Never", "nodeSelector": selector, "containers": [container]}
    return {"metadata": {"annotations": annotations}, "spec": spec}


def _named(name: str, kind: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "default"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def job(name: str) -> dict[str, Any]:
    return _named(name, "Job", "batch/v1", {"parallelism": HOSTS, "completions": HOSTS, "template": _template()})


def job_set(name: str) -> dict[str, Any]:
    spec = {"parallelism": HOSTS, "completions": HOSTS, "template": _template()}
    replicated = [{"name": "slice", "template": {"spec": spec}}]
    return _named(name, "JobSet", "jobset.x-k8s.io/v1alpha2", {"replicatedJobs": replicated})


def ray_cluster(name: str) -> dict[str, Any]:
    head = {"spec": {"containers": [{"name": "head", "image": "ray", "resources": {"limits": {"cpu": "1"}}}]}}
    workers = {"groupName": "slice", "replicas": 1, "numOfHosts": HOSTS, "rayStartParams": {}, "template": _template()}
    del workers["template"]["spec"]["restartPolicy"]
    spec = {"headGroupSpec": {"rayStartParams": {}, "template": head}, "workerGroupSpecs": [workers]}
    return _named(name, "RayCluster", "ray.io/v1", spec)
