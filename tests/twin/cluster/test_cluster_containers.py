"""What a container is as a process, and which images are known. Pure."""

from __future__ import annotations

from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import pytest
from tpuplane_twin.cluster.api import Object
from tpuplane_twin.pods import container
from tpuplane_twin.pods import dns as names
from tpuplane_twin.pods.images import Images

pytestmark = pytest.mark.unit


def pod(image: str = "registry.k8s.io/kueue/kueue:v0.18.3", **first: object) -> Object:
    return {
        "metadata": {"name": "a-0", "namespace": "team", "uid": "1", "labels": {"app": "a"}},
        "spec": {"nodeName": "node", "containers": [{"name": "a", "image": image, **first}]},
        "status": {"podIP": "10.64.0.2"},
    }


@pytest.mark.parametrize(
    ("reference", "tool"),
    [
        ("registry.k8s.io/kueue/kueue:v0.18.3", "kueue"),
        ("kueue/kueue", "kueue"),
        ("localhost:5000/mirror/jobset/jobset:v0.12.0", "jobset"),
        ("quay.io/kuberay/operator:v1.6.2@sha256:0123", "kuberay"),
        ("registry.k8s.io/kueue/kueueviz-backend:v0.18.3", None),
        ("example.com/notkueue/kueue:v0.18.3", None),
        ("busybox", None),
    ],
)
def test_an_image_is_known_by_the_end_of_its_repository(reference: str, tool: str | None) -> None:
    found = Images().of(pod(reference))
    assert (found.tool if found else None) == tool


def test_an_image_runs_only_as_the_version_that_the_twin_has() -> None:
    (kueue,) = [image for image in Images().known if image.tool == "kueue"]
    assert kueue.rejection("registry.k8s.io/kueue/kueue:v0.18.3") is None
    assert kueue.rejection("registry.k8s.io/kueue/kueue:v0.18.3@sha256:0123") is None
    for other in ("registry.k8s.io/kueue/kueue:v0.15.0", "kueue/kueue:release-0.18"):
        message = kueue.rejection(other)
        assert message is not None
        assert message.startswith(f"{other} is another version: the twin has kueue v0.18.3")
    for unnamed in ("kueue/kueue", "localhost:5000/kueue/kueue", "kueue/kueue@sha256:0123"):
        message = kueue.rejection(unnamed)
        assert message is not None
        assert message.startswith(f"{unnamed} names no version")


def test_the_environment_is_what_the_container_says_in_its_order() -> None:
    first: Object = {
        "name": "a",
        "resources": {"limits": {"cpu": "2"}},
        "envFrom": [{"prefix": "P_", "configMapRef": {"name": "c"}}, {"secretRef": {"name": "no", "optional": True}}],
        "env": [
            {"name": "PLAIN", "value": "x"},
            {"name": "BOTH", "value": "$(PLAIN)-$(P_k)-$(UNKNOWN)-$$(PLAIN)"},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}},
            {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "no", "optional": True}}},
        ],
    }
    assert container.sources(first) == {("configMap", "c"), ("secret", "no"), ("secret", "s")}
    keys = {("configMap", "c"): {"k": "v"}, ("secret", "s"): {"password": "p"}}
    assert container.environment(pod(), first, {"HOME": "/"}, keys, {}) == {
        "HOME": "/",
        "P_k": "v",
        "PLAIN": "x",
        "BOTH": "x-v-$(UNKNOWN)-$(PLAIN)",
        "IP": "10.64.0.2",
        "APP": "a",
        "CPU": "2",
        "KEY": "p",
    }


@pytest.mark.parametrize(
    ("keys", "message"),
    [({}, 'secret "s" not found'), ({("secret", "s"): {}}, "couldn't find key password in secret s")],
)
def test_a_key_that_is_missing_is_named(keys: dict[tuple[str, str], dict[str, str]], message: str) -> None:
    entry = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}}
    with pytest.raises(KeyError, match=message):
        container.environment(pod(), {"name": "a", "env": [entry]}, {}, keys, {})


def test_the_command_is_the_images_where_the_container_has_none() -> None:
    first = {"name": "a", "args": ["--level=$(LEVEL)"]}
    assert container.command(first, "/manager", {"LEVEL": "2"}) == ["/manager", "--level=2"]
    assert container.command({**first, "command": ["/other"]}, "/manager", {}) == ["/other", "--level=$(LEVEL)"]


def test_mounts_are_volumes_or_parts_of_them() -> None:
    first = {
        "name": "a",
        "volumeMounts": [
            {"name": "config", "mountPath": "/config.yaml", "subPath": "config.yaml"},
            {"name": "certs", "mountPath": "/certs", "readOnly": True},
            {"name": "scratch", "mountPath": "/scratch", "subPathExpr": "of/$(POD)"},
        ],
    }
    assert container.mounts(first, {"POD": "a-0"}, lambda name, path: Path("/v") / name / path, {"config"}) == [
        {"source": "/v/config/config.yaml", "target": "/config.yaml", "readOnly": True},
        {"source": "/v/certs", "target": "/certs", "readOnly": True},
        {"source": "/v/scratch/of/a-0", "target": "/scratch", "readOnly": False},
    ]


