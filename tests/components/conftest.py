"""Descriptions that the component tests deploy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import Deployment, deploy_platform

Description = dict[str, Any]


def _lab() -> Description:
    """One regional cluster; every kind of pool; a namespace."""
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "labels": {"environment": "test"},
        "clusters": {
            "central1": {
                "location": "us-central1",
                "namespaces": ["research"],
                "pools": {
                    "trainer": {"generation": "v6e", "topology": "4x4", "slices": 2},
                    "burst": {
                        "generation": "v5e",
                        "topology": "4x4",
                        "capacity": "spot",
                        "autoscaling": {"minSlices": 1, "maxSlices": 2},
                    },
                    "notebooks": {"generation": "v6e", "topology": "2x2", "slices": 3},
                    "serving": {"generation": "v6e", "topology": "1x1", "autoscaling": {"maxSlices": 5}},
                    "ironwood": {"generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"},
                    "ironwood-eval": {"generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"},
                },
            }
        },
    }


def _two_clusters() -> Description:
    """The lab and a zonal cluster with a public endpoint and no Ray."""
    lab = _lab()
    lab["clusters"]["central2"] = {
        "location": "us-central2-b",
        "deletionProtection": False,
        "addons": {"ray": {"mode": "none"}},
        "namespaces": ["research"],
        "network": {"nodesCidr": "10.0.16.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.32.16.0/20"},
        "controlPlane": {
            "publicEndpoint": True,
            "masterCidr": "172.16.0.0/28",
            "authorizedNetworks": [{"cidr": "203.0.113.0/24", "name": "office"}],
        },
        "pools": {"cubes": {"generation": "v4", "topology": "2x2x2"}},
    }
    return lab


@pytest.fixture
def lab() -> Description:
    """One regional cluster; every kind of pool; a namespace."""
    return _lab()


@pytest.fixture
def two_clusters() -> Description:
    """The lab and a zonal cluster with a public endpoint and no Ray."""
    return _two_clusters()


@pytest.fixture(scope="session")
def deployed() -> Deployment:
    """Both clusters, deployed once: what was registered is only ever read."""
    return deploy_platform(_two_clusters())
