"""The status of a twin."""

from __future__ import annotations

from typing import Any


def pool(**fields: Any) -> dict[str, Any]:
    return {
        "name": "trainer",
        "slice": "v6e 4x4",
        "machineType": "ct6e-standard-4t",
        "chips": 16,
        "nodes": 4,
        "nodesReady": 0,
        "capacity": "reservation",
        "status": "ERROR",
        "message": "",
        **fields,
    }


def status(**fields: Any) -> dict[str, Any]:
    return {
        "name": "local",
        "state": "starting",
        "waiting": "",
        "api": "http://127.0.0.1:1",
        "kubernetes": "v1.36.3",
        "processes": [],
        "clusters": [],
        "operations": [],
        "stockouts": [],
        "quotas": [],
        "backoff": [],
        "clockStill": False,
        "incidents": [],
        "faults": [],
        "faultyOperations": [],
        **fields,
    }


def cluster(**fields: Any) -> dict[str, Any]:
    found = {"name": "main", "context": "gke_p_l_main", "location": "us-east5", "status": "RUNNING", "message": ""}
    return {**found, "nodePools": [], "queues": [], "outsideQueues": [], "ray": None, "unread": "", **fields}
