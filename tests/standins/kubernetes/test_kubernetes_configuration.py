"""Which cluster the provider works on, and what it does when there is none."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto import provider_pb2
from tpuplane_standins.providers.values import UNKNOWN, decode_struct, encode_struct

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.providers.kubernetes_driver import Driver, Rejected, Resource, urn

pytestmark = pytest.mark.twin

PROVIDER = urn("pulumi:providers:kubernetes")
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}


def kubeconfig(server: str, **user: Any) -> str:
    return yaml.safe_dump(
        {
            "current-context": "here",
            "contexts": [
                {"name": "here", "context": {"cluster": "one", "user": "me"}},
                {"name": "there", "context": {"cluster": "two", "user": "me", "namespace": "team"}},
            ],
            "clusters": [
                {"name": "one", "cluster": {"server": server}},
                {"name": "two", "cluster": {"server": "https://two.example"}},
            ],
            "users": [{"name": "me", "user": user or {"token": "secret"}}],
        }
    )


def unserved() -> str:
    """An address of this machine at which no process listens."""
    return "https://127.0.0.1:1"


def diff_config(provider: Driver, olds: dict[str, Any], news: dict[str, Any]) -> tuple[list[str], list[str]]:
    request = provider_pb2.DiffRequest(urn=PROVIDER, olds=encode_struct(olds), news=encode_struct(news))
    response = provider.call("DiffConfig", request)
    return list(response.diffs), list(response.replaces)


def test_unreachable_cluster_can_be_previewed_but_not_changed(fresh: Driver) -> None:
    fresh.configure(kubeconfig=kubeconfig(unserved()))
    resource = fresh.check(CONFIG_MAP, OBJECT)
    previewed = fresh.create(resource, preview=True)
    assert previewed.state == resource.inputs
    with pytest.raises(
        Rejected, match="configured Kubernetes cluster is unreachable: unable to load schema"
    ) as rejected:
        fresh.create(resource)
    assert "refused" in str(rejected.value)
    existing = Resource(resource.urn, resource.inputs, resource.inputs, "default/a")
    with pytest.raises(Rejected, match="failed to read resource state due to unreachable cluster"):
        fresh.read(existing)
    with pytest.raises(Rejected, match="PULUMI_K8S_DELETE_UNREACHABLE"):
        fresh.delete(existing)


def test_objects_of_an_unreachable_cluster_can_be_forgotten(fresh: Driver) -> None:
    fresh.configure(kubeconfig=kubeconfig(unserved()), deleteUnreachable="true")
    existing = Resource(urn(CONFIG_MAP), OBJECT, OBJECT, "default/a")
    assert fresh.read(existing).id == ""
    fresh.delete(existing)


def test_objects_of_an_unreachable_cluster_can_be_left_alone(fresh: Driver) -> None:
    fresh.configure(kubeconfig=kubeconfig(unserved()), skipUpdateUnreachable="true")
    existing = Resource(urn(CONFIG_MAP), OBJECT, OBJECT | {"data": {"a": "1"}}, "default/a")
    assert fresh.read(existing).state == existing.state
    assert fresh.check(CONFIG_MAP, OBJECT | {"data": {"b": "2"}}, olds=OBJECT).inputs == OBJECT


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("nothing: here", "invalid configuration: no configuration has been provided"),
        ("/no/such/file", "failed to parse kubeconfig data in `kubernetes:config:kubeconfig`"),
        (
            kubeconfig("https://one").replace("current-context: here", "current-context: gone"),
            'context "gone" does not',
        ),
    ],
)
def test_kubeconfig_that_leads_nowhere(fresh: Driver, written: str, said: str) -> None:
    fresh.configure(kubeconfig=written)
    with pytest.raises(Rejected) as rejected:
        fresh.create(fresh.check(CONFIG_MAP, OBJECT))
    assert said in str(rejected.value)


def test_kubeconfig_as_a_path_with_relative_files(fresh: Driver, control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig())
    (tmp_path / "ca.crt").write_bytes(control_plane.ca_certificate.read_bytes())
    config["clusters"][0]["cluster"] = {"server": control_plane.server, "certificate-authority": "ca.crt"}
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    fresh.configure(kubeconfig=str(tmp_path / "config"))
    assert fresh.read(Resource(urn("kubernetes:core/v1:Namespace"), {}, {}, "default")).id == "default"


def test_credential_plugin_runs_once_per_token(fresh: Driver, control_plane: ControlPlane, tmp_path: Path) -> None:
    calls, plugin = tmp_path / "calls", tmp_path / "plugin"
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "status": {"token": control_plane.token},
    }
    plugin.write_text(f"#!{sys.executable}\nopen({str(calls)!r}, 'a').write('x')\nprint({json.dumps(credential)!r})\n")
    plugin.chmod(stat.S_IRWXU)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": str(plugin),
            "provideClusterInfo": True,
            "interactiveMode": "Never",
        }
    }
    fresh.configure(kubeconfig=control_plane.kubeconfig(**user))
    for _ in range(3):
        assert fresh.read(Resource(urn("kubernetes:core/v1:Namespace"), {}, {}, "default")).id == "default"
    assert calls.read_text() == "x"


def test_credential_plugin_that_is_missing(fresh: Driver, control_plane: ControlPlane) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "/no/gke-gcloud-auth-plugin"}}
    fresh.configure(kubeconfig=control_plane.kubeconfig(**user))
    with pytest.raises(Rejected, match=r"unreachable: getting credentials: .*/no/gke-gcloud-auth-plugin"):
        fresh.create(fresh.check(CONFIG_MAP, OBJECT))


def test_cluster_identifier_alone_decides_on_replacement(fresh: Driver) -> None:
    old = {"kubeconfig": kubeconfig("https://one"), "clusterIdentifier": "c1"}
    moved = old | {"kubeconfig": kubeconfig("https://moved")}
    assert diff_config(fresh, old, old) == ([], [])
    assert diff_config(fresh, old, moved) == (["kubeconfig"], [])
    assert diff_config(fresh, old, old | {"kubeconfig": UNKNOWN}) == (["kubeconfig"], [])
    assert diff_config(fresh, old, moved | {"clusterIdentifier": "c2"})[1][:1] == ["clusterIdentifier"]


def test_without_identifier_another_active_cluster_replaces(fresh: Driver) -> None:
    old = {"kubeconfig": kubeconfig("https://one")}
    assert diff_config(fresh, old, {"kubeconfig": kubeconfig("https://moved")}) == (["kubeconfig"], ["kubeconfig"])
    assert diff_config(fresh, old, {"kubeconfig": kubeconfig("https://one", token="new")}) == (["kubeconfig"], [])
    assert diff_config(fresh, old, old | {"context": "there"}) == (["context"], ["context"])
    assert diff_config(fresh, old, {"kubeconfig": UNKNOWN}) == (["kubeconfig"], ["kubeconfig"])
    assert diff_config(fresh, old, old | {"clusterIdentifier": "c1"}) == (["clusterIdentifier"], [])


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"renderYamlToDirectory": "out"}, "renderYamlToDirectory"),
        ({"enableServerSideApply": False}, "enableServerSideApply"),
    ],
)
def test_what_it_cannot_do_is_rejected_by_name(fresh: Driver, config: dict[str, Any], key: str) -> None:
    request = provider_pb2.CheckRequest(urn=PROVIDER, news=encode_struct(config))
    failures = fresh.call("CheckConfig", request).failures
    assert [failure.property for failure in failures] == [key]
    assert "official Kubernetes plugin" in failures[0].reason


def test_releases_and_kustomizations_are_rejected_with_the_alternative(fresh: Driver) -> None:
    fresh.configure(kubeconfig=kubeconfig(unserved()))
    with pytest.raises(Rejected, match=r"kubernetes:helm\.sh/v3:Release needs the official Kubernetes plugin"):
        fresh.check("kubernetes:helm.sh/v3:Release", {"chart": "kueue"})
    with pytest.raises(Rejected, match="helm template"):
        fresh.call("Invoke", provider_pb2.InvokeRequest(tok="kubernetes:helm:template"))
    with pytest.raises(Rejected, match=r"kubernetes:kustomize/v2:Directory; allowed: kubernetes:helm\.sh/v4:Chart"):
        fresh.call("Construct", provider_pb2.ConstructRequest(type="kubernetes:kustomize/v2:Directory"))


def test_yaml_is_decoded_as_kubernetes_reads_it(fresh: Driver) -> None:
    fresh.configure(kubeconfig=kubeconfig(unserved()))
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {date: 2026-11-21, "on": "yes"}
---
# nothing here
---
apiVersion: v1
kind: Namespace
metadata: {name: b}
"""
    arguments = encode_struct({"text": text, "defaultNamespace": "team"})
    response = fresh.call("Invoke", provider_pb2.InvokeRequest(tok="kubernetes:yaml:decode", args=arguments))
    assert decode_struct(getattr(response, "return"))["result"] == [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "team"},
            "data": {"date": "2026-11-21", "on": "yes"},
        },
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}},
    ]
    broken = encode_struct({"text": "a: [1"})
    with pytest.raises(Rejected, match="the YAML cannot be read"):
        fresh.call("Invoke", provider_pb2.InvokeRequest(tok="kubernetes:yaml:decode", args=broken))
