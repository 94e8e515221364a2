"""One API and one provider per test; a network and a cluster where a test needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.providers.gcp_driver import CLUSTER, NETWORK, SUBNETWORK, Deployed, Driver, cluster_inputs
from tests.support.providers.google_api import GoogleApi, google_api


@pytest.fixture
def api(tmp_path: Path) -> Iterator[GoogleApi]:
    with google_api(tmp_path) as running:
        yield running


@pytest.fixture
def driver(api: GoogleApi) -> Driver:
    return Driver.of(api.config, api.url)


@pytest.fixture
def offline() -> Driver:
    """A configured provider whose API is not served: Check, Diff and a preview send no request."""
    nowhere = "http://127.0.0.1:1"
    return Driver.of(
        {
            "project": "acme",
            "region": "us-central1",
            "accessToken": "t",
            "containerCustomEndpoint": f"{nowhere}/v1beta1/",
            "computeCustomEndpoint": f"{nowhere}/compute/beta/",
            "iamBetaCustomEndpoint": f"{nowhere}/iam/v1/",
            "resourceManagerCustomEndpoint": f"{nowhere}/crm/v1/",
            "artifactRegistryCustomEndpoint": f"{nowhere}/artifactregistry/v1/",
            "filestoreCustomEndpoint": f"{nowhere}/file/v1/",
            "lustreCustomEndpoint": f"{nowhere}/lustre/v1/",
            "serviceNetworkingCustomEndpoint": f"{nowhere}/servicenetworking/v1/",
            "kmsCustomEndpoint": f"{nowhere}/kms/v1/",
            "loggingCustomEndpoint": f"{nowhere}/logging/v2/",
            "monitoringCustomEndpoint": f"{nowhere}/monitoring/",
            "storageCustomEndpoint": f"{nowhere}/storage/v1/",
            "serviceUsageCustomEndpoint": f"{nowhere}/serviceusage/v1beta1/",
        }
    )


@pytest.fixture
def subnetwork(driver: Driver) -> Deployed:
    driver.create(NETWORK, "net", name="net", autoCreateSubnetworks=False)
    return driver.create(
        SUBNETWORK,
        "sub",
        name="sub",
        network="net",
        ipCidrRange="10.0.0.0/20",
        secondaryIpRanges=[
            {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
            {"rangeName": "services", "ipCidrRange": "10.32.0.0/20"},
        ],
    )


@pytest.fixture
def cluster(api: GoogleApi, driver: Driver, subnetwork: Deployed) -> Deployed:
    found = driver.create(CLUSTER, "c1", **cluster_inputs())
    api.requests.clear()
    return found
