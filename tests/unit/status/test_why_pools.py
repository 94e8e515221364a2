"""`tpuplane why` of jobs whose node pool has no hosts, and a state in Google's API."""

from __future__ import annotations

import pytest

from tests.support.status.recording import NODES, WORKLOADS, item, lists, why

pytestmark = pytest.mark.unit

STOCKOUT = (
    "Google Compute Engine: Not all instances running in IGM after 35.191006793s. Expected 4, running 0, transitioning "
    "4. Current errors: [GCE_STOCKOUT]: Instance 'gke-lab-central1-trainer-0-0a1b2c3d-0000' creation failed: The zone "
    "'projects/lab/zones/us-central1-b' does not have enough resources available to fulfill the request."
)
NO_HOSTS = "couldn't assign flavors to pod set slice: no topology domains at level: cloud.google.com/gke-nodepool"
NOT_READY = (
    "The job starts when hosts of the flavor are ready. If their pool is in ERROR, `tpuplane check FILE --online "
    "--deployed STACK` prints what to run."
)
IN_ZONE = (
    "Google Cloud has no such hosts in this zone now. The autoscaler tries again for an autoscaled pool. Another zone "
    "or capacity helps: a reservation, flex-start, or a compute class with several priorities."
)


@pytest.mark.parametrize(("message", "helps"), [(STOCKOUT, [NOT_READY, IN_ZONE]), ("unknown", [NOT_READY])])
def test_a_fixed_pool_in_error_has_no_hosts(message: str, helps: list[str]) -> None:
    answers = lists()
    answers[NODES] = [node for node in answers[NODES] if "-trainer-" not in node["metadata"]["name"]]
    for condition in item(answers, WORKLOADS, "jobset-waits")["status"]["conditions"]:
        condition["message"] = NO_HOSTS
    pool = {"name": "trainer-0", "status": "ERROR", "conditions": [{"message": message}], "initialNodeCount": 4}
    pool |= {"config": {"machineType": "ct6e-standard-4t"}, "placementPolicy": {"tpuTopology": "4x4"}}
    assert why("research/waits", answers=answers, pools=[pool])["helps"] == helps
