"""Clusters that others created are adopted: `tpuplane import`, `pulumi import`, and a preview without a change."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin import tools
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.shell import executables
from tpuplane_twin.shell.engine import environment
from tpuplane_twin.shell.environment import google_environment

from tests.support.pages import blocks
from tests.support.providers.google_api import TOKEN, GoogleApi, Request
from tests.support.pulumi_program import Program

pytestmark = pytest.mark.twin

PROJECT = "acme-ml"
REPOSITORY = Path(__file__).parents[3]
REQUESTS = yaml.safe_load(Path(__file__).with_name("foreign_clusters.yaml").read_text())


def post(api: GoogleApi, path: str, body: Any) -> None:
    """Create something, and wait until it exists."""
    url = f"{api.url}/{path}"
    answer = _ask(url, json.dumps(body).encode())
    scope = url.rpartition("/")[0] if "/compute/" in url else url.partition("/clusters")[0]
    while answer.get("status", "DONE") != "DONE":
        time.sleep(0)
        answer = _ask(f"{scope}/operations/{answer['name']}")
    assert not answer.get("error"), answer


def _ask(url: str, body: bytes | None = None) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        return json.load(response)


@pytest.fixture
def project(api: GoogleApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A checkout of the program, and the environment of a shell on this API."""
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    paths = TwinPaths.of("import").make()
    executables.install(paths, tools.ensure(["pulumi", "kubectl", "kueue", "jobset", "pulumi-resource-kubernetes"]))
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "UV_", "VIRTUAL_ENV"))
    }
    made = Program(tmp_path / "project", inherited | environment(paths) | google_environment(api.url, TOKEN))
    made.variables["PATH"] = os.pathsep.join([str(Path(sys.prefix) / "bin"), made.variables["PATH"]])
    made.describe(virtualenv=sys.prefix)
    shutil.copytree(REPOSITORY / "infra", made.folder / "infra")
    return made


@pytest.fixture
def foreign(api: GoogleApi) -> Iterator[GoogleApi]:
    """The API with the clusters of others. At the end only reads may have been made."""
    for request in REQUESTS:
        post(api, request["path"], request["body"])
    api.requests.clear()
    yield api
    assert api.requests
    assert not [request for request in api.requests if not _reads(request)]


def _reads(request: Request) -> bool:
    """Compute Engine lists the instances of a group by a POST."""
    return request.method == "GET" or request.path.endswith("/listInstances")


def test_a_cluster_of_gcloud_is_adopted_as_the_page_shows(foreign: GoogleApi, project: Program) -> None:
    (block,) = (candidate for candidate in blocks("docs/import.md") if candidate.untested)
    (command,) = block.commands
    expected = block.text.partition(f"$ {command}\n")[2]
    assert project.run(*command.split()).stdout == expected
    for line in expected.splitlines()[-4:]:
        project.output(*line.split()[1:])
    project.stack = "demo"
    project.output("preview", "--expect-no-changes")
    kinds = [
        resource["id"].rpartition("/")[2]
        for resource in project.resources()
        if resource["type"].startswith("gcp:container")
    ]
    assert sorted(kinds) == ["default-pool", "demo", "l4", "single", "v6e-pool"]
    file = project.folder / "stacks" / "Pulumi.demo.yaml"
    file.write_text(file.read_text().replace("  v6e-pool:\n", "  trainer:\n").replace("  l4:\n", "  gpus:\n"))
    described = file.read_text()
    removed = re.sub(r"( +)trainer:\n(?:\1 .*\n)+", "", described)
    assert removed != described
    project.up()  # other keys: `foreign` allows only reads
    assert project.steps() == {}
    file.write_text(removed)
    unprotect = assert_protected(project.output("preview", fails=True))
    project.run(*shlex.split(unprotect), "--yes", "--stack", project.stack)
    assert project.steps() == {"delete": 2}  # the node pool and its component


def assert_protected(said: str) -> str:
    """Pulumi has rejected the deletion of an adopted resource; the command that it advises."""
    assert "cannot be deleted" in said
    return re.findall(r"pulumi state unprotect '[^']+'", said)[0]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--project", "other-project"], 1, "other-project: no cluster can be adopted, so no file is written"),
        (["--project", "Acme"], 2, "--project: 'Acme' is not allowed"),
        (["--project", PROJECT, "--name", "a_b"], 2, "--name: 'a_b' is not allowed"),
        (["--project", PROJECT, "--cluster", "demo"], 2, "--cluster: 'demo' is not a cluster of acme-ml"),
        (["stacks/Pulumi.a.yaml", "--project", PROJECT], 2, "stacks/import-a.json exists; choose another name"),
        (
            ["acme.yaml", "--project", PROJECT],
            2,
            "FILE: acme.yaml is not the name of a stack file; allowed: Pulumi.STACK",
        ),
    ],
)
def test_a_wrong_call_writes_nothing(project: Program, options: list[str], code: int, message: str) -> None:
    (project.folder / "stacks" / "import-a.json").write_text("{}")
    result = project.run("tpuplane", "import", *options, check=False)
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr
    assert sorted(file.name for file in project.folder.iterdir()) == ["Pulumi.yaml", "infra", "stacks"]
    assert [file.name for file in (project.folder / "stacks").iterdir()] == ["import-a.json"]


def test_clusters_of_other_tools_are_adopted_without_a_change(
    foreign: GoogleApi, project: Program, tmp_path: Path
) -> None:
    raw = replace(project, folder=tmp_path / "raw", stack="raw")
    raw.describe(virtualenv=sys.prefix)
    raw.write(Path(__file__).with_name("raw_program.py").read_text())
    raw.output("stack", "init")
    raw.up()
    foreign.requests.clear()
    result = project.run("tpuplane", "import", "stacks/Pulumi.all.yaml", "--project", PROJECT, "--json", check=False)
    assert result.returncode == 5, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["next"] == []
    assert {left["what"] for left in found["notAdopted"]} == {
        "cluster xpk-test, node pool cpu-np",
        "cluster ironwood, node pool win",
        *(f"cluster ml, node pool slice-{slice}, taint dedicated=ml:NoSchedule" for slice in range(3)),
    }
    kept = {
        (kept_property["resource"].rpartition("/")[2], kept_property["path"]): kept_property
        for kept_property in found["kept"]
    }
    assert kept["demo", "datapathProvider"]["done"] == "replaces"
    assert kept["ml", "maintenancePolicy"]["after"] is None
    labels = kept["xpk-test", "resourceLabels"]
    assert labels["before"] == {"gke_product_type": "xpk"}
    assert labels["after"] == {"gke_product_type": "xpk", "tpuplane-platform": "acme-ml"}
    assert kept["xpk-test", "clusterAutoscaling.autoscalingProfile"]["before"] == "OPTIMIZE_UTILIZATION"
    project.run("tpuplane", "check", "stacks/Pulumi.all.yaml")
    resources = json.loads((project.folder / "stacks" / "import-all.json").read_text())["resources"]
    assert {resource["id"] for resource in resources if "id" in resource} == set(found["adopted"])
