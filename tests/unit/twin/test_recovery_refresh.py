"""After a kill the stack is refreshed until that succeeds, so that no guessed id remains."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from tpuplane_twin.cli.recovery import recover
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths

pytestmark = pytest.mark.unit

# Keeps a stack in a file, writes down what it was asked, and rejects what the file `rejected` names.
_PULUMI = f"""#!{sys.executable}
import pathlib, sys
here = pathlib.Path(__file__).parent
words = [word for word in sys.argv[1:] if word in ("cancel", "export", "import", "refresh")]
with (here / "asked").open("a") as asked:
    print(*words, file=asked)
rejected = here / "rejected"
if rejected.exists() and rejected.read_text() == words[0]:
    sys.exit("error: rejected")
if words[0] == "export":
    print((here / "state.json").read_text())
if words[0] == "import":
    (here / "state.json").write_text(sys.stdin.read())
"""
RING = {
    "urn": "urn:pulumi:dev::demo::gcp:kms/keyRing:KeyRing::ring",
    "type": "gcp:kms/keyRing:KeyRing",
    "inputs": {"project": "acme", "location": "us-central1", "name": "ring-1a2b3c4"},
}


class _Idle(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"operations": [], "clusters": []}).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests' output is pytest's."""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TwinClient]:
    """A twin at which nothing happens."""
    paths = TwinPaths("local", tmp_path / "local").make()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Idle) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        record = {"pid": os.getpid(), "created": psutil.Process().create_time()}
        paths.record.write_text(json.dumps({**record, "api": f"http://127.0.0.1:{server.server_port}"}))
        yield TwinClient(paths)
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with that program and a stack that was killed while it made a key ring."""
    (folder := tmp_path / "bin").mkdir()
    (folder / "pulumi").write_text(_PULUMI)
    (folder / "pulumi").chmod(stat.S_IRWXU)
    deployment = {"pending_operations": [{"type": "creating", "resource": RING}]}
    (folder / "state.json").write_text(json.dumps({"version": 3, "deployment": deployment}))
    return folder


def recovered(folder: Path, client: TwinClient) -> list[str]:
    return list(recover("dev", folder, {"PATH": str(folder)}, client))


def asked(folder: Path) -> list[str]:
    lines = (folder / "asked").read_text().splitlines()
    (folder / "asked").unlink()
    return lines


@pytest.mark.parametrize("rejected", ["refresh", "import"])
def test_a_refresh_that_failed_is_repeated_until_it_ends_well(folder: Path, client: TwinClient, rejected: str) -> None:
    (folder / "rejected").write_text(rejected)
    for _ in range(2):
        with pytest.raises(TwinError, match="rejected"):
            recovered(folder, client)
        assert asked(folder)[-1] == rejected
    (folder / "rejected").unlink()
    assert "what exists is now in its state" in "".join(recovered(folder, client))
    assert asked(folder)[-1] == "refresh"
    (ring,) = json.loads((folder / "state.json").read_text())["deployment"]["resources"]
    assert ring == {**RING, "id": "projects/acme/locations/us-central1/keyRings/ring-1a2b3c4"}
    assert recovered(folder, client) == []
    assert asked(folder) == ["export"]


def test_the_creation_of_a_replacement_takes_the_place_of_the_former_resource(folder: Path, client: TwinClient) -> None:
    """An interrupted replacement leaves the deleted resource in the state, and what depends on it after it."""
    key = {"urn": "urn:pulumi:dev::demo::gcp:kms/cryptoKey:CryptoKey::key", "type": "gcp:kms/cryptoKey:CryptoKey"}
    state = json.loads((folder / "state.json").read_text())
    state["deployment"]["resources"] = [{**RING, "id": "former", "pendingReplacement": True}, key]
    (folder / "state.json").write_text(json.dumps(state))
    recovered(folder, client)
    taken, follows = json.loads((folder / "state.json").read_text())["deployment"]["resources"]
    assert taken == {**RING, "id": "projects/acme/locations/us-central1/keyRings/ring-1a2b3c4"}
    assert follows == key


@pytest.mark.parametrize("options", ["", "?metadata=skip"])
def test_the_lock_of_a_killed_engine_is_removed(folder: Path, client: TwinClient, options: str) -> None:
    lock = client.paths.backend / ".pulumi" / "locks" / "organization" / "demo" / "dev" / "lock.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    environment = {"PATH": str(folder), "PULUMI_BACKEND_URL": f"file://{client.paths.backend}{options}"}
    assert next(recover("dev", folder, environment, client)) == ("stack dev: the lock of an interrupted run is removed")


def test_another_stack_is_not_refreshed_for_it(folder: Path, client: TwinClient) -> None:
    (folder / "rejected").write_text("refresh")
    with pytest.raises(TwinError):
        recovered(folder, client)
    assert list(recover("prod", folder, {"PATH": str(folder)}, client)) == []
