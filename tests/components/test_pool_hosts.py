"""Node pools of a fixed size that lack hosts: an error of the preview, and a failed update."""

from __future__ import annotations

from typing import Any, cast

import pulumi
import pytest
from tpuplane import Platform, PlatformArgs

from tests.support.components.deployment import RecordingMonitor, deploy, deploy_platform

pytestmark = pytest.mark.components

VARIABLE = "TPUPLANE_MISSING_HOSTS"
SLICE = {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
HOSTS = {**SLICE, "topology": "2x2", "slices": 2}
DESCRIPTION = {
    "name": "lab",
    "project": "acme-lab",
    "clusters": {
        "main": {
            "location": "us-central1",
            "existing": {"name": "theirs"},
            "pools": {
                "trainer": {**SLICE, "slices": 2},
                "eval": HOSTS,
                "spare": {**SLICE, "autoscaling": {"minSlices": 0, "maxSlices": 1}},
            },
        }
    },
}
ALL = {"trainer-0": 4, "trainer-1": 4, "eval": 2, "spare-0": 0}


def errors(log: pytest.LogCaptureFixture, **hosts: int | None) -> list[str]:
    log.clear()
    deploy_platform(DESCRIPTION, preview=True, hosts={**ALL, **hosts})
    return [record.getMessage() for record in log.records if record.levelname == "ERROR"]


def test_a_slice_without_its_hosts_is_an_error_of_the_preview_which_continues(caplog: pytest.LogCaptureFixture) -> None:
    (message,) = errors(caplog, **{"trainer-1": 0})
    assert message.startswith("node pool trainer-1 has 0 of 4 hosts. Nothing can run on this slice. ")
    assert "`tpuplane check FILE --online --deployed`" in message
    assert "pulumi up --replace '**::platform-main-trainer-1'. " in message
    assert len(message) <= 300  # as much as the plan gate shows


@pytest.mark.parametrize("hosts", [{}, {"eval": 1}, {"spare-0": 4}])
def test_a_pool_that_this_update_resizes_and_an_autoscaled_one_are_no_errors_of_the_preview(
    caplog: pytest.LogCaptureFixture, hosts: dict[str, int]
) -> None:
    assert errors(caplog, **hosts) == []


def test_pools_that_do_not_exist_yet_are_not_read(caplog: pytest.LogCaptureFixture) -> None:
    deploy_platform(DESCRIPTION, preview=True)
    deploy_platform(DESCRIPTION)
    assert not caplog.records


def test_hosts_that_cannot_be_read_are_an_error_of_the_preview(caplog: pytest.LogCaptureFixture) -> None:
    (message,) = errors(caplog, eval=-1)
    assert message.startswith("the hosts of node pools in us-central1-b cannot be read: ")
    assert "denied" in message


def test_a_pool_without_its_instance_group_is_an_error_of_the_preview(caplog: pytest.LogCaptureFixture) -> None:
    (message,) = errors(caplog, eval=None)
    assert message == "the hosts of node pool eval cannot be read: its instance group does not exist"


def test_all_pools_of_a_zone_are_read_by_one_request() -> None:
    monitor = RecordingMonitor(ALL)
    deploy(lambda: Platform("platform", cast(PlatformArgs, DESCRIPTION)), preview=True, monitor=monitor)
    assert monitor.google.zones == ["us-central1-b"]


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ({"trainer-0": 3}, ["node pool trainer-0 has 3 of 4 hosts. Nothing can run on this slice. "]),
        ({"eval": 1}, ["node pool eval has 1 of 2 hosts. Work runs on the others only. "]),
        ({"trainer-0": 0, "eval": 0}, ["node pool trainer-0 has 0 of 4 hosts.", "node pool eval has 0 of 2 hosts."]),
    ],
)
def test_an_update_fails_with_every_pool_after_it_has_registered_everything(
    hosts: dict[str, int], found: list[str]
) -> None:
    with pytest.raises(pulumi.RunError) as failed:
        deploy_platform(DESCRIPTION, hosts={**ALL, **hosts})
    for line, start in zip(str(failed.value).splitlines(), found, strict=True):
        assert line.startswith(start)


def test_an_update_fails_if_hosts_cannot_be_read() -> None:
    with pytest.raises(pulumi.RunError, match=r"node pools in us-central1-b cannot be read: .*denied"):
        deploy_platform(DESCRIPTION, hosts={**ALL, "eval": -1})


def test_an_update_with_all_hosts_succeeds() -> None:
    deploy_platform(DESCRIPTION, hosts=ALL)


def test_a_variable_makes_them_warnings(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "warn")
    deployed: Any = deploy_platform(DESCRIPTION, hosts={**ALL, "eval": 1})
    (record,) = (found for found in caplog.records if found.name == "root")
    assert (record.levelname, record.getMessage()[:31]) == ("WARNING", "node pool eval has 1 of 2 hosts")
    assert deployed.all(":NodePool")
    monkeypatch.setenv(VARIABLE, "off")
    with pytest.raises(pulumi.RunError, match=f"{VARIABLE}=off: not a level; allowed: error, warn"):
        deploy_platform(DESCRIPTION)
