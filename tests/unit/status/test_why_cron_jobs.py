"""`tpuplane why` of a CronJob explains its newest Job; without a Job, it says what the CronJob does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from tpuplane.status.cron_jobs import CronJob
from tpuplane.status.objects import Job
from typer.testing import CliRunner, Result

from tests.support.status.api_server import ApiServer, kubeconfig, serving
from tests.support.status.recording import BATCH, EVENT_LIST, RECORDED, lists

pytestmark = pytest.mark.unit

CRON_JOBS = "/apis/batch/v1/cronjobs"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    meta = {"name": "report", "namespace": "product", "uid": "cron"}
    answers = lists() | {CRON_JOBS: [{"metadata": meta, "spec": {"schedule": "0 3 * * *"}}]}
    with serving(answers, page_size=20) as made:
        made.groups = RECORDED["groups"]
        yield made


def why(server: ApiServer, folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["why", *arguments, "--kubeconfig", str(kubeconfig(folder, server.server_port))])


def explained(server: ApiServer, folder: Path, *arguments: str) -> dict[str, Any]:
    result = why(server, folder, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def job(day: int, *, ended: bool = False) -> dict[str, Any]:
    owner = {"kind": "CronJob", "name": "report", "uid": "cron", "controller": True}
    meta = {"name": f"report-{day}", "namespace": "product", "uid": f"job-{day}", "ownerReferences": [owner]}
    conditions = [{"type": "Complete", "status": "True"}] if ended else []
    meta["creationTimestamp"] = f"2026-11-0{day}T03:00:00Z"
    return {"metadata": meta, "spec": {}, "status": {"conditions": conditions}}


def test_it_explains_the_newest_job_and_names_the_others_that_have_not_ended(server: ApiServer, tmp_path: Path) -> None:
    server.lists[CRON_JOBS][0]["spec"] |= {"timeZone": "Etc/UTC", "concurrencyPolicy": "Forbid"}
    server.lists[BATCH] += [job(1, ended=True), job(3), job(2)]
    found = explained(server, tmp_path, "product/report")
    assert (found["kind"], found["job"], found["state"], found["owner"]) == ("Job", "report-3", "created", "")
    assert found["reasons"][-1] == {
        "source": "CronJob",
        "message": "it is the newest Job of report; schedule 0 3 * * * Etc/UTC, at which it makes no Job while another "
        "one has not ended; other Jobs that have not ended: report-2",
    }
    older = explained(server, tmp_path, "report-2")["reasons"][-1]["message"]
    assert older.startswith("report made it, and later report-3; schedule ")
    assert older.endswith("; other Jobs that have not ended: report-3")


def test_a_cron_job_without_a_job(server: ApiServer, tmp_path: Path) -> None:
    shown = why(server, tmp_path, "report").stdout
    assert "CronJob product/report has no pods" in shown
    assert "it has made no Job yet; schedule 0 3 * * *" in shown
    server.lists[CRON_JOBS][0]["spec"]["suspend"] = True
    server.lists[CRON_JOBS][0]["status"] = {"lastScheduleTime": "2026-11-01T03:00:00Z"}
    found = explained(server, tmp_path, "report", "--kind", "CronJob")
    (reason,) = found["reasons"]
    assert found["state"] == "suspended"
    assert reason["message"].startswith("none of its Jobs exists; its last one is of 2026-11-01T03:00:00Z; schedule ")
    assert reason["message"].endswith("; report is suspended: it makes no further Jobs")
    (resume,) = found["helps"]
    assert resume.startswith("Resume it: kubectl patch CronJob report --namespace product ")


def test_a_job_that_cannot_be_created(server: ApiServer, tmp_path: Path) -> None:
    said = (
        'Error creating job: failed calling webhook "v.acme": failed to call webhook: Post "https://hook.acme-system.svc:'
        '443/v?timeout=3s": service "hook" not found'
    )
    about = {"kind": "CronJob", "namespace": "product", "name": "report", "uid": "cron"}
    event = {"reason": "FailedCreate", "type": "Warning", "message": said, "lastTimestamp": "2026"}
    meta = {"name": "e", "namespace": "product"}
    server.lists[EVENT_LIST].append({"metadata": meta, "involvedObject": about, **event})
    found = explained(server, tmp_path, "report")
    assert {"source": "controller", "message": f"its pods cannot be created: {said}"} in found["reasons"]
    assert "kubectl get services,deployments,pods --namespace acme-system" in found["helps"][0]


def test_a_job_that_changed_between_two_reads_is_not_another_one() -> None:
    cron_job = CronJob.model_validate({"metadata": {"name": "report", "uid": "cron"}, "spec": {"schedule": "@daily"}})
    owner = {"kind": "CronJob", "name": "report", "uid": "cron"}
    job = {"metadata": {"name": "report-1", "uid": "one", "ownerReferences": [owner]}}
    before, now = Job.model_validate(job), Job.model_validate(job | {"status": {"message": "runs"}})
    assert cron_job.described([now], before) == "it is the newest Job of report; schedule @daily"
