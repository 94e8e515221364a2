"""What `tpuplane check --online` reads: services, permissions and quota; and how a user takes them away on the twin."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.preflight import Findings, Google, check_online
from tpuplane.spec import load_stack
from tpuplane_twin.shell.environment import google_environment

from tests.support.gcp.twin_api import PROJECT, TOKEN, Api

pytestmark = pytest.mark.twin

LOCAL = Path(__file__).parents[3] / "stacks" / "Pulumi.local.yaml"
SERVICES = f"/serviceusage/v1/projects/{PROJECT}/services"
METRICS = f"/serviceusage/v1beta1/projects/{PROJECT}/services/compute.googleapis.com/consumerQuotaMetrics"
V6E = {"region": "us-central1", "tpu_family": "CT6E"}


@pytest.fixture
def google(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    """The twin, as a shell of it finds it."""
    for name, value in google_environment(api.url, TOKEN).items():
        monkeypatch.setenv(name, value)
    yield Google()


async def compared(google: Google, **changes: Any) -> Findings:
    spec = load_stack(LOCAL).model_copy(update={"project": PROJECT, **changes})
    return await asyncio.to_thread(check_online, spec, plan(spec), google)


def override(metric: str, value: int | str, **dimensions: str) -> dict[str, Any]:
    return {
        "metric": f"compute.googleapis.com/{metric}",
        "overrideValue": str(value),
        **({"dimensions": dimensions} if dimensions else {}),
    }


async def lower(api: Api, *overrides: dict[str, Any]) -> None:
    await api.call("POST", f"{METRICS}:importConsumerOverrides", {"inlineSource": {"overrides": overrides}})


async def test_a_new_project_has_everything(google: Google) -> None:
    found = await compared(google)
    assert found.findings == ()
    assert found.compared == {"APIs": 5, "permissions": 138, "quotas": 5, "reservations": 0, "names": 9}


async def test_what_is_missing_in_the_project_is_found_over_the_wire(api: Api, google: Google) -> None:
    await api.add_network()
    await api.call("POST", f"{SERVICES}/iam.googleapis.com:disable", {})
    await lower(api, override("tpus_per_tpu_family", 16, **V6E), override("cpus", 32))
    found = await compared(google, name="net")
    assert [(finding.check, finding.message) for finding in found.findings] == [
        ("api", "iam.googleapis.com is not enabled in project acme"),
        (
            "quota",
            "72 on-demand chips of v6e, but Google grants 16 in region=us-central1,tpu_family=CT6E "
            "(tpus_per_tpu_family)",
        ),
        ("quota", "144 vCPUs of e2, but Google grants 32 in region=us-central1 (cpus)"),
        ("name", "network net already exists in project acme"),
    ]
    assert found.compared["names"] == 7


async def test_a_disabled_service_rejects_requests_until_it_is_enabled(api: Api) -> None:
    networks = f"/compute/v1/projects/{PROJECT}/global/networks"
    await api.call("POST", f"{SERVICES}/compute.googleapis.com:disable", {})
    message = await api.rejected("GET", networks, None, 403)
    assert message.startswith("compute.googleapis.com has not been used in project ")
    service = await api.call("GET", f"{SERVICES}/compute.googleapis.com")
    assert service["state"] == "DISABLED"
    other = networks.replace(PROJECT, "another")
    await api.call("GET", other)
    await api.call("POST", f"{SERVICES}:batchEnable", {"serviceIds": ["compute.googleapis.com"]})
    await api.call("GET", networks)


async def test_quota_is_unlimited_until_it_is_lowered(api: Api) -> None:
    path = f"{METRICS}/compute.googleapis.com%2Ftpus_per_tpu_family"
    (limit,) = (await api.call("GET", path))["consumerQuotaLimits"]
    assert limit["unit"] == "1/{project}/{region}/{tpu_family}"
    assert limit["quotaBuckets"] == [{"effectiveLimit": "-1"}]
    await lower(api, override("tpus_per_tpu_family", 8, **V6E), override("tpus_per_tpu_family", 64))
    (limit,) = (await api.call("GET", path))["consumerQuotaLimits"]
    buckets = [
        (quota_bucket["effectiveLimit"], quota_bucket.get("dimensions")) for quota_bucket in limit["quotaBuckets"]
    ]
    assert buckets == [("64", {}), ("8", V6E)]
    await api.rejected("GET", f"{METRICS}/compute.googleapis.com%2Fno_such", None, 404)
    for wrong in (
        override("no_such", 1),
        override("cpus", 1, zone="us-central1-a"),
        {"metric": "compute.googleapis.com/cpus"},
        override("cpus", "many"),
    ):
        body = {"inlineSource": {"overrides": [wrong]}}
        await api.rejected("POST", f"{METRICS}:importConsumerOverrides", body, 400)
    await lower(api, override("tpus_per_tpu_family", -1, **V6E))
    (shown,) = (await api.call("GET", "/twin/stockouts"))["quotas"]  # -1: unlimited
    assert shown["overrideValue"] == "64"
