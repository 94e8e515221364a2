"""A cluster's server is trusted by its own authority, by the twin's, and by no other."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import certifi
import pytest
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.daemon.certificates import VARIABLES, twin_authority
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.twin


@pytest.fixture
def twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwinPaths:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    return TwinPaths.of("trust").make()


async def greets(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Let a client shake hands with a server at 127.0.0.1; raises what the client finds wrong."""
    listener = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=server)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
        writer.close()


async def test_by_its_own_authority_and_by_the_twins(twin: TwinPaths, tmp_path: Path) -> None:
    above = twin_authority(twin)
    own, other = Authority(tmp_path / "own", "tpuplane-twin"), Authority(tmp_path / "other", "tpuplane-twin")
    pair = own.issue("apiserver")
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(own.chained(pair, above), pair.key)
    for trusted in (own.pair.certificate, twin.trusted):
        await greets(ssl.create_default_context(cafile=str(trusted)), server)
    with pytest.raises(ssl.SSLCertVerificationError):
        await greets(ssl.create_default_context(cafile=str(other.pair.certificate)), server)


def test_the_bundle_has_what_this_machine_trusts_and_grows_no_further(
    twin: TwinPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Authority(tmp_path / "machine", "public").pem
    (tmp_path / "machine.pem").write_text(machine)
    requests = Authority(tmp_path / "requests", "of a company").pem
    (tmp_path / "requests.pem").write_text(requests)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "machine.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "requests.pem"))
    authority = twin_authority(twin)
    assert machine in twin.trusted.read_text()
    assert requests in twin.trusted.read_text()
    assert twin.trusted.read_text().count(authority.pem) == 1
    for name in VARIABLES:
        monkeypatch.setenv(name, str(twin.trusted))
    assert twin_authority(twin).pem == authority.pem
    assert twin.trusted.read_text().count(authority.pem) == 1


def test_the_bundle_has_the_public_authorities_where_the_machine_has_no_file_of_them(
    twin: TwinPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / "nothing.pem"))
    twin_authority(twin)
    assert certifi.contents() in twin.trusted.read_text()
