"""LeaderWorkerSet, by the platform of its example on a twin: groups of two hosts, admitted by Kueue."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.e2e.pods import running

pytestmark = [pytest.mark.e2e, pytest.mark.long]

EXAMPLE = REPOSITORY / "examples" / "lws-serving"
CONTEXT = "gke_acme-lab_us-central1-b_lab-main"
GROUP = "leaderworkerset.sigs.k8s.io/group-index"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "leader-worker-set")
    shutil.copy(EXAMPLE / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.twin("build", "--addon", "leaderWorkerSet")
        found.rehearse("--no-sample")
        yield found


def test_a_group_runs_on_one_slice_of_its_team(platform: PlatformUnderTest) -> None:
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
    platform.destroy()
