"""The plugin process as the engine meets it: it prints its port, keeps secrets, and shows no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc, status_pb2
from tpuplane_standins.providers.values import Secret, decode_struct, encode_struct

from tests.support.providers.gcp_driver import NODE_POOL, Deployed, pool_inputs
from tests.support.providers.google_api import TOKEN, GoogleApi

pytestmark = pytest.mark.twin

URN = f"urn:pulumi:dev::project::tpuplane:index:TpuNodePool${NODE_POOL}::slice"


@pytest.fixture
def plugin(api: GoogleApi) -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    """A plugin process without any configuration of the environment."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GOOGLE_")}
    command = [sys.executable, "-m", "tpuplane_standins.providers.gcp", "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield provider_pb2_grpc.ResourceProviderStub(channel)
        finally:
            process.terminate()


def configure(plugin: Any, api: GoogleApi, **more: Any) -> Any:
    config = {**api.config, "accessToken": Secret(TOKEN), **more}
    return plugin.Configure(pb.ConfigureRequest(args=encode_struct(config)))


def test_configuration(plugin: Any, api: GoogleApi) -> None:
    with pytest.raises(grpc.RpcError) as rejected:
        plugin.Configure(pb.ConfigureRequest(args=struct_pb2.Struct()))
    assert "gcp:containerCustomEndpoint" in rejected.value.details()
    assert "Traceback" not in rejected.value.details()
    answer = configure(plugin, api)
    assert answer.supportsPreview
    assert not answer.acceptSecrets


@pytest.mark.parametrize("olds", [{}, {"project": "acme-lab"}])
def test_another_project_replaces_no_provider(plugin: Any, olds: dict[str, str]) -> None:
    request = pb.DiffRequest(olds=encode_struct(olds), news=encode_struct({"project": "acme"}))
    answer = plugin.DiffConfig(request)
    assert (answer.changes, list(answer.replaces)) == (pb.DiffResponse.DIFF_SOME, [])


def test_error_state_and_secrets(plugin: Any, api: GoogleApi, cluster: Deployed) -> None:
    configure(plugin, api)
    read = plugin.Read(pb.ReadRequest(urn=URN.replace(NODE_POOL, cluster.urn.type), id=cluster.id))
    assert isinstance(decode_struct(read.properties)["masterAuth"]["clientKey"], Secret)

    api.backend.reject["slice"] = "no capacity"
    with pytest.raises(grpc.RpcError) as failed:
        plugin.Create(pb.CreateRequest(urn=URN, properties=encode_struct(pool_inputs())))
    metadata = dict(failed.value.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    detail = pb.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    assert detail.id == f"{cluster.id}/nodePools/slice"
    assert decode_struct(detail.properties)["name"] == "slice"
    assert 'was created in the error state "ERROR"' in detail.reasons[0]


def test_check_and_diff(plugin: Any, api: GoogleApi) -> None:
    configure(plugin, api)
    bad = encode_struct(pool_inputs(upgradeSettings={"strategy": "FAST"}))
    checked = plugin.Check(pb.CheckRequest(urn=URN, news=bad))
    assert [failure.property for failure in checked.failures] == [""]
    inputs = plugin.Check(pb.CheckRequest(urn=URN, news=encode_struct(pool_inputs()))).inputs
    known = {"maxPodsPerNode": 110, "project": "acme", "deletionPolicy": "DELETE"}
    state = encode_struct({**pool_inputs(), **known})
    same = plugin.Diff(pb.DiffRequest(urn=URN, id="i", olds=state, news=inputs))
    assert same.changes == pb.DiffResponse.DIFF_NONE
    inputs["maxPodsPerNode"] = 32
    other = plugin.Diff(pb.DiffRequest(urn=URN, id="i", olds=state, news=inputs))
    assert other.changes == pb.DiffResponse.DIFF_SOME
    assert list(other.replaces) == list(other.diffs) == ["maxPodsPerNode"]
    assert other.deleteBeforeReplace
    assert other.detailedDiff["maxPodsPerNode"].kind == pb.PropertyDiff.UPDATE_REPLACE
    inputs["maxPodsPerNode"] = 110
    inputs["unheardOf"] = True
    unknown = plugin.Check(pb.CheckRequest(urn=URN, news=inputs))
    assert "Invalid or unknown key" in unknown.failures[0].reason
