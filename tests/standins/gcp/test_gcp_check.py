"""What Check rejects and lets through: measured at the official plugin."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_standins.providers.values import UNKNOWN

from tests.support.providers.gcp_driver import (
    ACCOUNT,
    CLUSTER,
    FIREWALL,
    IAM_MEMBER,
    NETWORK,
    NODE_POOL,
    ROUTER,
    SUBNETWORK,
    Driver,
)

pytestmark = pytest.mark.twin

FILESTORE = "gcp:filestore/instance:Instance"


def ranges(block: str) -> dict[str, Any]:
    return {"location": "us-central1", "clusterIpv4Cidr": block}


def window(start: str) -> dict[str, Any]:
    return {
        "maintenancePolicy": {
            "recurringWindow": {"startTime": start, "endTime": "2026-01-01T04:00:00Z", "recurrence": "FREQ=DAILY"}
        }
    }


def filestore(**more: Any) -> dict[str, Any]:
    return {
        "tier": "ZONAL",
        "location": "us-central1-b",
        "fileShares": {"name": "share", "capacityGb": 1024},
        "networks": [{"network": "net", "modes": ["MODE_IPV4"]}],
        **more,
    }


def pool_config(**more: Any) -> dict[str, Any]:
    return {"nodeConfig": {"machineType": "ct6e-standard-4t", **more}}


@pytest.mark.parametrize(
    ("token", "inputs", "message"),
    [
        (
            NODE_POOL,
            {"autoscaling": {"locationPolicy": "SOME"}},
            'expected autoscaling.0.location_policy to be one of ["BALANCED" "ANY"], got SOME. '
            "Examine values at 'x.autoscaling.locationPolicy'.",
        ),
        (NODE_POOL, {"autoscaling": {"minNodeCount": -1}}, "to be at least (0), got -1"),
        (NODE_POOL, {"upgradeSettings": {"strategy": "FAST"}}, "upgrade_settings.0.strategy to be one of"),
        (
            NODE_POOL,
            pool_config(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
            "Examine values at 'x.nodeConfig.taints[0].effect'.",
        ),
        (
            NODE_POOL,
            pool_config(reservationAffinity={"consumeReservationType": "SOME"}),
            "consume_reservation_type to be one of",
        ),
        (NODE_POOL, pool_config(machine="x"), "Invalid or unknown key. Examine values at 'x.nodeConfig.machine'."),
        (NODE_POOL, {"placementPolicy": {"tpuTopology": "4x4"}}, "Missing required property 'placementPolicy.type'"),
        (NODE_POOL, {"nodeCount": "four"}, "expected number type, got string type. Examine values at 'x.nodeCount'."),
        (NODE_POOL, {"instanceGroupUrls": []}, "Examine values at 'x.instanceGroupUrls'."),
        (CLUSTER, {"releaseChannel": {"channel": "FAST"}}, "release_channel.0.channel to be one of"),
        (CLUSTER, {"datapathProvider": "FAST"}, "datapath_provider to be one of"),
        (CLUSTER, {"name": "c" * 41}, '"name" cannot be longer than 40 characters'),
        (CLUSTER, {"name": "C1"}, '"name" can only contain lowercase letters, numbers and hyphens'),
        (
            CLUSTER,
            {"enableAutopilot": True, "removeDefaultNodePool": True},
            'Conflicting configuration arguments. "remove_default_node_pool": conflicts with enable_autopilot',
        ),
        (NETWORK, {"name": "Net"}, "doesn't match regexp"),
        (SUBNETWORK, {"network": "net", "ipCidrRange": "10.0.0.0"}, "is not a valid IP CIDR range"),
        (ACCOUNT, {"accountId": "abc"}, "doesn't match regexp"),
        (IAM_MEMBER, {"project": "p", "role": "r", "member": "bob"}, "IAM members must have one of the values"),
        (IAM_MEMBER, {"project": "p", "role": "r"}, "Missing required property 'member'"),
        (NODE_POOL, {"namePrefix": "p" * 32}, '"name_prefix" cannot be longer than 31 characters'),
        (CLUSTER, window("2026-01-01T00:00:00"), '("2026-01-01T00:00:00") is not a valid RFC3339 date'),
        (CLUSTER, ranges("240.0.0.0/14"), 'expected "cluster_ipv4_cidr" to be an RFC1918-compliant CIDR'),
        (CLUSTER, ranges("198.18.0.0/15"), 'expected "cluster_ipv4_cidr" to be an RFC1918-compliant CIDR'),
        (CLUSTER, ranges("10.0.0.1/14"), "to be a valid network Value, expected 10.0.0.0/14, got 10.0.0.1/14"),
        (CLUSTER, ranges("8.0.0.0/7"), "with between 8 and 32 significant bits, got: 7"),
        (ROUTER, {"network": "net", "bgp": {"asn": 1}}, "to be a RFC6996-compliant Local ASN"),
        (FIREWALL, {"network": "net"}, '"allow": one of `allow,deny` must be specified'),
        (FILESTORE, filestore(protocol="NFS4"), "expected protocol to be one of"),
        (FILESTORE, filestore(networks=[]), "Attribute networks requires 1 item minimum"),
        (
            FILESTORE,
            filestore(directoryServices={"ldap": {"domain": "d"}}),
            "Missing required property 'directoryServices.ldap.servers'",
        ),
    ],
)
def test_check_rejects(offline: Driver, token: str, inputs: dict[str, Any], message: str) -> None:
    base = {"cluster": "c1"} if token == NODE_POOL else {}
    failures = offline.failures(token, "x", {**base, **inputs})
    assert any(message in failure for failure in failures), failures


@pytest.mark.parametrize(
    "inputs",
    [
        {"placementPolicy": {"type": "COMPACT", "tpuTopology": "banana"}},
        {"placementPolicy": {"type": "NOPE"}},
        pool_config(machineType="ct9-standard-1t"),
        {"autoscaling": {"minNodeCount": 5, "maxNodeCount": 1}},
        {"autoscaling": {"maxNodeCount": 1, "totalMaxNodeCount": 1}},
        {"location": "atlantis"},
        pool_config(flexStart=True, spot=True, maxRunDuration="long"),
        {"nodeCount": "4"},
        {"nodeCount": UNKNOWN},
    ],
)
def test_check_lets_through(offline: Driver, inputs: dict[str, Any]) -> None:
    assert offline.failures(NODE_POOL, "x", {"cluster": "c1", **inputs}) == []


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (CLUSTER, window("2026-01-01T00:00:00.5+01:00")),
        (CLUSTER, ranges("172.16.0.0/14")),
        (CLUSTER, {**ranges("10.0.0.0/14"), "ipAllocationPolicy": UNKNOWN}),
        (CLUSTER, {**ranges(UNKNOWN), "ipAllocationPolicy": {}}),
        (ROUTER, {"network": "net", "bgp": {"asn": 16550}}),
        (FIREWALL, {"network": "net", "allows": UNKNOWN, "denies": UNKNOWN}),
        (FIREWALL, {"network": "net", "allows": [{"protocol": "tcp"}], "denies": UNKNOWN}),
        (FILESTORE, filestore(directoryServices={"ldap": {"domain": "d", "servers": ["s"]}})),
    ],
)
def test_check_lets_through_what_is_valid_or_not_known(offline: Driver, token: str, inputs: dict[str, Any]) -> None:
    assert offline.failures(token, "x", inputs) == []
