"""A cluster that gets another name, one whose deletion ends early, and one that is deleted outside of Pulumi: the
printed remedies are typed.

At the end the platform is deleted by the commands of docs/destroy.md."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.support import BIN
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.eventually import wait_until
from tests.support.pages import DESTROY, script_of

pytestmark = pytest.mark.e2e

CLUSTER: dict[str, Any] = {
    "location": "us-west4-a",
    "deletionProtection": False,
    "namespaces": ["jobs"],
    "pools": {"small": {"generation": "v5e", "topology": "2x2"}},
}
_REGIONAL = ("subnetworks", "routers", "resourcePolicies", "addresses")
FREE = re.compile(r"clusters\.(\w+)\.network\.(\w+): ([\d./]+)")


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformUnderTest]:
    """A cluster with a namespace and a slice, on a twin of its own."""
    made = PlatformUnderTest(tmp_path_factory.mktemp("clusters"), "clusters")
    describe(made, {"old": CLUSTER})
    with made.taken_down():
        made.rehearse("--no-sample")
        yield made


def describe(platform: PlatformUnderTest, clusters: dict[str, Any]) -> None:
    stack = yaml.safe_load(platform.stack_file.read_text())
    described = {"name": "lab", "project": "tpuplane-lab", "clusters": copy.deepcopy(clusters)}
    stack["config"]["tpuplane:platform"] = described
    platform.stack_file.write_text(yaml.safe_dump(stack))


def clusters(platform: PlatformUnderTest) -> list[str]:
    return sorted(cluster["name"] for cluster in platform.status()["clusters"])


def google(platform: PlatformUnderTest, method: str, api: str, path: str) -> dict[str, Any]:
    """The answer of one of Google's APIs."""
    url = platform.variables[f"GOOGLE_{api}_CUSTOM_ENDPOINT"] + path
    headers = {"Authorization": f"Bearer {platform.variables['GOOGLE_OAUTH_ACCESS_TOKEN']}"}
    with urlopen(Request(url, method=method, headers=headers)) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def delete_outside_of_pulumi(platform: PlatformUnderTest) -> None:
    (name,) = clusters(platform)
    google(platform, "DELETE", "CONTAINER", f"projects/tpuplane-lab/locations/us-west4-a/clusters/{name}")
    wait_until(lambda: clusters(platform), lambda found: not found)


def left(platform: PlatformUnderTest) -> list[str]:
    """What Google's APIs list of the project, except what Google itself creates."""
    project = "projects/tpuplane-lab"
    compute = {
        kind: google(platform, "GET", "COMPUTE", f"{project}/{place}/{kind}").get("items", [])
        for place, kinds in (("global", ("networks", "firewalls")), ("regions/us-west4", _REGIONAL))
        for kind in kinds
    }
    found = [(kind, item["name"]) for kind, items in compute.items() for item in items]
    accounts = google(platform, "GET", "IAM_BETA", f"{project}/serviceAccounts").get("accounts", [])
    policy = google(platform, "POST", "RESOURCE_MANAGER", f"{project}:getIamPolicy")
    found += [("account", account["email"]) for account in accounts if "-compute@developer." not in account["email"]]
    found += [("grant", member) for binding in policy.get("bindings", ()) for member in binding["members"]]
    return [f"{kind} {name}" for kind, name in found if not name.startswith("default")] + clusters(platform)


def checked(platform: PlatformUnderTest, *options: str) -> subprocess.CompletedProcess[str]:
    return platform.run(BIN / "tpuplane", "check", platform.stack_file, "--deployed", "local", *options, check=False)


def test_a_renamed_cluster_needs_the_ranges_that_check_prints(platform: PlatformUnderTest) -> None:
    former = clusters(platform)
    describe(platform, {"new": CLUSTER})
    said = checked(platform)
    assert said.returncode == 1
    assert "which exist until the update ends" in said.stderr
    compared = ("diff", "--deployed", "local", platform.stack_file, "--fail-on", "rejected")
    shown = platform.run(BIN / "tpuplane", *compared, check=False)
    assert (shown.returncode, FREE.findall(shown.stdout)) == (4, FREE.findall(said.stderr))

    platform.output("up", "--yes", "--skip-preview", fails=True)
    assert clusters(platform) == former
    afterwards = checked(platform)
    assert (afterwards.returncode, FREE.findall(afterwards.stderr)) == (1, FREE.findall(said.stderr))

    network: dict[str, str] = {}
    for cluster, field, value in FREE.findall(afterwards.stderr):
        assert cluster == "new"
        network[field] = value
    describe(platform, {"new": CLUSTER | {"network": network}})
    assert checked(platform).returncode == 0
    platform.pulumi("up", "--yes", "--skip-preview")
    assert clusters(platform) == ["lab-new"]
    assert checked(platform).returncode == 0


def test_a_platform_is_kept_after_a_destroy_that_ended_early(platform: PlatformUnderTest) -> None:
    platform.twin("fault", "--method", "nodePools.delete", "--kind", "cut", "--count", "always")
    platform.output("destroy", "--yes", "--skip-preview", fails=True)
    platform.twin("fault", "--clear")
    namespace = "kubernetes:core/v1:Namespace"
    assert namespace not in {resource["type"] for resource in platform.resources()}
    said = checked(platform, "--online")
    assert said.returncode == 1
    found = re.search(r"to keep it, run: (\S+=true) (\S+=true) pulumi up --stack local$", said.stderr, re.MULTILINE)
    assert found, said.stderr
    variables = dict(word.split("=") for word in found.groups())
    platform.pulumi("up", "--yes", "--skip-preview", **variables)
    assert namespace in {resource["type"] for resource in platform.resources()}
    assert checked(platform, "--online").returncode == 0
    assert set(platform.steps()) <= {"update"}, "the two settings of the providers"
    platform.pulumi("up", "--yes", "--skip-preview")
    assert not platform.steps()


def test_a_deleted_cluster_is_made_again_by_the_commands_that_check_prints(platform: PlatformUnderTest) -> None:
    (name,) = clusters(platform)
    delete_outside_of_pulumi(platform)

    said = checked(platform, "--online")
    assert said.returncode == 1
    line = next(text for text in said.stderr.splitlines() if f"cluster {name} is in the state" in text)
    found = re.search(r"run: (\w+)=(\w+) pulumi refresh --stack local, then: pulumi up --stack local; see", line)
    assert found, line
    platform.pulumi("refresh", "--yes", "--skip-preview", **{found[1]: found[2]})
    kinds = {resource["type"] for resource in platform.resources()}
    assert not [kind for kind in kinds if kind.startswith(("kubernetes:", "gcp:container/"))]
    platform.pulumi("up", "--yes", "--skip-preview")
    assert clusters(platform) == [name]
    assert not platform.steps()
    (context,) = (cluster["context"] for cluster in platform.status()["clusters"])
    assert "jobs" in platform.kubectl(context, "get", "namespaces", "-o", "name")
    assert len(platform.items(context, "nodes", "-l", "cloud.google.com/gke-tpu-topology=2x2")) == 1
    assert checked(platform, "--online").returncode == 0


def test_a_platform_is_deleted_after_its_cluster(platform: PlatformUnderTest) -> None:
    assert {line.partition(" ")[0] for line in left(platform)} > {"networks", "subnetworks", "routers", "grant"}
    delete_outside_of_pulumi(platform)
    platform.run("bash", "-e", "-c", script_of(DESTROY, "# everything of the stack"))
    assert left(platform) == []
    assert not platform.resources()