def test_a_part_of_a_volume_that_names_no_variable_is_rejected() -> None:
    mount = {"name": "scratch", "mountPath": "/scratch", "subPathExpr": "of/$(NOBODY)"}
    with pytest.raises(
        KeyError, match=r"volume scratch: subPathExpr of/\$\(NOBODY\): the variable NOBODY does not exist"
    ):
        container.mounts({"volumeMounts": [mount]}, {}, lambda name, path: Path(path), ())


RESOURCES = {"limits": {"memory": "2Gi", "cpu": "500m"}, "requests": {"cpu": "1500m"}}


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"resource": "limits.memory"}, "2147483648"),
        ({"resource": "limits.memory", "divisor": "0"}, "2147483648"),
        ({"resource": "limits.memory", "divisor": "1Mi"}, "2048"),
        ({"resource": "limits.cpu"}, "1"),
        ({"resource": "limits.cpu", "divisor": "1m"}, "500"),
        ({"resource": "requests.cpu"}, "2"),
        ({"resource": "requests.memory"}, "0"),
        ({"resource": "limits.ephemeral-storage"}, "1000000000"),
        ({"resource": "limits.cpu", "containerName": "beside"}, "4"),
        ({"resource": "requests.memory", "containerName": "before", "divisor": "1Ki"}, "64"),
    ],
)
def test_a_resource_is_a_whole_number_of_its_divisor(reference: Object, value: str) -> None:
    item = pod(resources=RESOURCES)
    item["spec"]["containers"].append({"name": "beside"})
    item["spec"]["initContainers"] = [{"name": "before", "resources": {"requests": {"memory": "64Ki"}}}]
    first = item["spec"]["containers"][0]
    first["env"] = [{"name": "IT", "valueFrom": {"resourceFieldRef": reference}}]
    allocatable = {"cpu": "3920m", "memory": "16Gi", "ephemeral-storage": "1G"}
    assert container.environment(item, first, {}, {}, allocatable) == {"IT": value}


class Names:
    def addresses(self, namespace: str, name: str) -> list[str]:
        return ["10.32.0.9"] if (namespace, name) == ("team", "head") else []

    def host(self, namespace: str, name: str, host: str) -> list[str]:
        return ["10.64.0.2", "10.64.0.3"] if (namespace, name, host) == ("team", "workers", "zero") else []


@pytest.mark.parametrize(
    ("name", "kind", "code", "addresses"),
    [
        ("head.team.svc.cluster.local", "A", "NOERROR", ["10.32.0.9"]),
        ("HEAD.team.svc.cluster.local.", "A", "NOERROR", ["10.32.0.9"]),
        ("head.team.svc.cluster.local", "AAAA", "NOERROR", []),
        ("zero.workers.team.svc.cluster.local", "A", "NOERROR", ["10.64.0.2", "10.64.0.3"]),
        ("one.workers.team.svc.cluster.local", "A", "NXDOMAIN", []),
        ("head.other.svc.cluster.local", "A", "NXDOMAIN", []),
        ("head.team", "A", "NXDOMAIN", []),
        ("example.com", "A", "NXDOMAIN", []),
    ],
)
def test_names_of_the_cluster_resolve_and_no_others(name: str, kind: str, code: str, addresses: list[str]) -> None:
    query = dns.message.make_query(name, kind)
    wire = names.answer(query.to_wire(), Names())
    assert wire is not None
    answer = dns.message.from_wire(wire)
    assert answer.id == query.id
    assert dns.rcode.to_text(answer.rcode()) == code
    assert sorted(str(record) for found in answer.answer for record in found) == addresses


@pytest.mark.parametrize(("payload", "count"), [(None, 128), (100, 28), (512, 28), (1232, 73), (4096, 128)])
def test_an_answer_has_as_many_addresses_as_the_client_takes(payload: int | None, count: int) -> None:
    class Workers(Names):
        def addresses(self, namespace: str, name: str) -> list[str]:
            return [f"10.64.0.{number}" for number in range(128)]

    query = dns.message.make_query("workers.team.svc.cluster.local", "A")
    if payload is not None:
        query.use_edns(0, 0, payload)
    wire = names.answer(query.to_wire(), Workers())
    assert wire is not None
    assert len(wire) <= max(512, payload or 65_507)
    answer = dns.message.from_wire(wire)
    assert sum(len(found) for found in answer.answer) == count
    assert not answer.flags & dns.flags.TC


def test_what_is_no_query_is_not_answered() -> None:
    assert names.answer(b"\x00\x01", Names()) is None
