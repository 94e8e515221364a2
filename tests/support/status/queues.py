"""Objects of Kueue, as an API server has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml
from tpuplane.status.owners import Owners
from tpuplane.status.queues import describe_queues

from tests.support import TESTS
from tests.support.status.api_server import KUEUE, parsed
from tests.support.status.recording import item, lists

Raw = list[dict[str, Any]]


def described(
    queues: Raw,
    local_queues: Raw,
    workloads: Raw,
    pods: Raw,
    nodes: Raw,
    *,
    flavors: Iterable[Any] = (),
    placing: Any = None,
) -> list[dict[str, Any]]:
    """`describe_queues` of objects as an API server has them."""
    raw = {"queues": queues, "local_queues": local_queues, "workloads": workloads, "pods": pods, "nodes": nodes}
    every = {name: parsed(name, those) for name, those in {**raw, "flavors": flavors}.items()}
    return describe_queues(**every, placing=placing, owners=Owners({"Pod": every["pods"]}))


WORDS = yaml.safe_load((TESTS / "unit/status/kueue_messages.yaml").read_text(encoding="utf-8"))


def workload(name: str, team: str, **conditions: tuple[str, str]) -> dict[str, Any]:
    """The recorded workload of a JobSet, with two pods of four chips each and these conditions."""
    made: dict[str, Any] = item(lists(), KUEUE + "workloads", "jobset-giant")
    (owner,), (pods,) = made["metadata"]["ownerReferences"], made["spec"]["podSets"]
    made["metadata"] |= {"name": f"jobset-{name}", "namespace": team, "uid": f"jobset-{name}"}
    made["metadata"] |= {
        "creationTimestamp": "2026-11-21T10:00:00Z",
        "ownerReferences": [owner | {"name": name, "uid": name}],
    }
    made["spec"]["priority"] = 500
    del pods["topologyRequest"], pods["template"]["spec"]["nodeSelector"]
    pods["count"] = 2
    pods["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "8"},
        "limits": {"google.com/tpu": "4"},
    }
    made["status"] = {
        "conditions": [
            {"type": kind, "status": status, "message": message, "lastTransitionTime": "2026-11-21T10:00:01Z"}
            for kind, (status, message) in conditions.items()
        ]
    }
    return made


QUEUE = {
    "metadata": {"name": "research"},
    "spec": {
        "cohortName": "lab",
        "resourceGroups": [
            {
                "flavors": [
                    {
                        "name": "v6e-4x4",
                        "resources": [
                            {"name": "google.com/tpu", "nominalQuota": "16"},
                            {"name": "cpu", "nominalQuota": "720"},
                            {"name": "memory", "nominalQuota": "64Gi"},
                        ],
                    },
                    {"name": "g2-standard-12", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]},
                    {
                        "name": "cpu",
                        "resources": [
                            {"name": "google.com/tpu", "nominalQuota": "0"},
                            {"name": "cpu", "nominalQuota": "24"},
                        ],
                    },
                    {"name": "v5e-4x8", "resources": [{"name": "google.com/tpu", "nominalQuota": "0"}]},
                ]
            }
        ],
    },
    "status": {
        "conditions": [{"type": "Active", "status": "True", "message": "Can admit new workloads"}],
        "flavorsReservation": [
            {"name": "v6e-4x4", "resources": [{"name": "google.com/tpu", "total": "24", "borrowed": "8"}]},
            {"name": "cpu", "resources": [{"name": "cpu", "total": "1500m"}]},
        ],
    },
}

LOCAL_QUEUE = {"metadata": {"name": "default", "namespace": "research"}, "spec": {"clusterQueue": "research"}}

NODES = [
    {"metadata": {"name": node, "labels": {"cloud.google.com/gke-nodepool": "trainer-0"}}} for node in ("n0", "n1")
]
