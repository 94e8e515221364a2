"""The one form of a quantity is the form that an API server writes."""

from __future__ import annotations

from kubernetes.client import ApiClient, CoreV1Api, V1ObjectMeta, V1ResourceQuota, V1ResourceQuotaSpec
from tpuplane.quantities import canonical

_QUANTITIES = (
    "0",
    "7",
    "11520",
    "12000",
    "1000m",
    "3000000",
    "45Gi",
    "46080Gi",
    "1536Mi",
    "1024Mi",
    "1023Mi",
    "12800Gi",
    "4096Ti",
    "512Ki",
)


def test_quantities_come_back_in_their_one_form(api: ApiClient, namespace: str) -> None:
    hard = {f"count/{number}.example.com": quantity for number, quantity in enumerate(_QUANTITIES)}
    hard["requests.cpu"] = "1500m"
    body = V1ResourceQuota(metadata=V1ObjectMeta(name="forms"), spec=V1ResourceQuotaSpec(hard=hard))
    made = CoreV1Api(api).create_namespaced_resource_quota(namespace, body)
    assert made.spec.hard == {name: canonical(quantity) for name, quantity in hard.items()}
