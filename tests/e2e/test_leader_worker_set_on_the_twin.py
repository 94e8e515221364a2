"""LeaderWorkerSet, by the platform of its example on a twin: groups of two hosts, admitted by Kueue."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.e2e.pods import running
from tests.support.eventually import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.long]

EXAMPLE = REPOSITORY / "examples" / "lws-serving"
CONTEXT = "gke_acme-lab_us-central1-b_lab-main"
Groups = dict[str, list[dict[str, Any]]]
GROUP = "leaderworkerset.sigs.k8s.io/group-index"


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[PlatformUnderTest]:
    found = PlatformUnderTest(tmp_path, "leader-worker-set")
    shutil.copy(EXAMPLE / "stacks" / "Pulumi.lab.yaml", found.stack_file)
    with found.taken_down():
        found.twin("build", "--addon", "leaderWorkerSet")
        found.rehearse("--no-sample")
        yield found


def test_a_group_runs_on_one_slice_and_restarts_with_a_lost_host(platform: PlatformUnderTest) -> None:
    wrong = platform.folder / "rejected.yaml"
    wrong.write_text((EXAMPLE / "serve.yaml").read_text().replace("size: 2", "size: 0"))
    rejected = platform.run("kubectl", "--context", CONTEXT, "create", "-f", str(wrong), check=False)
    assert "size must be equal or greater than 1" in rejected.stderr  # the webhook of the real controller

    platform.kubectl(CONTEXT, "apply", "-f", str(EXAMPLE / "serve.yaml"))

    def groups() -> Groups:
        pods = running(platform, CONTEXT, "leaderworkerset.sigs.k8s.io/name=llm", 4, namespace="serving")
        return {
            index: [pod for pod in pods if pod["metadata"]["labels"][GROUP] == index]
            for index in sorted({pod["metadata"]["labels"][GROUP] for pod in pods})
        }

    before = groups()
    pools = {index: {platform.pool_of(CONTEXT, pod) for pod in pods} for index, pods in before.items()}
    assert sorted(map(sorted, pools.values())) == [["server-0"], ["server-1"]]
    workloads = platform.items(CONTEXT, "workloads.kueue.x-k8s.io", "-n", "serving")
    assert [workload["metadata"]["ownerReferences"][0]["kind"] for workload in workloads] == ["LeaderWorkerSet"] * 2
    assert not platform.steps()

    lost = next(index for index, pool in pools.items() if pool == {"server-0"})
    platform.twin("fail", "host", "server-0/1")
    platform.twin("recover", "host", "server-0/1")

    def uids(found: Groups, index: str) -> set[str]:
        return {pod["metadata"]["uid"] for pod in found[index]}

    after = wait_until(groups, lambda found: not uids(found, lost) & uids(before, lost))
    (kept,) = set(before) - {lost}
    assert uids(after, kept) == uids(before, kept)
    platform.destroy()
