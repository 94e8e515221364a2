"""LeaderWorkerSet, by the platform of its example on a twin: groups of two hosts, admitted by Kueue."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.long]

EXAMPLE = REPOSITORY / "examples" / "lws-serving"
CONTEXT = "gke_acme-lab_us-central1-b_lab-main"
READY = ("Ready", "True")
GROUP = "leaderworkerset.sigs.k8s.io/group-index"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "leader-worker-set")
    shutil.copy(EXAMPLE / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.twin("build", "--addon", "leaderWorkerSet")
        found.rehearse("--no-sample")
        yield found


def brief(condition: dict[str, Any]) -> tuple[str, str]:
    return condition["type"], condition["status"]


def test_a_group_runs_on_one_slice_of_its_team_and_starts_again_as_a_whole(platform: PlatformUnderTest) -> None:
    wrong = platform.folder / "rejected.yaml"
    wrong.write_text((EXAMPLE / "serve.yaml").read_text().replace("size: 2", "size: 0"))
    rejected = platform.run("kubectl", "--context", CONTEXT, "create", "-f", str(wrong), check=False)
    assert "size must be equal or greater than 1" in rejected.stderr  # the webhook of the real controller

    platform.kubectl(CONTEXT, "apply", "-f", str(EXAMPLE / "serve.yaml"))

    pools: dict[str, set[str]] = {}
    for pod in running(platform, CONTEXT, "leaderworkerset.sigs.k8s.io/name=llm", 4, namespace="serving"):
        pools.setdefault(pod["metadata"]["labels"][GROUP], set()).add(platform.pool_of(CONTEXT, pod))
    assert sorted(map(sorted, pools.values())) == [["server-0"], ["server-1"]]
    workloads = platform.items(CONTEXT, "workloads.kueue.x-k8s.io", "-n", "serving")
    assert [workload["metadata"]["ownerReferences"][0]["kind"] for workload in workloads] == ["LeaderWorkerSet"] * 2
    assert not platform.steps()

    def group(uid: str = "") -> dict[str, str]:
        """The Ready pods of the group on the first pool, and their uids; none while `uid` is one of them."""
        pods = [
            pod
            for pod in platform.items(CONTEXT, "pods", "-n", "serving")
            if "deletionTimestamp" not in pod["metadata"]
            and "nodeName" in pod["spec"]
            and platform.pool_of(CONTEXT, pod) == "server-0"
        ]
        found = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
        ready = [any(each == READY for each in map(brief, pod["status"].get("conditions", []))) for pod in pods]
        return found if len(pods) == 2 and all(ready) and uid not in found.values() else {}

    before = group()
    platform.twin("fail", "host", "server-0/0")
    for uid in before.values():  # a lost pod of a group starts the whole group again
        assert wait_until(partial(group, uid)).keys() == before.keys()
    platform.kubectl(CONTEXT, "delete", "-f", str(EXAMPLE / "serve.yaml"), "--wait")
    printed_is_admitted(platform)
    platform.destroy()


def printed_is_admitted(platform: PlatformUnderTest) -> None:
    """What `tpuplane job` prints: each of its two groups is on a slice of its own."""
    options = f"--stack {platform.stack_file} --team serving --slice v6e-2x4 --slices 2 --kind LeaderWorkerSet"
    call = f"{BIN / 'tpuplane'} job {options} --name printed --grace-period 1m --image python:3.11 -- python serve.py"
    applying = f"kubectl --context {CONTEXT} apply --validate=strict -f -"
    platform.run("bash", "-o", "pipefail", "-c", f"{call} | {applying}")
    pools: dict[str, set[str]] = {}
    for pod in running(platform, CONTEXT, "leaderworkerset.sigs.k8s.io/name=printed", 4, namespace="serving"):
        assert pod["spec"]["terminationGracePeriodSeconds"] == 60
        pools.setdefault(pod["metadata"]["labels"][GROUP], set()).add(platform.pool_of(CONTEXT, pod))
    assert sorted(map(sorted, pools.values())) == [["server-0"], ["server-1"]]
    workloads = platform.items(CONTEXT, "workloads.kueue.x-k8s.io", "-n", "serving")
    admitted = [("Admitted", "True") in map(brief, found["status"].get("conditions", ())) for found in workloads]
    assert admitted == [True, True]
    platform.kubectl(CONTEXT, "delete", "leaderworkerset", "-n", "serving", "printed", "--wait")
