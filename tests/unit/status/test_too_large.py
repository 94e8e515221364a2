"""What pods request, and pods that request more chips than any host of their queue has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tpuplane.status.fitting import Host, Hosts, Pods
from tpuplane.status.objects import PodSpec

from tests.support.status.queues import LOCAL_QUEUE, QUEUE, described, workload

pytestmark = pytest.mark.unit

NO_ROOM = "couldn't assign flavors to pod set s: topology \"slices\" doesn't allow to fit any of 2 pod(s)"
IN_USE = "insufficient unused quota for google.com/tpu in flavor v6e-4x4, 4 more needed"
TOO_LARGE = "requests 8 chips in each pod, but its hosts have 4"
ANY_HOSTS = {"tpuplane-flavor": "v6e-4x4"}
OF_ONE_MACHINE = {**ANY_HOSTS, "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}
COUNT, MACHINE = "cloud.google.com/gke-accelerator-count", "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("spec", "message", "chips", "why"),
    [
        (
            {"nodeLabels": ANY_HOSTS, "topologyName": "slices"},
            NO_ROOM,
            4,
            "quota is free, but no slice is completely free",
        ),
        ({"nodeLabels": ANY_HOSTS, "topologyName": "slices"}, NO_ROOM, 8, TOO_LARGE),
        ({"nodeLabels": ANY_HOSTS, "topologyName": "slices"}, IN_USE, 8, TOO_LARGE),
        ({"nodeLabels": {**OF_ONE_MACHINE, COUNT: "4"}}, IN_USE, 8, TOO_LARGE),
        ({"nodeLabels": {**OF_ONE_MACHINE, MACHINE: "ct6e-standard-4t"}}, IN_USE, 8, TOO_LARGE),
        # Larger hosts may come, or take it.
        ({"nodeLabels": ANY_HOSTS}, IN_USE, 8, "needs 4 more free chips of v6e-4x4"),
        ({"nodeLabels": {**OF_ONE_MACHINE, MACHINE: "ct9z-9t"}}, IN_USE, 8, "needs 4 more free chips of v6e-4x4"),
        ({"nodeLabels": {**OF_ONE_MACHINE, COUNT: "8"}}, IN_USE, 8, "needs 4 more free chips of v6e-4x4"),
        # It does not ask for those that are large enough.
        (
            {"nodeLabels": {"cloud.google.com/gke-nodepool": "other", **OF_ONE_MACHINE, COUNT: "8"}},
            IN_USE,
            8,
            TOO_LARGE,
        ),
    ],
)
def test_a_pod_with_more_chips_than_any_host_shows_the_reason(
    spec: dict[str, Any], message: str, chips: int, why: str
) -> None:
    """Kueue says of it that quota or places are in use: no waiting helps."""
    job = workload("large", "research", QuotaReserved=("False", message))
    pod = job["spec"]["podSets"][0]["template"]["spec"]
    pod["nodeSelector"] = {"cloud.google.com/gke-nodepool": "trainer-0"}
    pod["containers"][0]["resources"]["limits"]["google.com/tpu"] = chips

    def hosts(pool: str, flavor: str, offers: int) -> dict[str, Any]:
        labels = {"cloud.google.com/gke-nodepool": pool, "tpuplane-flavor": flavor}
        return {"metadata": {"name": pool, "labels": labels}, "status": {"capacity": {"google.com/tpu": offers}}}

    flavors = [
        {"metadata": {"name": "v6e-4x4"}, "spec": spec},
        {"metadata": {"name": "cpu"}, "spec": {"nodeLabels": {"tpuplane-flavor": "cpu"}}},
        {"metadata": {"name": "g2-standard-12"}, "spec": {"nodeLabels": {"cloud.google.com/gke-nodepool": "gpus"}}},
        {"metadata": {"name": "v5e-4x8"}, "spec": {"nodeLabels": {**OF_ONE_MACHINE, COUNT: "4"}}},
    ]
    nodes = [hosts("trainer-0", "v6e-4x4", 4), hosts("system", "cpu", 0)]
    (found,) = described([QUEUE], [LOCAL_QUEUE], [job], [], nodes, flavors=flavors)
    assert found["workloads"][0]["why"] == why


def container(policy: str = "", **requests: str) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests}, **({"restartPolicy": policy} if policy else {})}


@pytest.mark.parametrize(
    ("of_init", "of_pod", "expected"),
    [
        ([], {}, {"cpu": 3000}),
        ([container("Always", cpu="1", memory="1k")], {}, {"cpu": 4000, "memory": 10**6}),
        ([container(cpu="2")], {}, {"cpu": 3000}),
        ([container(cpu="5")], {}, {"cpu": 5000}),
        # An init container runs with the sidecars before it.
        ([container("Always", cpu="1"), container(cpu="4")], {}, {"cpu": 5000}),
        ([container(cpu="4"), container("Always", cpu="1")], {}, {"cpu": 4000}),
        ([container("Always", cpu="1")], {"cpu": "8", "memory": "2k"}, {"cpu": 8000, "memory": 2 * 10**6}),
    ],
)
def test_a_pod_requests_what_its_containers_need_at_one_time(
    of_init: list[Any], of_pod: dict[str, str], expected: dict[str, int]
) -> None:
    spec = {"containers": [container(cpu="1"), container(cpu="2")], "initContainers": of_init}
    assert PodSpec.model_validate({**spec, "resources": {"requests": of_pod}}).requests == expected


def test_an_overcommitted_host_takes_no_room_of_other_hosts() -> None:
    hosts = [Host(f"h{free}", {}, (), {"cpu": 4000}, {"cpu": free}) for free in (-2000, 4000)]
    assert Hosts(hosts).block(Pods(4, {}, (), (), {"cpu": 1000})) is None


def test_all_groups_are_in_one_domain() -> None:
    labels = [{"block": block, "rack": f"{block}{number // 2}"} for block in "ab" for number in range(4)]
    hosts = Hosts(Host(f"h{at}", own, (), {"cpu": 1}, {"cpu": 1}) for at, own in enumerate(labels))
    pods = Pods(6, {}, (), (), {"cpu": 1}, "rack", 2)
    assert hosts.block(pods) is None
    block = hosts.block(replace(pods, within="block"))
    assert block is not None
    assert block.message == (
        "hosts have room for 4 of 6 pods; each group of 2 must be on nodes with the same rack; all must be on nodes "
        "with the same block"
    )
